//===- ExecutorTransfers.cpp - The collectives of a rule ------------------===//

#include "ExecutorTransfers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace amsp;

using When = ExecutorRule::When;
using Parts = SmallVector<size_t, 4>;

static double toDouble(int64_t number) { return static_cast<double>(number); }

GroupShape amsp::getFactors(State state, const ExecutorRun &run) {
  auto copy = [](const auto &list) {
    return GroupShape(list.begin(), list.end());
  };
  switch (state) {
  case State::None:
    return GroupShape(run.collectives.getLevels().size(), 1);
  case State::Parameters:
    return copy(run.strategy.p);
  case State::Gradients:
    return copy(run.strategy.g);
  case State::OptimizerStates:
    return copy(run.strategy.os);
  case State::All:
    return copy(
        map_range(run.collectives.getLevels(),
                  [](const ClusterLevel &level) { return level.size; }));
  }
  llvm_unreachable("all are handled");
}

double amsp::getPieces(State state, const ExecutorRun &run) {
  double pieces = 1;
  for (int64_t factor : getFactors(state, run))
    pieces *= toDouble(factor);
  return pieces;
}

/// The parts that a rule moves together, in the order of the model.
static std::vector<Parts> groupParts(const Executor &executor,
                                     const ExecutorRule &rule,
                                     const ExecutorRun &run) {
  auto getKey = [&](size_t part) -> size_t {
    switch (rule.by) {
    case ExecutorRule::By::Tensor:
      return part;
    case ExecutorRule::By::Module:
      return run.parts[part].module;
    case ExecutorRule::By::Layer:
      return run.parts[part].layer;
    case ExecutorRule::By::Model:
      return 0;
    }
    llvm_unreachable("all are handled");
  };
  std::vector<Parts> groups;
  for (size_t part = 0; part < run.parts.size(); ++part)
    if (groups.empty() || getKey(groups.back().back()) != getKey(part))
      groups.emplace_back().push_back(part);
    else
      groups.back().push_back(part);
  if (!rule.bucket)
    return groups;
  // Gradients become known from the last part on.
  std::vector<Parts> buckets;
  double bytes = *rule.bucket;
  for (const auto &group : reverse(groups)) {
    if (bytes >= *rule.bucket) {
      buckets.emplace_back();
      bytes = 0;
    }
    buckets.back().insert(buckets.back().begin(), group.begin(), group.end());
    for (size_t part : group)
      bytes += run.parts[part].elements * executor.gradientBytes /
               getPieces(rule.coarse, run);
  }
  std::reverse(buckets.begin(), buckets.end());
  return buckets;
}

std::vector<RuleTransfer> amsp::getRuleTransfers(const Executor &executor,
                                                 const ExecutorRule &rule,
                                                 const ExecutorRun &run) {
  GroupShape group = getFactors(rule.fine, run);
  double pieces = 1;
  for (auto [members, coarse] : zip(group, getFactors(rule.coarse, run))) {
    members /= coarse;
    pieces *= toDouble(coarse);
  }
  bool isOfGradients = rule.moves == ExecutorRule::Moves::Gradients;
  double width =
      isOfGradients ? executor.gradientBytes : executor.parameterBytes;
  std::vector<RuleTransfer> transfers;
  for (Parts &parts : groupParts(executor, rule, run)) {
    ScheduledTransfer transfer;
    for (size_t part : parts)
      transfer.bytes += run.parts[part].elements / pieces * width;
    transfer.seconds =
        run.collectives.getSeconds(rule.kind, transfer.bytes, group);
    if (transfer.seconds == 0 || transfer.bytes == 0)
      continue;
    transfer.name = rule.name;
    const ModelPart &first = run.parts[parts.front()];
    transfer.unit = parts.size() == 1 ? first.name
                                      : formatv("{0} to {1}", first.name,
                                                run.parts[parts.back()].name)
                                            .str();
    transfer.loads = run.collectives.getLoads(rule.kind, transfer.bytes, group);
    for (auto [level, members] : enumerate(group))
      if (members > 1)
        transfer.level = level;
    transfers.push_back({std::move(parts), std::move(transfer)});
  }
  return transfers;
}

bool amsp::isActive(const ExecutorRule &rule, MicrobatchPlace place) {
  return any_of(rule.when, [&](When when) {
    switch (when) {
    case When::Forward:
    case When::Backward:
      return true;
    case When::LastBackward:
      return place.isLast;
    case When::EarlyBackward:
      return !place.isLast;
    case When::FirstForward:
      return place.isFirst;
    case When::Update:
      return false;
    }
    llvm_unreachable("all are handled");
  });
}

bool amsp::movesInForward(const ExecutorRule &rule) {
  return is_contained(rule.when, When::Forward) ||
         is_contained(rule.when, When::FirstForward);
}

bool amsp::movesInBackward(const ExecutorRule &rule) {
  return is_contained(rule.when, When::Backward);
}

double amsp::getRunsOfStep(const ExecutorRule &rule, int64_t microbatches) {
  if (is_contained(rule.when, When::Update))
    return 1;
  int passes = rule.moves == ExecutorRule::Moves::Gradients
                   ? 1
                   : movesInForward(rule) + movesInBackward(rule);
  double runs = 0;
  for (bool isFirst : {true, false})
    for (bool isLast : {true, false}) {
      int64_t places = isFirst && isLast   ? microbatches == 1
                       : isFirst || isLast ? microbatches > 1
                                           : microbatches - 2;
      if (places > 0 && isActive(rule, {isFirst, isLast}))
        runs += toDouble(places);
    }
  return runs * passes;
}

double amsp::getAccumulatedPieces(const Executor &executor,
                                  const ExecutorRun &run) {
  double pieces = 1;
  for (const ExecutorRule &rule : executor.rules)
    if (rule.moves == ExecutorRule::Moves::Gradients &&
        rule.kind == TransferKind::ReduceScatter &&
        (is_contained(rule.when, When::Backward) ||
         is_contained(rule.when, When::EarlyBackward)))
      pieces = std::max(pieces, getPieces(rule.fine, run));
  return pieces;
}

double amsp::getAccumulationSeconds(const Executor &executor,
                                    const ExecutorRun &run,
                                    const ModelPart &part, double pieces) {
  return 3 * executor.gradientBytes * part.elements / pieces /
         *run.device.memoryBandwidth;
}

double amsp::getBackwardSeconds(const Executor &executor,
                                const ModelPart &part) {
  return part.backward + executor.recompute * part.forward;
}

double amsp::getUpdateSeconds(const Executor &executor,
                              const ExecutorRun &run) {
  return getUpdatedElements(executor, run) * executor.updateBytes /
         *run.device.memoryBandwidth;
}
