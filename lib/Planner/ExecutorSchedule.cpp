//===- ExecutorSchedule.cpp - A step as a system executes it --------------===//

#include "ExecutorTransfers.h"
#include "llvm/ADT/STLExtras.h"
#include <queue>

using namespace llvm;
using namespace amsp;

using When = ExecutorRule::When;

namespace {
/// A collective of a rule: for these parts, into that slot.
struct RuleUnit {
  SmallVector<size_t, 4> parts; // ascending
  unsigned transfer = 0, slot = 0;
  bool isBackward = false;
};

/// A rule with its collectives.
struct RuleState {
  const ExecutorRule *rule;
  /// In the order in which their parts are used, or become known.
  std::vector<RuleUnit> units;
  /// Of parameters, in this microbatch: uses whose collective was started, and
  /// whose parts have begun. Beyond the last one: of the next microbatch.
  size_t started = 0, used = 0;
};

/// A part of the step: a microbatch.
struct Microbatch : MicrobatchPlace {
  unsigned block;
};

class ExecutorScheduler {
public:
  ExecutorScheduler(const Executor &executor, const ExecutorRun &run);
  Schedule build();

private:
  void addRule(const ExecutorRule &rule);
  void addUnits(RuleState &state, bool isBackward);

  void addMicrobatch(Microbatch microbatch);
  void addForward(Microbatch microbatch);
  void addBackward(Microbatch microbatch);
  void use(size_t part, bool isBackward, Microbatch microbatch);
  void startUse(RuleState &state, Microbatch microbatch);
  void reduce(size_t part, Microbatch microbatch);
  void awaitUpdated(ArrayRef<size_t> parts, Microbatch microbatch);
  void addUpdate();

  const Executor &executor;
  const ExecutorRun &run;
  Schedule schedule;
  std::vector<RuleState> gathers, reductions, updates;
  double accumulatedPieces;
};
} // namespace

ExecutorScheduler::ExecutorScheduler(const Executor &executor,
                                     const ExecutorRun &run)
    : executor(executor), run(run),
      accumulatedPieces(getAccumulatedPieces(executor, run)) {
  for (const ExecutorRule &rule : executor.rules)
    addRule(rule);
}

//===----------------------------------------------------------------------===//
// The collectives of a rule
//===----------------------------------------------------------------------===//

void ExecutorScheduler::addUnits(RuleState &state, bool isBackward) {
  const ExecutorRule &rule = *state.rule;
  std::vector<RuleTransfer> transfers = getRuleTransfers(executor, rule, run);
  if (isBackward)
    std::reverse(transfers.begin(), transfers.end());
  for (auto &[parts, transfer] : transfers) {
    auto channel = find(schedule.channels, rule.channel);
    transfer.channel = channel == schedule.channels.end()
                           ? schedule.addChannel(rule.channel)
                           : std::distance(schedule.channels.begin(), channel);
    unsigned number = schedule.addTransfer(std::move(transfer));
    state.units.push_back({parts, number, schedule.addSlot(), isBackward});
  }
}

void ExecutorScheduler::addRule(const ExecutorRule &rule) {
  RuleState state{&rule, {}};
  if (rule.moves == ExecutorRule::Moves::Gradients) {
    addUnits(state, /*isBackward=*/true);
    reductions.push_back(std::move(state));
    return;
  }
  if (is_contained(rule.when, When::Update)) {
    addUnits(state, /*isBackward=*/false);
    updates.push_back(std::move(state));
    return;
  }
  if (movesInForward(rule))
    addUnits(state, /*isBackward=*/false);
  if (movesInBackward(rule))
    addUnits(state, /*isBackward=*/true);
  gathers.push_back(std::move(state));
}

//===----------------------------------------------------------------------===//
// A microbatch
//===----------------------------------------------------------------------===//

/// Before parameters are used for the first time in a step, what moves them
/// after the update must be done.
void ExecutorScheduler::awaitUpdated(ArrayRef<size_t> parts,
                                     Microbatch microbatch) {
  if (!microbatch.isFirst)
    return;
  for (const RuleState &state : updates)
    for (const RuleUnit &unit : state.units)
      if (any_of(unit.parts,
                 [&](size_t part) { return is_contained(parts, part); }))
        schedule.await(microbatch.block, unit.slot);
}

void ExecutorScheduler::startUse(RuleState &state, Microbatch microbatch) {
  const RuleUnit &unit = state.units[state.started % state.units.size()];
  ++state.started;
  awaitUpdated(unit.parts, microbatch);
  schedule.start(microbatch.block, unit.transfer, unit.slot);
}

/// Compute of a part begins: what it uses must have been gathered.
void ExecutorScheduler::use(size_t part, bool isBackward,
                            Microbatch microbatch) {
  awaitUpdated({part}, microbatch);
  for (RuleState &state : gathers) {
    size_t count = state.units.size();
    if (!isActive(*state.rule, microbatch) || state.used == count)
      continue;
    const RuleUnit &unit = state.units[state.used];
    size_t first = isBackward ? unit.parts.back() : unit.parts.front();
    if (unit.isBackward != isBackward || first != part)
      continue;
    ++state.used;
    size_t ahead = 0;
    if (state.rule->overlap)
      ahead = std::min<size_t>(state.rule->ahead, count);
    // The next microbatch's are started too, unless there is none or its uses
    // are not gathered.
    bool wraps = !microbatch.isLast &&
                 !is_contained(state.rule->when, When::FirstForward);
    size_t last = wraps ? 2 * count : count;
    while (state.started < std::min(state.used + ahead, last))
      startUse(state, microbatch);
    schedule.await(microbatch.block, unit.slot);
  }
}

