//===- OverlapPlan.cpp - When collectives start and are awaited -----------===//

#include "amsp/Communication/OverlapPlan.h"
#include "HurriedTransfers.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <deque>
#include <limits>

using namespace amsp;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Transfers may take so many times what the model says, before a gather that
/// was started in time is late.
static constexpr double kSlack = 2;

/// A reduction gives way to so many gathers at most.
static constexpr int64_t kMostPassed = 4;

static int64_t getLargest(const OverlapProblem &problem, bool isGather) {
  int64_t largest = 0;
  for (const OverlapCollective &collective : problem.collectives)
    if (collective.isGather == isGather)
      largest = std::max(largest, collective.bytes);
  return largest;
}

int64_t amsp::getLeastBytesInFlight(const OverlapProblem &problem) {
  int64_t least = getLargest(problem, true) + getLargest(problem, false);
  for (int64_t nested : problem.nestedBytes)
    least = std::max(least, nested);
  return least;
}

namespace {
class Planner {
public:
  Planner(const OverlapProblem &problem, int64_t bound);
  OverlapPlan plan();

private:
  struct Times {
    int64_t ready, deadline;
    int64_t start = -1, await = -1;
  };

  void setShares(int64_t bound);
  void setReady();
  void setDeadlines();
  void sortGathers();
  void estimateGathers();
  void setLatestReductions();
  void letGathersPass(unsigned index, int64_t position);
  int64_t getCalmPosition(unsigned index, int64_t position) const;
  void placeReductions();
  void startReductions(int64_t position);
  void startReduction(unsigned index, int64_t position);
  void advanceChains(unsigned index, int64_t position);
  void endChainLink(unsigned reader, int64_t position);
  void awaitReduction(unsigned index, int64_t position);
  void awaitDue(int64_t position);
  void awaitOldest(int64_t position);
  void placeGathers();
  void setWindows();
  std::vector<double> getLatestStarts() const;
  int64_t getFirstFit(unsigned gather, int64_t position,
                      std::deque<unsigned> &inFlight) const;
  /// What was listed up to a position.
  struct Listing {
    OverlapPlan plan;
    std::vector<SmallVector<unsigned, 1>> awaits; // by position, still to come
    std::vector<bool> isDone;                     // by collective: awaited
    // Of the channel of reductions, and of that of gathers.
    std::array<size_t, 2> next = {0, 0};
    std::array<int64_t, 2> bytes = {0, 0}; // in flight
  };
  bool tryStart(Listing &list, int64_t position, bool isGather) const;
  bool tryAwait(Listing &list, int64_t position) const;
  bool isGatherUrgent(const Listing &list) const;
  OverlapPlan listEvents() const;

  /// The last position that is reached by `time`, and the first one not before.
  int64_t getPositionBefore(double time) const;
  int64_t getPositionAfter(double time) const;
  int64_t getBytes(ArrayRef<unsigned> indices) const;
  ArrayRef<unsigned> getOrder(bool isGather) const {
    return isGather ? gathers : reductions;
  }

  const OverlapProblem &problem;
  int64_t last; // position of the terminator
  /// When each position is reached if nothing has to be waited for.
  std::vector<double> clock;
  std::vector<Times> times;
  /// By channel, reductions first: the bytes it may have in flight, and those
  /// it may have while an op with nested collectives runs.
  int64_t shares[2];
  std::vector<int64_t> caps[2];
  std::vector<int64_t> nestedPositions;
  /// In the order of their starts.
  SmallVector<unsigned> gathers, reductions;
  /// For each gather, in their order: the first position at which it may start,
  /// and when it should be done.
  struct Window {
    int64_t first = 0;
    double end = 0;
  };
  std::vector<Window> windows;
  /// Their transfers, beside the reductions placed so far.
  HurriedTransfers hurried;

