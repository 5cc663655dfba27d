//===- Simulator.cpp - Compute and communication of a step ----------------===//

#include "amsp/Planner/Simulator.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

using namespace llvm;
using namespace amsp;

/// Times that differ by less are equal. Far below any transfer, far above the
/// rounding of a step.
static constexpr double kResolution = 1e-12;

namespace {
/// A channel's transfers: the first one runs, the others wait.
struct Channel {
  struct Entry {
    unsigned transfer;
    double remaining; // seconds when alone
  };
  std::deque<Entry> queue;
  int64_t started = 0, done = 0;
  double rate = 0;  // of the first transfer; 1 when alone
  double begin = 0; // of the first transfer, for the timeline
};

/// A transfer in a slot: the n-th of its channel, counted from 1; or none.
struct Slot {
  unsigned channel = 0;
  int64_t number = 0;
};

class Simulation {
public:
  Simulation(const Schedule &schedule, const SimulationOptions &options)
      : schedule(schedule), options(options),
        channels(schedule.channels.size()), slots(schedule.numSlots) {
    clearTotals();
  }

  SimulatedStep run();

private:
  void clearTotals();
  void runBlock(unsigned block);
  void runAction(const Action &action);
  void repeat(const Action &action);
  void compute(const Action &action);
  void await(Slot slot);
  void start(const Action &action);

  /// Rates of the running transfers, after one has begun or ended.
  void shareLinks();
  double getSlowdown(const ScheduledTransfer &transfer,
                     ArrayRef<double> loads) const;
  /// Seconds until the next transfer is done.
  double getNextEnd() const;
  /// Lets all channels run for so long.
  void advance(double seconds);
  void finishFirst(Channel &channel);
  bool isBusy() const {
    return any_of(channels, [](const Channel &channel) {
      return !channel.queue.empty();
    });
  }
  bool isDone(Slot slot) const {
    return channels[slot.channel].done >= slot.number;
  }

  /// What later behaviour depends on, without absolute times and numbers.
  std::vector<double> getState() const;
  /// All sums, as one list; the inverse.
  std::vector<double> getTotals() const;
  void addTotals(ArrayRef<double> before, ArrayRef<double> after, double times);
  void record(SimulatedEvent::Kind kind, unsigned index, double begin);

  const Schedule &schedule;
  const SimulationOptions &options;
  std::vector<Channel> channels;
  std::vector<Slot> slots;
  SimulatedStep totals;
  double now = 0;
};
} // namespace

void Simulation::clearTotals() {
  totals = SimulatedStep();
  totals.labels.resize(schedule.labels.size());
  size_t count = schedule.transfers.size();
  totals.busy.resize(count);
  totals.exposed.resize(count);
  totals.runs.resize(count);
}

SimulatedStep Simulation::run() {
  for (int64_t step = 0; step < options.warmUp; ++step)
    runBlock(0);
  clearTotals();
  double begin = now;
  runBlock(0);
  if (options.warmUp == 0)
    for (auto [index, channel] : enumerate(channels))
      await({static_cast<unsigned>(index), channel.started});
  totals.seconds = now - begin;
  for (SimulatedEvent &event : totals.timeline) {
    event.begin -= begin;
    event.end -= begin;
  }
  return std::move(totals);
}

void Simulation::runBlock(unsigned block) {
  for (const Action &action : schedule.blocks[block])
    runAction(action);
}

