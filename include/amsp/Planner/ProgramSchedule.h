//===- ProgramSchedule.h - A rank's program, simulated ----------*- C++ -*-===//

#ifndef AMSP_PLANNER_PROGRAMSCHEDULE_H
#define AMSP_PLANNER_PROGRAMSCHEDULE_H

#include "amsp/Planner/CollectiveModel.h"
#include "amsp/Planner/Simulator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp {

/// What a rank does in a step, from its partitioned program: the cost of each
/// op (see getOpCost) and the collectives, which run on the channels `gather`
/// and `reduce`. A whole collective is a start and an await. Loops run as often
/// as they count, once if that is not known; of the branches of a case, the one
/// that computes the longest.
///
/// Fails, with a diagnostic, where an op has no cost, and for a collective in a
/// loop whose trip count is not known.
mlir::FailureOr<Schedule>
buildProgramSchedule(mlir::func::FuncOp step, const Device &device,
                     const CollectiveModel &collectives);

struct ProgramSimulation {
  Schedule schedule;
  SimulatedStep step;
};

/// Simulates the step of a partitioned program on the cluster that it was
/// partitioned for. The cluster must be complete (see verifyForPlanning).
mlir::FailureOr<ProgramSimulation>
simulateStep(mlir::func::FuncOp step, const Cluster &cluster,
             const CollectiveModel &collectives, bool timeline = false);

} // namespace amsp

#endif // AMSP_PLANNER_PROGRAMSCHEDULE_H
