//===- FusionHeuristics.h - What to fuse ------------------------*- C++ -*-===//

#ifndef AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_FUSIONHEURISTICS_H
#define AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_FUSIONHEURISTICS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace amsp {

/// Number of points that the op's loops visit.
int64_t getIterationCount(mlir::linalg::LinalgOp op);

/// Whether the producer of `operand` shall be computed inside its user, at the
/// price of computing it again for every other user.
bool isFusionProfitable(mlir::OpOperand *operand);

/// Computes producers together with a user over the same points, in one op with
/// the results of both, where the order of the block allows it. Returns how
/// many ops disappeared.
unsigned fuseIntoMultiResultOps(mlir::RewriterBase &rewriter,
                                mlir::Block &block);

/// Merges adjacent loops that every operand walks contiguously.
mlir::LogicalResult collapseContiguousLoops(mlir::Operation *root);

} // namespace amsp

#endif // AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_FUSIONHEURISTICS_H