void Simulation::runAction(const Action &action) {
  switch (action.kind) {
  case Action::Kind::Compute:
    return compute(action);
  case Action::Kind::Start:
    return start(action);
  case Action::Kind::Await:
    return await(slots[action.slot]);
  case Action::Kind::Move:
    slots[action.slot] = slots[action.from];
    return;
  case Action::Kind::Repeat:
    return repeat(action);
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void Simulation::repeat(const Action &action) {
  std::vector<double> state = getState();
  for (int64_t trip = 1; trip <= action.trips; ++trip) {
    double begin = now;
    std::vector<double> before = getTotals();
    runBlock(action.block);
    if (options.timeline || trip == action.trips)
      continue;
    std::vector<double> next = getState();
    auto isEqual = [](double a, double b) {
      return std::abs(a - b) <= kResolution;
    };
    if (state.size() == next.size() &&
        std::equal(state.begin(), state.end(), next.begin(), isEqual)) {
      auto rest = static_cast<double>(action.trips - trip);
      addTotals(before, getTotals(), rest);
      now += rest * (now - begin);
      return;
    }
    state = std::move(next);
  }
}

std::vector<double> Simulation::getState() const {
  std::vector<double> state;
  for (const Channel &channel : channels) {
    state.push_back(static_cast<double>(channel.queue.size()));
    for (const Channel::Entry &entry : channel.queue) {
      state.push_back(entry.transfer);
      state.push_back(entry.remaining);
    }
  }
  for (const Slot &slot : slots) {
    int64_t ahead = slot.number - channels[slot.channel].done;
    state.push_back(ahead > 0 ? static_cast<double>(ahead) : 0);
    state.push_back(ahead > 0 ? slot.channel : 0);
  }
  return state;
}

std::vector<double> Simulation::getTotals() const {
  std::vector<double> list = {totals.computeSeconds, totals.spreadSeconds,
                              totals.interferenceSeconds,
                              totals.exposedSeconds};
  for (const auto *values :
       {&totals.labels, &totals.busy, &totals.exposed, &totals.runs})
    append_range(list, *values);
  return list;
}

void Simulation::addTotals(ArrayRef<double> before, ArrayRef<double> after,
                           double times) {
  size_t next = 0;
  auto add = [&](double &value) {
    value += times * (after[next] - before[next]);
    ++next;
  };
  add(totals.computeSeconds);
  add(totals.spreadSeconds);
  add(totals.interferenceSeconds);
  add(totals.exposedSeconds);
  for (auto *values :
       {&totals.labels, &totals.busy, &totals.exposed, &totals.runs})
    for (double &value : *values)
      add(value);
}

//===----------------------------------------------------------------------===//
// The compute stream
//===----------------------------------------------------------------------===//

void Simulation::record(SimulatedEvent::Kind kind, unsigned index,
                        double begin) {
  if (options.timeline && now > begin)
    totals.timeline.push_back({kind, index, begin, now});
}

void Simulation::compute(const Action &action) {
  double begin = now, work = action.seconds * options.slowest, left = work;
  while (left > 0) {
    double slowdown = isBusy() ? 1 + options.interference : 1;
    double seconds = std::min(left * slowdown, getNextEnd());
    advance(seconds);
    left -= seconds / slowdown;
    totals.interferenceSeconds += seconds - seconds / slowdown;
    if (left <= kResolution)
      left = 0;
  }
  totals.computeSeconds += action.seconds;
  totals.labels[action.label] += action.seconds;
  totals.spreadSeconds += work - action.seconds;
  record(SimulatedEvent::Kind::Compute, action.label, begin);
}

void Simulation::await(Slot slot) {
  Channel &channel = channels[slot.channel];
  while (!isDone(slot)) {
    double begin = now;
    unsigned moved = channel.queue.front().transfer;
    advance(getNextEnd());
    totals.exposed[moved] += now - begin;
    totals.exposedSeconds += now - begin;
    record(SimulatedEvent::Kind::Wait, moved, begin);
  }
}

void Simulation::start(const Action &action) {
  const ScheduledTransfer &transfer = schedule.transfers[action.transfer];
  Channel &channel = channels[transfer.channel];
  slots[action.slot] = {transfer.channel, ++channel.started};
  channel.queue.push_back({action.transfer, transfer.seconds});
  if (channel.queue.size() > 1)
    return;
  channel.begin = now;
  shareLinks();
  // What takes no time is done at once, so that it disturbs nothing.
  if (transfer.seconds <= kResolution)
    advance(0);
}

//===----------------------------------------------------------------------===//
// The channels
//===----------------------------------------------------------------------===//

double Simulation::getSlowdown(const ScheduledTransfer &transfer,
                               ArrayRef<double> loads) const {
  double slowdown = 1;
  for (auto [load, total] : zip(transfer.loads, loads))
    if (load > 0)
      slowdown = std::max(slowdown, total);
  return slowdown;
}

void Simulation::shareLinks() {
  SmallVector<double, 4> loads;
  for (const Channel &channel : channels) {
    if (channel.queue.empty())
      continue;
    const ScheduledTransfer &transfer =
        schedule.transfers[channel.queue.front().transfer];
    loads.resize(std::max(loads.size(), transfer.loads.size()));
    for (auto [total, load] : zip(loads, transfer.loads))
      total += load;
  }
  for (Channel &channel : channels)
    if (!channel.queue.empty())
      channel.rate =
          1 / getSlowdown(schedule.transfers[channel.queue.front().transfer],
                          loads);
}

double Simulation::getNextEnd() const {
  double next = std::numeric_limits<double>::infinity();
  for (const Channel &channel : channels)
    if (!channel.queue.empty())
      next = std::min(next, channel.queue.front().remaining / channel.rate);
  return next;
}

void Simulation::finishFirst(Channel &channel) {
  unsigned transfer = channel.queue.front().transfer;
  ++totals.runs[transfer];
  ++totals.events;
  record(SimulatedEvent::Kind::Transfer, transfer, channel.begin);
  channel.queue.pop_front();
  channel.begin = now;
  ++channel.done;
}

void Simulation::advance(double seconds) {
  now += seconds;
  bool hasChanged = false;
  for (Channel &channel : channels) {
    if (channel.queue.empty())
      continue;
    Channel::Entry &first = channel.queue.front();
    first.remaining -= seconds * channel.rate;
    totals.busy[first.transfer] += seconds;
    while (!channel.queue.empty() &&
           channel.queue.front().remaining <= kResolution) {
      finishFirst(channel);
      hasChanged = true;
    }
  }
  if (hasChanged)
    shareLinks();
}

double amsp::getSlowestCompute(const Cluster &cluster) {
  double nodes = 1;
  size_t innermost = cluster.levels.size() > 1 ? 1 : 0;
  for (const ClusterLevel &level :
       ArrayRef(cluster.levels).drop_front(innermost))
    nodes *= static_cast<double>(level.size);
  if (cluster.spread == 0 || nodes == 1)
    return 1;
  // The expected maximum: the integral of x d(Phi(x)^n).
  constexpr double limit = 9, step = 1e-3;
  auto getMaximumBelow = [&](double x) {
    return std::pow(0.5 * std::erfc(-x / std::sqrt(2.0)), nodes);
  };
  double expected = 0;
  for (double x = -limit; x < limit; x += step)
    expected +=
        (x + step / 2) * (getMaximumBelow(x + step) - getMaximumBelow(x));
  return 1 + cluster.spread * expected;
}

SimulationOptions amsp::getSimulationOptions(const Cluster &cluster) {
  SimulationOptions options;
  options.interference = cluster.interference;
  options.slowest = getSlowestCompute(cluster);
  return options;
}

SimulatedStep amsp::simulate(const Schedule &schedule,
                             const SimulationOptions &options) {
  return Simulation(schedule, options).run();
}
