//===- ExecutorSearch.h - The best strategy of an executor ------*- C++ -*-===//

#ifndef AMSP_PLANNER_EXECUTORSEARCH_H
#define AMSP_PLANNER_EXECUTORSEARCH_H

#include "amsp/Planner/Executor.h"
#include "amsp/Planner/PlanSearch.h"
#include "amsp/Planner/Simulator.h"
#include <map>

namespace amsp {

/// Seconds that a step takes at least, whatever the order of its events. With
/// all of them simulated steps agree, so what is bounded by more than another
/// strategy takes need not be simulated:
///
/// - a channel moves one thing after the other, and so does a level's link, by
///   the loads of what it carries;
/// - compute, which what is moved while it runs slows down, and what it waits
///   for whatever runs beside it: collectives that do not overlap, the first
///   gather of a step and the last reductions of a backward pass.
///
/// The collectives of a rule depend on its group only, and are asked for once.
class ExecutorBound {
public:
  /// The run's strategy is not read.
  ExecutorBound(const Executor &executor, const ExecutorRun &run,
                const StrategySpace &space, const SimulationOptions &options);

  double getLeastSeconds(const FactorChain &chain);

private:
  /// The collectives of a rule in one pass, in seconds.
  struct RuleTimes {
    double all = 0;
    double first = 0;                   // of the model's first part
    llvm::SmallVector<double, 4> loads; // of each level's links
  };
  const RuleTimes &getTimes(size_t rule, const FactorChain &chain);
  double getComputeSeconds() const;
  double getEndSeconds(const FactorChain &chain, MicrobatchPlace place);

  const Executor &executor;
  ExecutorRun run;
  Strategy strategy; // of `run`
  const StrategySpace &space;
  const SimulationOptions &options;
  /// By rule and the numbers of the factors of its two states.
  std::map<std::tuple<size_t, unsigned, unsigned>, RuleTimes> times;
};

struct ExecutorChoice {
  Strategy strategy;
  int64_t strategies = 0; // that fit into the memory
  int64_t simulated = 0;  // of them
};

/// The strategy whose simulated step takes the least time among all that fit
/// into so many bytes; with one microbatch, gradients are reduced at once and G
/// is OS. Fails if none fits. The run's strategy is not read.
llvm::Expected<ExecutorChoice>
findExecutorStrategy(const Executor &executor, const ExecutorRun &run,
                     const SimulationOptions &options, double memory);

} // namespace amsp

#endif // AMSP_PLANNER_EXECUTORSEARCH_H
