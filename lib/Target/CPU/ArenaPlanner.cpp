//===- ArenaPlanner.cpp - Offsets for buffers with lifetimes --------------===//

#include "amsp/Target/CPU/ArenaPlanner.h"
#include "OccupiedSpace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace amsp;
using llvm::ArrayRef;
using llvm::SmallVector;

SmallVector<LiveSpan> LiveBuffer::getSpans() const {
  SmallVector<LiveSpan> spans;
  int64_t from = begin;
  for (const LiveSpan &hole : holes) {
    spans.push_back({from, hole.begin - 1});
    from = hole.end + 1;
  }
  spans.push_back({from, end});
  return spans;
}

bool LiveBuffer::isLiveWith(const LiveBuffer &other) const {
  return llvm::any_of(getSpans(), [&](const LiveSpan &own) {
    return llvm::any_of(other.getSpans(), [&](const LiveSpan &span) {
      return own.overlaps(span);
    });
  });
}

/// Ranges of bytes that are looked at for one buffer, in all orders together,
/// before no further order is tried.
static constexpr int64_t kMaxVisitedPerBuffer = 1500;

/// The plan so far once more than `maxVisited` ranges have been looked at, with
/// no bytes for the rest.
static ArenaPlan placeInOrder(ArrayRef<LiveBuffer> buffers,
                              const TimeSteps &steps, ArrayRef<size_t> order,
                              int64_t alignment, int64_t maxVisited) {
  ArenaPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  OccupiedSpace space(steps.size());
  for (size_t index : order) {
    const LiveBuffer &buffer = buffers[index];
    SmallVector<TimeSpan> spans = steps.getSpans(buffer);
    int64_t bytes = llvm::alignTo(buffer.bytes, alignment);
    int64_t offset = space.findBestFit(spans, bytes);
    for (TimeSpan span : spans)
      space.occupy(span, {offset, offset + bytes});
    plan.offsets[index] = offset;
    plan.bytes = std::max(plan.bytes, offset + buffer.bytes);
    plan.numVisited = space.getNumVisited();
    if (plan.numVisited > maxVisited)
      break;
  }
  return plan;
}

namespace {
/// The best of a few orders.
class OrderSearch {
public:
  OrderSearch(ArrayRef<LiveBuffer> buffers, int64_t alignment)
      : buffers(buffers), steps(buffers), alignment(alignment),
        maxVisited(kMaxVisitedPerBuffer *
                   static_cast<int64_t>(buffers.size())) {
    SmallVector<LiveBuffer> aligned(buffers);
    for (LiveBuffer &buffer : aligned)
      buffer.bytes = llvm::alignTo(buffer.bytes, alignment);
    least = getPeakLiveBytes(aligned);
  }

  using Key = std::pair<int64_t, int64_t>;
  void tryOrder(llvm::function_ref<Key(const LiveBuffer &)> key);
  ArenaPlan takeBest() {
    best->numVisited = numVisited;
    return std::move(*best);
  }

private:
  ArrayRef<LiveBuffer> buffers;
  TimeSteps steps;
  int64_t alignment, maxVisited;
  int64_t least;
  std::optional<ArenaPlan> best;
  int64_t numVisited = 0;
};
} // namespace

void OrderSearch::tryOrder(llvm::function_ref<Key(const LiveBuffer &)> key) {
  // No order needs fewer multiples of the alignment than are live at once.
  if (best &&
      static_cast<int64_t>(llvm::alignTo(best->bytes, alignment)) == least)
    return;
  SmallVector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(key(buffers[a]), a) < std::pair(key(buffers[b]), b);
  });
  // The first one is needed in any case.
  int64_t left =
      best ? maxVisited - numVisited : std::numeric_limits<int64_t>::max();
  ArenaPlan plan = placeInOrder(buffers, steps, order, alignment, left);
  numVisited += plan.numVisited;
  if (plan.numVisited <= left && (!best || plan.bytes < best->bytes))
    best = std::move(plan);
}

ArenaPlan amsp::planArena(ArrayRef<LiveBuffer> buffers, int64_t alignment) {
  using Key = OrderSearch::Key;
  OrderSearch search(buffers, alignment);
  search.tryOrder([](const LiveBuffer &b) { return Key(-b.bytes, b.begin); });
  search.tryOrder([](const LiveBuffer &b) { return Key(b.begin, -b.bytes); });
  search.tryOrder(
      [](const LiveBuffer &b) { return Key(b.begin - b.end, -b.bytes); });
  search.tryOrder([](const LiveBuffer &b) {
    return Key(-b.bytes * (b.end - b.begin + 1), b.begin);
  });
  return search.takeBest();
}

namespace {
/// Buffers and rows of them that have one place.
class RowPlaces {
public:
  RowPlaces(ArrayRef<LiveBuffer> buffers, ArrayRef<ArenaRow> rows);

  ArenaPlan plan(int64_t alignment) const;

private:
  void add(const LiveBuffer &buffer, size_t index);

  SmallVector<LiveBuffer> places;
  /// Of each buffer: its place, and where in it.
  SmallVector<std::pair<size_t, int64_t>> located;
};
} // namespace

/// To the last place.
void RowPlaces::add(const LiveBuffer &buffer, size_t index) {
  LiveBuffer &place = places.back();
  located[index] = {places.size() - 1, place.bytes};
  place.bytes += buffer.bytes;
  place.begin = std::min(place.begin, buffer.begin);
  place.end = std::max(place.end, buffer.end);
}

