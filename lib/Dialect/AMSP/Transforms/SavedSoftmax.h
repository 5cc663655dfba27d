//===- SavedSoftmax.h - What a scan saves of its softmaxes ------*- C++ -*-===//

#ifndef AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SAVEDSOFTMAX_H
#define AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SAVEDSOFTMAX_H

#include "mlir/IR/Operation.h"

namespace amsp {

/// A scan over layers saves the softmax of each layer in a stack, from which
/// the scan of the backward pass reads it. Here it is computed there again,
/// from what else is saved or does not change, if both scans are attention
/// then; the stacks are gone. Else nothing changes. Returns the number of
/// softmaxes.
unsigned recomputeSavedSoftmaxes(mlir::Operation *root);

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SAVEDSOFTMAX_H
