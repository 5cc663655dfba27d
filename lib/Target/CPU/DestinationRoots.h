//===- DestinationRoots.h - Whose buffer a tensor may be in -----*- C++ -*-===//

#ifndef AMSP_LIB_TARGET_CPU_DESTINATIONROOTS_H
#define AMSP_LIB_TARGET_CPU_DESTINATIONROOTS_H

#include "mlir/IR/Value.h"

namespace amsp {

/// The tensor whose buffer holds `tensor` if all ops between work in place: an
/// argument, a loop carry, an empty tensor, or the result of an op that neither
/// has a destination nor is a view.
mlir::Value getDestinationRoot(mlir::Value tensor);

/// What the carry that becomes the result of a loop begins with. A scf.while
/// has to hand all its carries on in order.
mlir::Value getTiedInit(mlir::Operation *loop, mlir::OpResult result);

} // namespace amsp

#endif // AMSP_LIB_TARGET_CPU_DESTINATIONROOTS_H
