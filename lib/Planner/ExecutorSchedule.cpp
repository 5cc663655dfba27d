//===- ExecutorSchedule.cpp - A step as a system executes it --------------===//

#include "amsp/Planner/Executor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <queue>

using namespace llvm;
using namespace amsp;

using When = ExecutorRule::When;

static double toDouble(int64_t number) { return static_cast<double>(number); }

/// The factors of a state on each level.
static GroupShape getFactors(State state, const ExecutorRun &run) {
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

static double getPieces(State state, const ExecutorRun &run) {
  double pieces = 1;
  for (int64_t factor : getFactors(state, run))
    pieces *= toDouble(factor);
  return pieces;
}

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
struct Microbatch {
  unsigned block;
  bool isFirst, isLast;
};

class ExecutorScheduler {
public:
  ExecutorScheduler(const Executor &executor, const ExecutorRun &run);
  Schedule build();

private:
  void addRule(const ExecutorRule &rule);
  std::vector<SmallVector<size_t, 4>>
  groupParts(const ExecutorRule &rule) const;
  void addUnits(RuleState &state, bool isBackward);
  std::optional<unsigned> addTransfer(const ExecutorRule &rule,
                                      ArrayRef<size_t> parts);
  static bool isActive(const ExecutorRule &rule, Microbatch microbatch);

  void addMicrobatch(Microbatch microbatch);
  void addForward(Microbatch microbatch);
  void addBackward(Microbatch microbatch);
  void use(size_t part, bool isBackward, Microbatch microbatch);
  void startUse(RuleState &state, Microbatch microbatch);
  void reduce(size_t part, Microbatch microbatch);
  void awaitUpdated(ArrayRef<size_t> parts, Microbatch microbatch);
  void addUpdate();
  double getAccumulationSeconds(size_t part, Microbatch microbatch) const;

  const Executor &executor;
  const ExecutorRun &run;
  Schedule schedule;
  std::vector<RuleState> gathers, reductions, updates;
  /// Pieces of the gradients that are accumulated.
  double accumulated = 1;
};
} // namespace

ExecutorScheduler::ExecutorScheduler(const Executor &executor,
                                     const ExecutorRun &run)
    : executor(executor), run(run) {
  for (const ExecutorRule &rule : executor.rules)
    addRule(rule);
}

//===----------------------------------------------------------------------===//
// The collectives of a rule
//===----------------------------------------------------------------------===//

std::vector<SmallVector<size_t, 4>>
ExecutorScheduler::groupParts(const ExecutorRule &rule) const {
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
  std::vector<SmallVector<size_t, 4>> groups;
  for (size_t part = 0; part < run.parts.size(); ++part)
    if (groups.empty() || getKey(groups.back().back()) != getKey(part))
      groups.emplace_back().push_back(part);
    else
      groups.back().push_back(part);
  if (!rule.bucket)
    return groups;
  // Gradients become known from the last part on.
  std::vector<SmallVector<size_t, 4>> buckets;
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

std::optional<unsigned> ExecutorScheduler::addTransfer(const ExecutorRule &rule,
                                                       ArrayRef<size_t> parts) {
  GroupShape group = getFactors(rule.fine, run);
  double pieces = 1;
  for (auto [members, coarse] : zip(group, getFactors(rule.coarse, run))) {
    members /= coarse;
    pieces *= toDouble(coarse);
  }
  ScheduledTransfer transfer;
  bool isOfGradients = rule.moves == ExecutorRule::Moves::Gradients;
  for (size_t part : parts)
    transfer.bytes +=
        run.parts[part].elements / pieces *
        (isOfGradients ? executor.gradientBytes : executor.parameterBytes);
  transfer.seconds =
      run.collectives.getSeconds(rule.kind, transfer.bytes, group);
  if (transfer.seconds == 0 || transfer.bytes == 0)
    return std::nullopt;
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
  auto channel = find(schedule.channels, rule.channel);
  transfer.channel = channel == schedule.channels.end()
                         ? schedule.addChannel(rule.channel)
                         : std::distance(schedule.channels.begin(), channel);
  return schedule.addTransfer(std::move(transfer));
}

void ExecutorScheduler::addUnits(RuleState &state, bool isBackward) {
  std::vector<SmallVector<size_t, 4>> groups = groupParts(*state.rule);
  if (isBackward)
    std::reverse(groups.begin(), groups.end());
  for (auto &parts : groups)
    if (std::optional<unsigned> transfer = addTransfer(*state.rule, parts))
      state.units.push_back({parts, *transfer, schedule.addSlot(), isBackward});
}

void ExecutorScheduler::addRule(const ExecutorRule &rule) {
  RuleState state{&rule, {}};
  if (rule.moves == ExecutorRule::Moves::Gradients) {
    addUnits(state, /*isBackward=*/true);
    if (is_contained(rule.when, When::Backward) ||
        is_contained(rule.when, When::EarlyBackward))
      if (rule.kind == TransferKind::ReduceScatter)
        accumulated = std::max(accumulated, getPieces(rule.fine, run));
    reductions.push_back(std::move(state));
    return;
  }
  if (is_contained(rule.when, When::Update)) {
    addUnits(state, /*isBackward=*/false);
    updates.push_back(std::move(state));
    return;
  }
  if (!is_contained(rule.when, When::Backward) ||
      is_contained(rule.when, When::Forward) ||
      is_contained(rule.when, When::FirstForward))
    addUnits(state, /*isBackward=*/false);
  if (is_contained(rule.when, When::Backward))
    addUnits(state, /*isBackward=*/true);
  gathers.push_back(std::move(state));
}

bool ExecutorScheduler::isActive(const ExecutorRule &rule,
                                 Microbatch microbatch) {
  return any_of(rule.when, [&](When when) {
    switch (when) {
    case When::Forward:
    case When::Backward:
      return true;
    case When::LastBackward:
      return microbatch.isLast;
    case When::EarlyBackward:
      return !microbatch.isLast;
    case When::FirstForward:
      return microbatch.isFirst;
    case When::Update:
      return false;
    }
    llvm_unreachable("all are handled");
  });
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

double ExecutorScheduler::getAccumulationSeconds(size_t part,
                                                 Microbatch microbatch) const {
  if (microbatch.isFirst)
    return 0;
  // Two values are read and one is written.
  return 3 * executor.gradientBytes * run.parts[part].elements / accumulated /
         *run.device.memoryBandwidth;
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
    schedule.compute(microbatch.block,
                     part.backward + executor.recompute * part.forward +
                         getAccumulationSeconds(index, microbatch),
                     label);
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
  double elements = getUpdatedElements(executor, run);
  schedule.compute(
      0, elements * executor.updateBytes / *run.device.memoryBandwidth,
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
  addMicrobatch({0, true, last == 0});
  if (last > 1) {
    unsigned body = schedule.addBlock();
    addMicrobatch({body, false, false});
    schedule.repeat(0, body, last - 1);
  }
  if (last > 0)
    addMicrobatch({0, false, true});
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
