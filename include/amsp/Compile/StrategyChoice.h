//===- StrategyChoice.h - What --strategy stands for ------------*- C++ -*-===//

#ifndef AMSP_COMPILE_STRATEGYCHOICE_H
#define AMSP_COMPILE_STRATEGYCHOICE_H

#include "amsp/Compile/Finalists.h"

namespace amsp {

/// The strategy of each unit of an imported step.
struct StrategyChoice {
  std::vector<StepUnit> units;
  std::vector<Strategy> strategies; // one per unit
  /// What becomes of the step; see changeStep.
  StepChanges changes;
  /// Of the plan file; empty where none says it.
  std::string reduceType;
  /// How loops are written, where the plan says it.
  std::optional<LoopForm> loops;
  /// What was found, if `auto` was asked for.
  std::optional<PlannedStep> planned;
};

/// What `text` stands for: `auto` (the planner's choice), a plan file, or one
/// strategy for all units. Errors in the program are diagnostics, after which
/// the error is empty text.
llvm::Expected<StrategyChoice> chooseStrategies(mlir::ModuleOp step,
                                                llvm::StringRef text,
                                                const Cluster &cluster,
                                                const PlanningOptions &options);

} // namespace amsp

#endif // AMSP_COMPILE_STRATEGYCHOICE_H
