//===- ProgramCosts.h - Compute and memory of a rank's program --*- C++ -*-===//

#ifndef AMSP_PLANNER_PROGRAMCOSTS_H
#define AMSP_PLANNER_PROGRAMCOSTS_H

#include "amsp/Placement/Cluster.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp {

/// Estimates for one rank and step.
struct ProgramCosts {
  double operations = 0;      // of contractions
  double computeSeconds = 0;  // contractions and memory-bound ops
  double updateSeconds = 0;   // what of it shrinks with the pieces of OS
  double activationBytes = 0; // most that is alive at once
  double gatheredBytes = 0;   // what gathered parameters add to that
};

/// Estimates from the program of a rank, fully sharded: the costs of its ops
/// (see getOpCost). A value that is not fused into its uses occupies memory
/// from its op to its last use. Loops count as often as they run. The update is
/// what new state follows from behind the sums over ranks (see getUpdateOps),
/// but for what it computes of whole values: norms and clipping are part of it.
///
/// Fails, with a diagnostic, for a contraction in a type that the device gives
/// no peak rate of.
mlir::FailureOr<ProgramCosts> estimateProgram(mlir::func::FuncOp step,
                                              const Device &device);

} // namespace amsp

#endif // AMSP_PLANNER_PROGRAMCOSTS_H