  // While reductions are placed.
  SmallVector<unsigned> inFlight;
  std::vector<SmallVector<unsigned, 1>> startable; // by position
  std::vector<SmallVector<unsigned, 2>> readers;   // reductions, by collective
  std::vector<unsigned> numPending;                // reductions not awaited yet
  std::vector<unsigned> numUnstarted;              // reductions not started yet
  std::vector<bool> isLink;                        // reads reductions
  /// Collectives that read what is in flight, with when that should be done.
  SmallVector<std::pair<unsigned, int64_t>> nextLinks;
  double channelFree = 0;
  std::vector<double> latestReductions; // by collective: starts
  std::vector<bool> hasWaited;          // by collective: for gathers
  int64_t waitingBytes = 0;

  int64_t lateGathers = 0, earlyAwaits = 0;
};
} // namespace

Planner::Planner(const OverlapProblem &problem, int64_t bound)
    : problem(problem), last(problem.seconds.size()) {
  clock.assign(last + 1, 0);
  for (int64_t i = 0; i < last; ++i)
    clock[i + 1] = clock[i] + problem.seconds[i];
  setShares(bound);
}

void Planner::setShares(int64_t bound) {
  int64_t gather = getLargest(problem, true);
  int64_t reduction = getLargest(problem, false);
  // Half each, but room for the largest, and all to one that is alone.
  shares[0] =
      gather == 0 ? bound : std::clamp(bound / 2, reduction, bound - gather);
  if (reduction == 0)
    shares[0] = 0;
  shares[1] = bound - shares[0];
  for (int channel : {0, 1})
    caps[channel].assign(last, shares[channel]);
  for (int64_t i = 0; i < last; ++i) {
    if (problem.nestedBytes[i] == 0)
      continue;
    nestedPositions.push_back(i);
    int64_t rest = bound - problem.nestedBytes[i];
    caps[0][i] = std::min(shares[0], gather == 0 ? rest : rest / 2);
    caps[1][i] = std::min(shares[1], rest - caps[0][i]);
  }
}

int64_t Planner::getPositionBefore(double time) const {
  auto after = llvm::upper_bound(clock, time);
  return std::max<int64_t>(0, after - clock.begin() - 1);
}

int64_t Planner::getPositionAfter(double time) const {
  auto first = llvm::lower_bound(clock, time);
  return std::min<int64_t>(last, first - clock.begin());
}

int64_t Planner::getBytes(ArrayRef<unsigned> indices) const {
  int64_t bytes = 0;
  for (unsigned index : indices)
    bytes += problem.collectives[index].bytes;
  return bytes;
}

void Planner::setReady() {
  for (const OverlapCollective &collective : problem.collectives) {
    Times &own = times.emplace_back();
    own.ready = collective.ready;
    for (unsigned producer : collective.after)
      own.ready = std::max(own.ready, times[producer].ready);
    own.deadline = std::max(collective.deadline, own.ready);
  }
}

/// What another collective reads is needed where that starts: a gather as late
/// as its own transfer allows.
void Planner::setDeadlines() {
  for (int64_t i = problem.collectives.size() - 1; i >= 0; --i) {
    const OverlapCollective &reader = problem.collectives[i];
    int64_t needed = times[i].deadline;
    if (reader.isGather) {
      double latest = clock[needed] - kSlack * reader.seconds;
      needed = std::clamp(getPositionBefore(latest), times[i].ready, needed);
    }
    for (unsigned producer : reader.after)
      times[producer].deadline = std::min(times[producer].deadline, needed);
  }
}

void Planner::awaitReduction(unsigned index, int64_t position) {
  times[index].await = position;
  llvm::erase(inFlight, index);
  for (unsigned reader : readers[index])
    if (--numPending[reader] == 0)
      startable[position].push_back(reader);
}

void Planner::awaitDue(int64_t position) {
  for (unsigned index : SmallVector<unsigned>(inFlight))
    if (times[index].deadline <= position)
      awaitReduction(index, position);
}

void Planner::awaitOldest(int64_t position) {
  ++earlyAwaits;
  awaitReduction(inFlight.front(), position);
}

/// Sets from when on each reduction would be late, or one behind it.
void Planner::setLatestReductions() {
  size_t count = problem.collectives.size();
  hasWaited.assign(count, false);
  latestReductions.resize(count);
  double next = std::numeric_limits<double>::infinity();
  for (int64_t i = count - 1; i >= 0; --i) {
    if (problem.collectives[i].isGather)
      continue;
    double finish = std::min(next, clock[times[i].deadline]);
    next = finish - kSlack * problem.collectives[i].seconds;
    latestReductions[i] = next;
  }
}