void ExecutorScheduler::addForward(Microbatch microbatch) {
  for (auto [index, part] : enumerate(run.parts)) {
    use(index, /*isBackward=*/false, microbatch);
    schedule.compute(microbatch.block, part.forward,
                     schedule.addLabel("forward"));
  }
}

/// The gradient of a part is known.
void ExecutorScheduler::reduce(size_t part, Microbatch microbatch) {
  for (const RuleState &state : reductions) {
    if (!isActive(*state.rule, microbatch))
      continue;
    for (const RuleUnit &unit : state.units) {
      if (unit.parts.front() != part)
        continue;
      schedule.start(microbatch.block, unit.transfer, unit.slot);
      if (!state.rule->overlap)
        schedule.await(microbatch.block, unit.slot);
    }
  }
}

void ExecutorScheduler::addBackward(Microbatch microbatch) {
  unsigned label = schedule.addLabel("backward");
  for (size_t index = run.parts.size(); index-- > 0;) {
    const ModelPart &part = run.parts[index];
    use(index, /*isBackward=*/true, microbatch);
    double seconds = getBackwardSeconds(executor, part);
    if (!microbatch.isFirst)
      seconds += getAccumulationSeconds(executor, run, part, accumulatedPieces);
    schedule.compute(microbatch.block, seconds, label);
    reduce(index, microbatch);
  }
  // A channel is in order, so that its last transfer is the last to be done.
  for (const RuleState &state : reductions)
    if (isActive(*state.rule, microbatch) && !state.units.empty())
      schedule.await(microbatch.block, state.units.back().slot);
}

void ExecutorScheduler::addMicrobatch(Microbatch microbatch) {
  for (RuleState &state : gathers) {
    size_t count = state.units.size();
    // What the microbatch before has started ahead.
    state.started = !microbatch.isFirst && state.rule->overlap
                        ? std::min<size_t>(state.rule->ahead, count)
                        : 0;
    state.used = 0;
  }
  addForward(microbatch);
  addBackward(microbatch);
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

void ExecutorScheduler::addUpdate() {
  schedule.compute(0, getUpdateSeconds(executor, run),
                   schedule.addLabel("update"));
  for (const RuleState &state : updates) {
    for (const RuleUnit &unit : state.units)
      schedule.start(0, unit.transfer, unit.slot);
    if (!state.rule->overlap && !state.units.empty())
      schedule.await(0, state.units.back().slot);
  }
}

Schedule ExecutorScheduler::build() {
  int64_t last = run.microbatches - 1;
  addMicrobatch({{true, last == 0}, 0});
  if (last > 1) {
    unsigned body = schedule.addBlock();
    addMicrobatch({{false, false}, body});
    schedule.repeat(0, body, last - 1);
  }
  if (last > 0)
    addMicrobatch({{false, true}, 0});
  addUpdate();
  return std::move(schedule);
}

Schedule amsp::buildExecutorSchedule(const Executor &executor,
                                     const ExecutorRun &run) {
  return ExecutorScheduler(executor, run).build();
}

double amsp::getExecutorMemory(const Executor &executor,
                               const ExecutorRun &run) {
  double elements = 0, saved = 0, inputs = 0;
  SmallVector<double> layerElements, layerSaved;
  for (const ModelPart &part : run.parts) {
    layerElements.resize(
        std::max<size_t>(layerElements.size(), part.layer + 1));
    layerSaved.resize(layerElements.size());
    // What a layer saves first is its input, which is kept for recomputation
    // too, with the output of a norm.
    if (layerSaved[part.layer] == 0)
      inputs += part.saved / 2;
    elements += part.elements;
    saved += part.saved;
    layerElements[part.layer] += part.elements;
    layerSaved[part.layer] += part.saved;
  }
  double again = executor.recompute;
  double largest = *std::max_element(layerSaved.begin(), layerSaved.end());
  double gathered =
      *std::max_element(layerElements.begin(), layerElements.end());
  double pieces = getPieces(State::Parameters, run);
  return elements *
             (executor.parameterBytes / pieces +
              executor.gradientBytes / getPieces(State::Gradients, run) +
              executor.stateBytes / getPieces(State::OptimizerStates, run)) +
         (1 - again) * saved + again * (largest + inputs) +
         (pieces > 1 ? 2 * gathered * executor.parameterBytes : 0);
}

double amsp::getUpdatedElements(const Executor &executor,
                                const ExecutorRun &run) {
  double total = 0;
  for (const ModelPart &part : run.parts)
    total += part.elements;
  auto broadcast = find_if(executor.rules, [](const ExecutorRule &rule) {
    return rule.kind == TransferKind::Broadcast;
  });
  if (broadcast == executor.rules.end())
    return total / getPieces(State::OptimizerStates, run);
  // The largest tensor goes to the rank with the least.
  double coarse = getPieces(broadcast->coarse, run);
  double owners = getPieces(broadcast->fine, run) / coarse;
  std::vector<double> sizes;
  for (const ModelPart &part : run.parts)
    sizes.push_back(part.elements / coarse);
  sort(sizes, std::greater<>());
  std::priority_queue<double, std::vector<double>, std::greater<>> loads;
  for (double owner = 0; owner < owners; ++owner)
    loads.push(0);
  double most = 0;
  for (double size : sizes) {
    double load = loads.top() + size;
    loads.pop();
    loads.push(load);
    most = std::max(most, load);
  }
  return most;
}
