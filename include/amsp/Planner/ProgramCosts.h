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
  double activationBytes = 0; // most that is alive at once
  double gatheredBytes = 0;   // what gathered parameters add to that
};

/// Estimates from the program of a rank, fully sharded.
///
/// A contraction takes its operations at the achieved rate, or its bytes at the
/// memory's bandwidth if that is longer; any other op that is not fused, its
/// bytes. A value occupies memory from its op to its last use, except those
/// that code generation does not materialise: constants, broadcasts, reshapes,
/// and elementwise values with a single, elementwise or reducing, use. Loops
/// count as often as they run.
///
/// Fails, with a diagnostic, for a contraction in a type that the device gives
/// no peak rate of.
mlir::FailureOr<ProgramCosts> estimateProgram(mlir::func::FuncOp step,
                                              const Device &device);

/// The share of the peak rate at which a contraction of so many operations
/// runs: linear between the curve's points in the logarithm of operations, and
/// constant outside; 1 without a curve.
double getAchievedShare(const Device &device, double operations);

} // namespace amsp

#endif // AMSP_PLANNER_PROGRAMCOSTS_H
