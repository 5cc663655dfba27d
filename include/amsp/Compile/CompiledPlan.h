//===- CompiledPlan.h - The program of a rank under a plan ------*- C++ -*-===//

#ifndef AMSP_COMPILE_COMPILEDPLAN_H
#define AMSP_COMPILE_COMPILEDPLAN_H

#include "amsp/Compile/LoopChoice.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Planner/KeptMemory.h"
#include "amsp/Planner/Planner.h"
#include "amsp/Planner/ProgramSchedule.h"
#include "amsp/Target/CPU/MemoryProfile.h"
#include "mlir/IR/OwningOpRef.h"

namespace amsp {

/// A collective of a rank's program; see CollectiveRecord.
struct ListedCollective {
  std::string name;
  CollectiveKind kind;
  llvm::SmallVector<Digit> digits;
  std::string dtype;
  std::string unit; // empty: of none
  bool ofParameter = false;
  int64_t count = 0; // runs in a step
  int64_t bytes = 0; // of the full buffers, padding included
  double sentBytes = 0;
  double seconds = 0; // of all runs, alone on its links
};

/// What compilation makes of a plan.
struct CompiledPlan {
  KeptMemory kept;
  /// How its loops are written; none if it has no loop that could be written
  /// anew.
  std::optional<LoopForm> loops;
  /// False if that is one of several forms, a choice that memory decides.
  bool isOnlyForm = true;
  /// The bound on the bytes in flight that it was scheduled for; -1: none.
  int64_t prefetchBytes = -1;
  /// The step, simulated with its timeline.
  ProgramSimulation simulation;
  /// None if the program was not lowered.
  std::optional<MemoryProfile> memory;
  std::vector<ListedCollective> collectives;

  /// Seconds of the collectives of parameters and gradients, or of the others.
  double getCollectiveSeconds(bool ofParameters) const;
  /// Seconds of the simulated step, and what of them compute waits for
  /// collectives whose outermost level is this one.
  double getSeconds() const { return simulation.step.seconds; }
  double getExposedSeconds(unsigned level) const;
};

/// The passes that compile a step for its memory plan, one function for
/// amsp-compile and the planner: partitioned program -> buffers in one arena.
void buildMemoryPlanPipeline(mlir::OpPassManager &passes);

/// The program of a rank: a copy of an imported step, partitioned. Errors in
/// the program are diagnostics, after which the error is empty text.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
partitionPlan(mlir::ModuleOp step, llvm::ArrayRef<StepUnit> units,
              llvm::ArrayRef<Strategy> strategies,
              const PartitionOptions &options);

/// Communicates a program that partitionPlan made and, unless `lowers` is
/// false, lowers it to its memory plan. Of the forms of its loops, it has the
/// best one that needs no more than `memoryLimit` bytes of a rank, if it is
/// lowered, and no more than the bound on the bytes in flight. Errors as of
/// partitionPlan.
llvm::Expected<CompiledPlan>
compileProgram(mlir::ModuleOp program, const CommunicateOptions &communication,
               const Cluster &cluster, const CollectiveModel &collectives,
               double memoryLimit, bool lowers = true);

/// Both, one after the other.
llvm::Expected<CompiledPlan> compilePlan(
    mlir::ModuleOp step, llvm::ArrayRef<StepUnit> units,
    llvm::ArrayRef<Strategy> strategies, const PartitionOptions &options,
    const CommunicateOptions &communication, const Cluster &cluster,
    const CollectiveModel &collectives, double memoryLimit, bool lowers = true);

} // namespace amsp

#endif // AMSP_COMPILE_COMPILEDPLAN_H
