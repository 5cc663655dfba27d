//===- OwnPositions.h - Indices into a dimension that is cut ----*- C++ -*-===//

#ifndef AMSP_PLACEMENT_OWNPOSITIONS_H
#define AMSP_PLACEMENT_OWNPOSITIONS_H

#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/Grid.h"

namespace amsp {

// A gather that picks single positions along a dimension that is cut, as the
// logits of labels, finds those of a rank's own positions there; the others are
// zero, so the ranks' results sum up to the value. A scatter puts into a rank's
// piece what belongs there: updates elsewhere are out of bounds, hence dropped.

/// Whether the gather takes single positions along the dimension, and its
/// results can be summed.
bool picksPositions(stablehlo::GatherOp op, int64_t dim);
/// Whether the scatter writes to single positions along the dimension.
bool writesPositions(stablehlo::ScatterOp op, int64_t dim);

/// Lets `local`, a clone of `op` that is not inserted yet, index the rank's own
/// piece along `dim`, and inserts it. Unsigned indices, and those of a type
/// too narrow for the dimension's size, become wider signed ones. Returns the
/// op with the result.
mlir::Operation *pickOwnPositions(mlir::OpBuilder &builder,
                                  stablehlo::GatherOp op,
                                  stablehlo::GatherOp local, int64_t dim,
                                  llvm::ArrayRef<Digit> digits);
mlir::Operation *writeOwnPositions(mlir::OpBuilder &builder,
                                   stablehlo::ScatterOp op,
                                   stablehlo::ScatterOp local, int64_t dim,
                                   llvm::ArrayRef<Digit> digits);

} // namespace amsp

#endif // AMSP_PLACEMENT_OWNPOSITIONS_H
