//===- Stacks.h - Values that loops take apart ------------------*- C++ -*-===//
//
// A model whose layers are alike keeps their parameters stacked, and a loop
// takes a slice in each iteration. Such a value keeps its leading dimensions
// whole when it is flat, so that a slice of it is flat by itself.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_PLACEMENT_STACKS_H
#define AMSP_PLACEMENT_STACKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp::stablehlo {
class DynamicUpdateSliceOp;
} // namespace amsp::stablehlo

namespace amsp {

/// The leading dimensions of which an update covers a part: all behind them are
/// covered whole.
int64_t getSlicedDims(stablehlo::DynamicUpdateSliceOp op);

/// For each argument of a step, the number of leading dimensions that loops
/// take apart: those that are sliced at a position which changes from iteration
/// to iteration, itself or what is computed from it elementwise. Arguments
/// whose elements meet (a parameter, its optimizer states, its new value)
/// have the same number. Nothing is left of a row of no dimensions, so a stack
/// of scalars has none.
llvm::SmallVector<int64_t> findKeptDims(mlir::func::FuncOp step);

} // namespace amsp

#endif // AMSP_PLACEMENT_STACKS_H
