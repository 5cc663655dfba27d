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

} // namespace amsp

#endif // AMSP_PLACEMENT_FLATFLOW_H
