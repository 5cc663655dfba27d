//===- ExecutorSearch.cpp - The best strategy of an executor --------------===//

#include "amsp/Planner/ExecutorSearch.h"
#include "ExecutorTransfers.h"
#include "amsp/Planner/Planner.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace llvm;
using namespace amsp;

/// Far above the rounding of sums of a step.
static constexpr double kRounding = 1e-9;

static ExecutorRun withStrategy(const ExecutorRun &run,
                                const Strategy &strategy) {
  return {run.collectives, run.device, strategy, run.parts, run.microbatches};
}

//===----------------------------------------------------------------------===//
// The bound
//===----------------------------------------------------------------------===//

ExecutorBound::ExecutorBound(const Executor &executor, const ExecutorRun &run,
                             const StrategySpace &space,
                             const SimulationOptions &options)
    : executor(executor), run(withStrategy(run, strategy)), space(space),
      options(options) {}

static unsigned getNumber(State state, const FactorChain &chain,
                          const StrategySpace &space) {
  switch (state) {
  case State::None:
    return 0;
  case State::Parameters:
    return chain.p;
  case State::Gradients:
    return chain.g;
  case State::OptimizerStates:
    return chain.os;
  case State::All:
    return space.getAll();
  }
  llvm_unreachable("all are handled");
}

const ExecutorBound::RuleTimes &
ExecutorBound::getTimes(size_t index, const FactorChain &chain) {
  const ExecutorRule &rule = executor.rules[index];
  auto [found, isNew] =
      times.try_emplace({index, getNumber(rule.fine, chain, space),
                         getNumber(rule.coarse, chain, space)});
  RuleTimes &sum = found->second;
  if (!isNew)
    return sum;
  sum.loads.resize(run.collectives.getLevels().size());
  for (const RuleTransfer &of : getRuleTransfers(executor, rule, run)) {
    const ScheduledTransfer &transfer = of.transfer;
    bool isOfFirstPart = of.parts.front() == 0;
    if (isOfFirstPart)
      sum.first = transfer.seconds;
    sum.all += transfer.seconds;
    for (auto [load, own] : zip(sum.loads, transfer.loads))
      load += own * transfer.seconds;
  }
  return sum;
}

double ExecutorBound::getComputeSeconds() const {
  auto count = static_cast<double>(run.microbatches);
  double pieces = getAccumulatedPieces(executor, run);
  double seconds = getUpdateSeconds(executor, run);
  for (const ModelPart &part : run.parts)
    seconds +=
        count * (part.forward + getBackwardSeconds(executor, part)) +
        (count - 1) * getAccumulationSeconds(executor, run, part, pieces);
  return seconds * options.slowest;
}

/// Gradients of the first part are known when a microbatch's compute is done,
/// which waits for their reductions.
double ExecutorBound::getEndSeconds(const FactorChain &chain,
                                    MicrobatchPlace place) {
  MapVector<StringRef, double> channels;
  for (auto [index, rule] : enumerate(executor.rules))
    if (rule.moves == ExecutorRule::Moves::Gradients && rule.overlap &&
        isActive(rule, place))
      channels[rule.channel] += getTimes(index, chain).first;
  double most = 0;
  for (auto &[channel, seconds] : channels)
    most = std::max(most, seconds);
  return most;
}

double ExecutorBound::getLeastSeconds(const FactorChain &chain) {
  strategy = space.getStrategy(chain.p, chain.g, chain.os);
  MapVector<StringRef, double> channels;
  SmallVector<double, 4> loads(run.collectives.getLevels().size());
  auto count = static_cast<double>(run.microbatches);
  double waiting = (count - 1) * getEndSeconds(chain, {false, false}) +
                   getEndSeconds(chain, {false, true});
  for (auto [index, rule] : enumerate(executor.rules)) {
    const RuleTimes &of = getTimes(index, chain);
    double runs = getRunsOfStep(rule, run.microbatches);
    channels[rule.channel] += runs * of.all;
    for (auto [load, own] : zip(loads, of.loads))
      load += runs * own;
    if (!rule.overlap)
      waiting += runs * of.all;
    else if (movesInForward(rule))
      waiting += of.first;
  }
  double busy = 0;
  for (auto &[channel, seconds] : channels)
    busy = std::max(busy, seconds);
  for (double load : loads)
    busy = std::max(busy, load);
  double slowed = std::max(0.0, busy - waiting) * options.interference /
                  (1 + options.interference);
  return std::max(busy, getComputeSeconds() + waiting + slowed);
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

Expected<ExecutorChoice>
amsp::findExecutorStrategy(const Executor &executor, const ExecutorRun &of,
                           const SimulationOptions &options, double memory) {
  StrategySpace space(
      map_to_vector(of.collectives.getLevels(),
                    [](const ClusterLevel &level) { return level.size; }));
  Strategy strategy;
  ExecutorRun run = withStrategy(of, strategy);
  ExecutorBound bound(executor, run, space, options);
  // Those with the least bound first; of equals, in the order of the space.
  std::vector<std::tuple<double, size_t, FactorChain>> candidates;
  double leastBytes = std::numeric_limits<double>::infinity();
  auto visit = [&](FactorChain chain) {
    strategy = space.getStrategy(chain.p, chain.g, chain.os);
    double bytes = getExecutorMemory(executor, run);
    leastBytes = std::min(leastBytes, bytes);
    if (bytes <= memory)
      candidates.push_back(
          {bound.getLeastSeconds(chain), candidates.size(), chain});
  };
  for (unsigned os = 0; os < space.getNumFactors(); ++os)
    for (unsigned g : space.getDivisors(os))
      if (run.microbatches > 1 || g == os)
        for (unsigned p : space.getDivisors(g))
          visit({p, g, os});
  if (candidates.empty())
    return createStringError("the model fits under no strategy: the smallest "
                             "needs " +
                             formatBytes(leastBytes) + " of a rank's " +
                             formatBytes(memory));
  sort(candidates, [](const auto &a, const auto &b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) <
           std::tie(std::get<0>(b), std::get<1>(b));
  });
  ExecutorChoice choice;
  choice.strategies = static_cast<int64_t>(candidates.size());
  std::pair best(std::numeric_limits<double>::infinity(), size_t(0));
  for (const auto &[least, number, chain] : candidates) {
    if (least > best.first * (1 + kRounding))
      break;
    strategy = space.getStrategy(chain.p, chain.g, chain.os);
    double seconds =
        simulate(buildExecutorSchedule(executor, run), options).seconds;
    ++choice.simulated;
    if (std::pair(seconds, number) >= best)
      continue;
    best = {seconds, number};
    choice.strategy = strategy;
  }
  return choice;
}
