//===- ExecutorTransfers.h - The collectives of a rule ----------*- C++ -*-===//

#ifndef AMSP_LIB_PLANNER_EXECUTORTRANSFERS_H
#define AMSP_LIB_PLANNER_EXECUTORTRANSFERS_H

#include "amsp/Planner/Executor.h"

namespace amsp {

/// The factors of a state on each level.
GroupShape getFactors(State state, const ExecutorRun &run);

/// The product of a state's factors.
double getPieces(State state, const ExecutorRun &run);

/// A collective of a rule, for these parts of the model, in ascending order.
/// The transfer has no channel yet.
struct RuleTransfer {
  llvm::SmallVector<size_t, 4> parts;
  ScheduledTransfer transfer;
};

/// The collectives of a rule for one pass, in the order of their parts; none
/// where the group has one rank.
std::vector<RuleTransfer> getRuleTransfers(const Executor &executor,
                                           const ExecutorRule &rule,
                                           const ExecutorRun &run);

/// Whether a rule moves anything in such a microbatch. What it moves after the
/// update is in none.
bool isActive(const ExecutorRule &rule, MicrobatchPlace place);

/// How often a rule's collectives of a pass run in a step.
double getRunsOfStep(const ExecutorRule &rule, int64_t microbatches);

/// Of parameters: whether a rule moves them in the passes of a microbatch in
/// which it is active.
bool movesInForward(const ExecutorRule &rule);
bool movesInBackward(const ExecutorRule &rule);

/// Pieces of the gradients that are accumulated.
double getAccumulatedPieces(const Executor &executor, const ExecutorRun &run);

/// Seconds in which a part's gradient is added to those of the microbatches
/// before: two values are read and one is written.
double getAccumulationSeconds(const Executor &executor, const ExecutorRun &run,
                              const ModelPart &part, double pieces);

/// Compute of a part in a backward pass, without accumulation.
double getBackwardSeconds(const Executor &executor, const ModelPart &part);

/// The optimizer's.
double getUpdateSeconds(const Executor &executor, const ExecutorRun &run);

} // namespace amsp

#endif // AMSP_LIB_PLANNER_EXECUTORTRANSFERS_H
