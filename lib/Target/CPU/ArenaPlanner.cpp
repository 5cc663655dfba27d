//===- ArenaPlanner.cpp - Offsets for buffers with lifetimes --------------===//

#include "amsp/Target/CPU/ArenaPlanner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace amsp;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
struct PlacedBuffer {
  int64_t offset;
  size_t index;
};
} // namespace

/// The smallest gap that holds `buffer` between those live with it; above all
/// of them if there is none.
static int64_t findBestFit(ArrayRef<LiveBuffer> buffers,
                           ArrayRef<PlacedBuffer> placedByOffset,
                           const LiveBuffer &buffer, int64_t alignment) {
  int64_t bestOffset = -1, bestGap = 0, gapBegin = 0;
  for (const PlacedBuffer &placed : placedByOffset) {
    const LiveBuffer &other = buffers[placed.index];
    if (!other.isLiveWith(buffer))
      continue;
    int64_t gap = placed.offset - gapBegin;
    if (gap >= buffer.bytes && (bestOffset < 0 || gap < bestGap)) {
      bestOffset = gapBegin;
      bestGap = gap;
    }
    gapBegin = std::max<int64_t>(
        gapBegin, llvm::alignTo(placed.offset + other.bytes, alignment));
  }
  return bestOffset < 0 ? gapBegin : bestOffset;
}

static ArenaPlan placeInOrder(ArrayRef<LiveBuffer> buffers,
                              ArrayRef<size_t> order, int64_t alignment) {
  ArenaPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  SmallVector<PlacedBuffer> placedByOffset;
  for (size_t index : order) {
    const LiveBuffer &buffer = buffers[index];
    int64_t offset = findBestFit(buffers, placedByOffset, buffer, alignment);
    plan.offsets[index] = offset;
    plan.bytes = std::max(plan.bytes, offset + buffer.bytes);
    auto *position = llvm::upper_bound(
        placedByOffset, offset, [](int64_t value, const PlacedBuffer &placed) {
          return value < placed.offset;
        });
    placedByOffset.insert(position, {offset, index});
  }
  return plan;
}

ArenaPlan amsp::planArena(ArrayRef<LiveBuffer> buffers, int64_t alignment) {
  using Key = std::pair<int64_t, int64_t>;
  auto bySize = [](const LiveBuffer &b) { return Key(-b.bytes, b.begin); };
  auto byTime = [](const LiveBuffer &b) { return Key(b.begin, -b.bytes); };
  auto byLifetime = [](const LiveBuffer &b) {
    return Key(b.begin - b.end, -b.bytes);
  };
  auto byArea = [](const LiveBuffer &b) {
    return Key(-b.bytes * (b.end - b.begin + 1), b.begin);
  };
  std::optional<ArenaPlan> best;
  SmallVector<LiveBuffer> aligned(buffers);
  for (LiveBuffer &buffer : aligned)
    buffer.bytes = llvm::alignTo(buffer.bytes, alignment);
  int64_t least = getPeakLiveBytes(aligned);
  auto tryOrder = [&](llvm::function_ref<Key(const LiveBuffer &)> key) {
    // No order needs fewer multiples of the alignment than are live at once.
    if (best &&
        static_cast<int64_t>(llvm::alignTo(best->bytes, alignment)) == least)
      return;
    SmallVector<size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](size_t a, size_t b) {
      return std::pair(key(buffers[a]), a) < std::pair(key(buffers[b]), b);
    });
    ArenaPlan plan = placeInOrder(buffers, order, alignment);
    if (!best || plan.bytes < best->bytes)
      best = std::move(plan);
  };
  tryOrder(bySize);
  tryOrder(byTime);
  tryOrder(byLifetime);
  tryOrder(byArea);
  return *best;
}

namespace {
/// Buffers and rows of them that have one place.
class RowPlaces {
public:
  RowPlaces(ArrayRef<LiveBuffer> buffers, ArrayRef<ArenaRow> rows);

  ArrayRef<LiveBuffer> get() const { return places; }
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
    for (size_t member : row ? *row : ArenaRow{index})
      add(buffers[member], member);
  }
}

ArenaPlan RowPlaces::plan(int64_t alignment) const {
  ArenaPlan placed = planArena(places, alignment), plan;
  plan.bytes = placed.bytes;
  for (auto [place, offset] : located)
    plan.offsets.push_back(placed.offsets[place] + offset);
  return plan;
}

ArenaPlan amsp::planArena(ArrayRef<LiveBuffer> buffers,
                          ArrayRef<SmallVector<ArenaRow>> wishes,
                          int64_t alignment) {
  ArenaPlan plan = planArena(buffers, alignment);
  int64_t peak = getPeakLiveBytes(buffers);
  SmallVector<ArenaRow> granted;
  for (ArrayRef<ArenaRow> rows : wishes) {
    size_t before = granted.size();
    granted.append(rows.begin(), rows.end());
    if (getPeakLiveBytes(RowPlaces(buffers, granted).get()) > peak)
      granted.truncate(before);
  }
  if (granted.empty())
    return plan;
  ArenaPlan withRows = RowPlaces(buffers, granted).plan(alignment);
  return withRows.bytes <= plan.bytes ? withRows : plan;
}

int64_t amsp::getPeakLiveBytes(ArrayRef<LiveBuffer> buffers) {
  SmallVector<std::pair<int64_t, int64_t>> changes;
  for (const LiveBuffer &buffer : buffers) {
    changes.emplace_back(buffer.begin, buffer.bytes);
    changes.emplace_back(buffer.end + 1, -buffer.bytes);
  }
  llvm::sort(changes); // at one time, ends come before begins
  int64_t live = 0, peak = 0;
  for (auto [time, change] : changes) {
    live += change;
    peak = std::max(peak, live);
  }
  return peak;
}