/// Channels may share links. The first position, behind a few gathers at most,
/// from which on the reduction makes no gather late; the given one if there is
/// none in time.
int64_t Planner::getCalmPosition(unsigned index, int64_t position) const {
  double seconds = problem.collectives[index].seconds;
  int64_t candidate = position;
  for (int64_t passed = 0; passed <= kMostPassed; ++passed) {
    double start = std::max(channelFree, clock[candidate]);
    if (candidate > position && start > latestReductions[index])
      return position;
    if (!hurried.areLateBeside(start, seconds))
      return candidate;
    std::optional<double> end = hurried.getNextEnd(start);
    if (!end)
      return position;
    candidate = getPositionAfter(*end);
  }
  return position;
}

void Planner::startReduction(unsigned index, int64_t position) {
  const OverlapCollective &collective = problem.collectives[index];
  while (getBytes(inFlight) + collective.bytes > shares[0])
    awaitOldest(position);
  Times &own = times[index];
  own.start = position;
  reductions.push_back(index);
  inFlight.push_back(index);
  if (hasWaited[index])
    waitingBytes -= collective.bytes;
  channelFree = std::max(channelFree, clock[position]);
  hurried.delay(channelFree, collective.seconds);
  channelFree += collective.seconds;
  advanceChains(index, position);
  awaitDue(position);
}

/// The next link of a chain starts when all that it reads should be done.
/// Without times worth trusting, it also leaves the next one that is no link
/// of a chain its turn: so much later its await will hardly stop the rank.
void Planner::advanceChains(unsigned index, int64_t position) {
  if (problem.isEager && !isLink[index]) {
    for (auto [reader, done] : nextLinks)
      endChainLink(reader, std::max(position, done));
    nextLinks.clear();
  }
  for (unsigned reader : readers[index]) {
    if (--numUnstarted[reader] > 0)
      continue;
    int64_t done = std::max(position, getPositionAfter(channelFree));
    if (problem.isEager)
      nextLinks.push_back({reader, done});
    else
      endChainLink(reader, done);
  }
}

/// What a collective reads is awaited at the position, if not before.
void Planner::endChainLink(unsigned reader, int64_t position) {
  for (unsigned producer : problem.collectives[reader].after)
    if (!problem.collectives[producer].isGather)
      times[producer].deadline = std::min(times[producer].deadline, position);
}

void Planner::placeReductions() {
  size_t count = problem.collectives.size();
  readers.resize(count);
  numPending.assign(count, 0);
  isLink.assign(count, false);
  startable.resize(last + 1);
  for (unsigned i = 0; i < count; ++i) {
    const OverlapCollective &reader = problem.collectives[i];
    // Gathers are awaited exactly where they are needed.
    if (reader.isGather) {
      times[i].await = times[i].deadline;
      continue;
    }
    for (unsigned producer : reader.after) {
      if (problem.collectives[producer].isGather) {
        times[i].ready = std::max(times[i].ready, times[producer].await);
        continue;
      }
      readers[producer].push_back(i);
      ++numPending[i];
      isLink[i] = true;
    }
    if (numPending[i] == 0)
      startable[times[i].ready].push_back(i);
  }
  numUnstarted = numPending;
  for (int64_t position = 0; position <= last; ++position) {
    awaitDue(position);
    startReductions(position);
    while (position < last && getBytes(inFlight) > caps[0][position]) {
      awaitOldest(position);
      startReductions(position);
    }
  }
}

/// Behind gathers that it would make late, if there is time, and if what waits
/// and what is in flight is no more than may be in flight.
void Planner::letGathersPass(unsigned index, int64_t position) {
  int64_t bytes = problem.collectives[index].bytes;
  if (getBytes(inFlight) + waitingBytes + bytes > shares[0])
    return;
  times[index].ready = getCalmPosition(index, position);
  hasWaited[index] = times[index].ready > position;
  if (hasWaited[index])
    waitingBytes += bytes;
}

