//===- StepSearch.h - Microbatches and recomputation ------------*- C++ -*-===//

#ifndef AMSP_LIB_COMPILE_STEPSEARCH_H
#define AMSP_LIB_COMPILE_STEPSEARCH_H

#include "amsp/Compile/Finalists.h"

namespace amsp {

/// The best plan of all that the options let the step be changed to, by the
/// best plan of each. Of those within 1 % of the fastest, the one with the
/// fewest microbatches, and of these the one that computes the least again.
llvm::Expected<PlannedStep> searchSteps(
    mlir::ModuleOp step, int64_t ranks, const PlanningOptions &options,
    llvm::function_ref<llvm::Expected<PlannedStep>(mlir::ModuleOp)> findPlan);

} // namespace amsp

#endif // AMSP_LIB_COMPILE_STEPSEARCH_H
