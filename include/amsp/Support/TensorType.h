//===- TensorType.h - The type of a tensor value ----------------*- C++ -*-===//

#ifndef AMSP_SUPPORT_TENSORTYPE_H
#define AMSP_SUPPORT_TENSORTYPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace amsp {

/// Of a value that is a ranked tensor.
inline mlir::RankedTensorType getTensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace amsp

#endif // AMSP_SUPPORT_TENSORTYPE_H