/// Starts what can start at a position, in program order: so none is behind one
/// that waits for it. Awaits add to the list on the way.
void Planner::startReductions(int64_t position) {
  while (!startable[position].empty()) {
    auto *first = llvm::min_element(startable[position]);
    unsigned index = *first;
    startable[position].erase(first);
    Times &own = times[index];
    // Behind an op that needs the bytes for what is in it, if there is time.
    if (own.ready <= position && position < last && own.deadline > position &&
        caps[0][position] < shares[0] &&
        getBytes(inFlight) + problem.collectives[index].bytes >
            caps[0][position])
      own.ready = position + 1;
    else if (own.ready <= position && !hasWaited[index])
      letGathersPass(index, position);
    if (own.ready > position)
      startable[own.ready].push_back(index);
    else
      startReduction(index, position);
  }
}

/// Which gathers cross a loop, of which each crosses one at most.
void Planner::setWindows() {
  int64_t first = 0;
  double channelFree = 0;
  for (unsigned gather : gathers) {
    double seconds = problem.collectives[gather].seconds;
    Window window{first, clock[times[gather].deadline]};
    auto next = llvm::lower_bound(problem.loops, times[gather].deadline);
    if (next != problem.loops.begin() && *std::prev(next) >= first) {
      auto loop = std::prev(next);
      double behind = std::max(channelFree, clock[*loop + 1]);
      if (2 * (behind + seconds - window.end) <= seconds) {
        window.first = *loop + 1;
      } else {
        window.end = clock[*loop];
        if (loop != problem.loops.begin())
          window.first = std::max(first, *std::prev(loop) + 1);
      }
    }
    first = window.first;
    channelFree = std::max(channelFree, clock[first]) + seconds;
    windows.push_back(window);
  }
}

/// When each gather, in their order, has to start at the latest.
std::vector<double> Planner::getLatestStarts() const {
  std::vector<double> starts(gathers.size());
  double next = std::numeric_limits<double>::infinity();
  for (int64_t i = gathers.size() - 1; i >= 0; --i) {
    double finish = std::min(next, windows[i].end);
    next = finish - kSlack * problem.collectives[gathers[i]].seconds;
    starts[i] = next;
  }
  return starts;
}

/// The first position from `position` on at which the gather fits in beside
/// those in flight, of which the ones awaited before are dropped.
int64_t Planner::getFirstFit(unsigned gather, int64_t position,
                             std::deque<unsigned> &inFlight) const {
  int64_t bytes = problem.collectives[gather].bytes;
  int64_t deadline = times[gather].deadline;
  auto getInFlight = [&](int64_t at) {
    int64_t sum = 0;
    for (unsigned other : inFlight)
      if (times[other].deadline > at)
        sum += problem.collectives[other].bytes;
    return sum;
  };
  while (position < deadline) {
    while (!inFlight.empty() && times[inFlight.front()].deadline <= position)
      inFlight.pop_front();
    if (getInFlight(position) + bytes > shares[1]) {
      position = std::min(deadline, times[inFlight.front()].deadline);
      continue;
    }
    // No op on the way may be short of bytes for what is in it.
    auto next = llvm::lower_bound(nestedPositions, position);
    int64_t from = position;
    for (; next != nestedPositions.end() && *next < deadline; ++next)
      if (getInFlight(*next) + bytes > caps[1][*next])
        position = *next + 1;
    if (position == from)
      break;
  }
  return std::min(position, deadline);
}

void Planner::sortGathers() {
  for (unsigned i = 0, e = problem.collectives.size(); i < e; ++i)
    if (problem.collectives[i].isGather)
      gathers.push_back(i);
  llvm::sort(gathers, [&](unsigned a, unsigned b) {
    return std::pair(times[a].deadline, a) < std::pair(times[b].deadline, b);
  });
}

/// As if the bound had room for all.
void Planner::estimateGathers() {
  for (auto [rank, latest] : llvm::enumerate(getLatestStarts())) {
    unsigned gather = gathers[rank];
    int64_t first = std::max(times[gather].ready, windows[rank].first);
    hurried.add(std::max(clock[first], latest),
                problem.collectives[gather].seconds, windows[rank].end);
  }
}

