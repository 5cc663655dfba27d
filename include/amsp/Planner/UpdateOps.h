//===- UpdateOps.h - The optimizer's part of a step -------------*- C++ -*-===//

#ifndef AMSP_PLANNER_UPDATEOPS_H
#define AMSP_PLANNER_UPDATEOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace amsp {

/// The update of a rank's program: the ops of the step's own block that new
/// parameters and optimizer states follow from, back to the values that come
/// from the rank's part of the batch. A sum over ranks of such values is where
/// the update begins: that of a gradient, or of a loss that the optimizer
/// reads. Loops and conditionals are one op.
llvm::DenseSet<mlir::Operation *> getUpdateOps(mlir::func::FuncOp step);

} // namespace amsp

#endif // AMSP_PLANNER_UPDATEOPS_H
