//===- IterationBoundary.h - Iterations written out of a loop ---*- C++ -*-===//
//
// What stands in a loop's body is not fused with what stands around it. An
// iteration that is written out beside its loop is kept apart in the same way,
// by an optimization barrier for each value that comes to it or leaves it, so
// that the same kernels compute it, and its results have the same bits. Unlike
// other barriers, these last until elementwise ops are fused.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_ITERATIONBOUNDARY_H
#define AMSP_DIALECT_STABLEHLO_IR_ITERATIONBOUNDARY_H

#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"

namespace amsp {

/// On a barrier of one value: a number of the iteration, by which those of
/// different iterations are not merged.
inline constexpr llvm::StringLiteral kIterationAttr = "amsp.iteration";

inline bool isIterationBoundary(mlir::Operation *op) {
  return mlir::isa<stablehlo::OptimizationBarrierOp>(op) &&
         op->hasAttr(kIterationAttr);
}

} // namespace amsp

#endif // AMSP_DIALECT_STABLEHLO_IR_ITERATIONBOUNDARY_H