void Planner::placeGathers() {
  std::vector<double> latest = getLatestStarts();
  std::deque<unsigned> inFlight;
  int64_t position = 0;
  for (auto [rank, gather] : llvm::enumerate(gathers)) {
    Times &own = times[gather];
    for (unsigned producer : problem.collectives[gather].after)
      own.ready = std::max(own.ready, times[producer].await);
    position = std::max({position, own.ready, windows[rank].first});
    if (!problem.isEager)
      position = std::max(position, getPositionBefore(latest[rank]));
    position = std::min(position, own.deadline);
    own.start = getFirstFit(gather, position, inFlight);
    lateGathers += !problem.isEager && own.start > position;
    position = own.start;
    inFlight.push_back(gather);
  }
}

/// Starts the next collective of a channel, if its turn has come and it fits.
bool Planner::tryStart(Listing &list, int64_t position, bool isGather) const {
  ArrayRef<unsigned> order = getOrder(isGather);
  if (list.next[isGather] == order.size())
    return false;
  unsigned index = order[list.next[isGather]];
  const OverlapCollective &collective = problem.collectives[index];
  if (times[index].start != position ||
      list.bytes[isGather] + collective.bytes > shares[isGather] ||
      !llvm::all_of(collective.after,
                    [&](unsigned i) { return list.isDone[i]; }))
    return false;
  list.plan.events.push_back({position, index, /*isStart=*/true});
  list.bytes[isGather] += collective.bytes;
  ++list.next[isGather];
  list.plan.peakBytes =
      std::max(list.plan.peakBytes, list.bytes[0] + list.bytes[1]);
  return true;
}

/// Awaits one that is started and due.
bool Planner::tryAwait(Listing &list, int64_t position) const {
  auto &due = list.awaits[position];
  auto *found = llvm::find_if(due, [&](unsigned index) {
    bool isGather = problem.collectives[index].isGather;
    return llvm::is_contained(
        getOrder(isGather).take_front(list.next[isGather]), index);
  });
  if (found == due.end())
    return false;
  unsigned index = *found;
  due.erase(found);
  list.plan.events.push_back({position, index, /*isStart=*/false});
  const OverlapCollective &collective = problem.collectives[index];
  list.bytes[collective.isGather] -= collective.bytes;
  list.isDone[index] = true;
  return true;
}

/// Of the channels' next ones, the one that is needed first: they may share
/// links.
bool Planner::isGatherUrgent(const Listing &list) const {
  return list.next[1] < gathers.size() &&
         (list.next[0] == reductions.size() ||
          times[gathers[list.next[1]]].deadline <
              times[reductions[list.next[0]]].deadline);
}

OverlapPlan Planner::listEvents() const {
  Listing list;
  list.plan.lateGathers = lateGathers;
  list.plan.earlyAwaits = earlyAwaits;
  list.plan.bytesOver.assign(last, 0);
  list.awaits.resize(last + 1);
  list.isDone.resize(times.size());
  for (bool isGather : {false, true})
    for (unsigned index : getOrder(isGather))
      list.awaits[times[index].await].push_back(index);
  for (int64_t position = 0; position <= last; ++position) {
    // Starts first, as far as they fit: an await may take long.
    bool isMore = true;
    while (isMore) {
      bool isGather = isGatherUrgent(list);
      isMore = tryStart(list, position, isGather) ||
               tryStart(list, position, !isGather) || tryAwait(list, position);
    }
    if (position < last)
      list.plan.bytesOver[position] = list.bytes[0] + list.bytes[1];
  }
  return std::move(list.plan);
}

OverlapPlan Planner::plan() {
  setReady();
  setDeadlines();
  sortGathers();
  setWindows();
  estimateGathers();
  setLatestReductions();
  placeReductions();
  placeGathers();
  return listEvents();
}

OverlapPlan amsp::planOverlap(const OverlapProblem &problem, int64_t bound) {
  return Planner(problem, bound).plan();
}