RowPlaces::RowPlaces(ArrayRef<LiveBuffer> buffers, ArrayRef<ArenaRow> rows)
    : located(buffers.size()) {
  SmallVector<const ArenaRow *> rowOf(buffers.size());
  for (const ArenaRow &row : rows)
    for (size_t index : row)
      rowOf[index] = &row;
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    const ArenaRow *row = rowOf[index];
    if (row && index != row->front())
      continue; // comes with the first one
    places.push_back({0, buffer.begin, buffer.end});
    if (!row)
      places.back().holes = buffer.holes;
    for (size_t member : row ? *row : ArenaRow{index})
      add(buffers[member], member);
  }
}

ArenaPlan RowPlaces::plan(int64_t alignment) const {
  ArenaPlan placed = planArena(places, alignment), plan;
  plan.bytes = placed.bytes;
  plan.numVisited = placed.numVisited;
  for (auto [place, offset] : located)
    plan.offsets.push_back(placed.offsets[place] + offset);
  return plan;
}

/// Adds to what is live that the buffers of a row are so from the first begin
/// to the last end, `times` (1 or -1).
static void joinLifetimes(ArrayRef<LiveBuffer> buffers, const ArenaRow &row,
                          const TimeSteps &steps, int64_t times,
                          LiveBytes &live) {
  LiveBuffer whole = buffers[row.front()];
  for (size_t index : row) {
    whole.begin = std::min(whole.begin, buffers[index].begin);
    whole.end = std::max(whole.end, buffers[index].end);
  }
  for (size_t index : row) {
    const LiveBuffer &buffer = buffers[index];
    live.add(steps.getSpan(whole.begin, whole.end), times * buffer.bytes);
    for (TimeSpan span : steps.getSpans(buffer))
      live.add(span, -times * buffer.bytes);
  }
}

/// Those wishes that leave the most live bytes as they are.
static SmallVector<SmallVector<ArenaRow>>
findFreeRows(ArrayRef<LiveBuffer> buffers,
             ArrayRef<SmallVector<ArenaRow>> wishes) {
  TimeSteps steps(buffers);
  LiveBytes live(steps.size());
  for (const LiveBuffer &buffer : buffers)
    for (TimeSpan span : steps.getSpans(buffer))
      live.add(span, buffer.bytes);
  int64_t peak = live.getPeak();
  SmallVector<SmallVector<ArenaRow>> free;
  for (const SmallVector<ArenaRow> &rows : wishes) {
    for (const ArenaRow &row : rows)
      joinLifetimes(buffers, row, steps, 1, live);
    if (live.getPeak() <= peak) {
      free.push_back(rows);
      continue;
    }
    for (const ArenaRow &row : rows)
      joinLifetimes(buffers, row, steps, -1, live);
  }
  return free;
}

namespace {
/// Grants wishes with which the arena does not grow: all of them, or those of a
/// half, as long as there are attempts.
class RowGranter {
public:
  RowGranter(ArrayRef<LiveBuffer> buffers, int64_t alignment)
      : buffers(buffers), alignment(alignment),
        plan(planArena(buffers, alignment)), limit(plan.bytes) {}

  void grant(ArrayRef<SmallVector<ArenaRow>> wishes);
  ArenaPlan takePlan() { return std::move(plan); }

private:
  static constexpr int kAttempts = 8;

  ArrayRef<LiveBuffer> buffers;
  int64_t alignment;
  ArenaPlan plan;
  int64_t limit;
  SmallVector<ArenaRow> granted;
  int attempts = kAttempts;
};
} // namespace

void RowGranter::grant(ArrayRef<SmallVector<ArenaRow>> wishes) {
  if (wishes.empty() || attempts-- <= 0)
    return;
  size_t before = granted.size();
  for (ArrayRef<ArenaRow> rows : wishes)
    granted.append(rows.begin(), rows.end());
  ArenaPlan withRows = RowPlaces(buffers, granted).plan(alignment);
  withRows.numVisited += plan.numVisited;
  if (withRows.bytes <= limit) {
    plan = std::move(withRows);
    return;
  }
  plan.numVisited = withRows.numVisited;
  granted.truncate(before);
  if (wishes.size() == 1)
    return;
  grant(wishes.take_front(wishes.size() / 2));
  grant(wishes.drop_front(wishes.size() / 2));
}

ArenaPlan amsp::planArena(ArrayRef<LiveBuffer> buffers,
                          ArrayRef<SmallVector<ArenaRow>> wishes,
                          int64_t alignment) {
  RowGranter granter(buffers, alignment);
  granter.grant(findFreeRows(buffers, wishes));
  return granter.takePlan();
}

int64_t amsp::getPeakLiveBytes(ArrayRef<LiveBuffer> buffers) {
  SmallVector<std::pair<int64_t, int64_t>> changes;
  for (const LiveBuffer &buffer : buffers) {
    for (const LiveSpan &span : buffer.getSpans()) {
      changes.emplace_back(span.begin, buffer.bytes);
      changes.emplace_back(span.end + 1, -buffer.bytes);
    }
  }
  llvm::sort(changes); // at one time, ends come before begins
  int64_t live = 0, peak = 0;
  for (auto [time, change] : changes) {
    live += change;
    peak = std::max(peak, live);
  }
  return peak;
}
