//===- FlatFlow.h - Values that share a flattened order ---------*- C++ -*-===//

#ifndef AMSP_PLACEMENT_FLATFLOW_H
#define AMSP_PLACEMENT_FLATFLOW_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SetVector.h"

namespace amsp {

/// True for ops that compute each element of a result from the operands'
/// elements at the same position of the flattened order.
bool keepsFlatOrder(mlir::Operation *op);

/// The values that flow into one elementwise or by being handed through a loop:
/// operands of its op, or what a loop hands to a carry.
llvm::SmallVector<mlir::Value> getFlatProducers(mlir::Value value);

/// All values of as many elements that flow into `value`, itself first.
llvm::SetVector<mlir::Value> getFlatSources(mlir::Value value);

/// The same, through transposes too, which change the flattened order.
llvm::SetVector<mlir::Value> getTransposedSources(mlir::Value value);

/// The values whose elements the value's op puts elsewhere, into a result with
/// room for all of them: a gradient on its way through padding, stacking and
/// joining. Empty for other ops.
llvm::SmallVector<mlir::Value> getPlacedParts(mlir::Value value);

/// The value of which the value's op takes a part; null for other ops.
mlir::Value getWholeOfPart(mlir::Value value);

} // namespace amsp

#endif // AMSP_PLACEMENT_FLATFLOW_H
