//===- OccupiedSpace.cpp - Which bytes of an arena are taken when ---------===//

#include "OccupiedSpace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace amsp;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Ranges and times
//===----------------------------------------------------------------------===//

void ByteRanges::insert(ByteRange range) {
  // Those that it overlaps or touches become one with it.
  auto *first = llvm::lower_bound(
      ranges, range.begin,
      [](const ByteRange &r, int64_t begin) { return r.end < begin; });
  auto *last = first;
  for (; last != ranges.end() && last->begin <= range.end; ++last) {
    range.begin = std::min(range.begin, last->begin);
    range.end = std::max(range.end, last->end);
  }
  if (first == last) {
    ranges.insert(first, range);
    return;
  }
  *first = range;
  ranges.erase(first + 1, last);
}

TimeSteps::TimeSteps(ArrayRef<LiveBuffer> buffers) {
  for (const LiveBuffer &buffer : buffers)
    for (const LiveSpan &span : buffer.getSpans())
      times.append({span.begin, span.end});
  llvm::sort(times);
  times.erase(llvm::unique(times), times.end());
}

TimeSpan TimeSteps::getSpan(int64_t begin, int64_t end) const {
  auto find = [&](int64_t time) -> size_t {
    return llvm::lower_bound(times, time) - times.begin();
  };
  return {find(begin), find(end)};
}

llvm::SmallVector<TimeSpan>
TimeSteps::getSpans(const LiveBuffer &buffer) const {
  return llvm::map_to_vector(buffer.getSpans(), [&](const LiveSpan &span) {
    return getSpan(span.begin, span.end);
  });
}

//===----------------------------------------------------------------------===//
// Trees over time
//===----------------------------------------------------------------------===//

// Node 1 is the root, 2n and 2n + 1 are the children of n.

static size_t countNodes(size_t numSteps) {
  return numSteps == 0 ? 0 : 2 * llvm::PowerOf2Ceil(numSteps);
}

static bool isInside(TimeSpan steps, TimeSpan span) {
  return span.first <= steps.first && steps.last <= span.last;
}

/// Calls `visit` for the children that have steps of the span.
template <typename Visit>
static void forEachChild(size_t node, TimeSpan steps, TimeSpan span,
                         Visit visit) {
  size_t middle = steps.first + (steps.last - steps.first) / 2;
  if (span.first <= middle)
    visit(2 * node, TimeSpan{steps.first, middle});
  if (span.last > middle)
    visit(2 * node + 1, TimeSpan{middle + 1, steps.last});
}

OccupiedSpace::OccupiedSpace(size_t numSteps)
    : numSteps(numSteps), nodes(countNodes(numSteps)) {}

void OccupiedSpace::occupy(TimeSpan span, ByteRange range) {
  if (range.begin < range.end)
    occupy(1, {0, numSteps - 1}, span, range);
}

void OccupiedSpace::occupy(size_t node, TimeSpan steps, TimeSpan span,
                           ByteRange range) {
  insert(nodes[node].sometimes, range);
  if (isInside(steps, span))
    return insert(nodes[node].always, range);
  forEachChild(node, steps, span, [&](size_t child, TimeSpan part) {
    occupy(child, part, span, range);
  });
}

void OccupiedSpace::insert(ByteRanges &ranges, ByteRange range) {
  numVisited += ranges.get().size() + 1;
  ranges.insert(range);
}

void OccupiedSpace::append(const ByteRanges &ranges) {
  numVisited += ranges.get().size();
  llvm::append_range(collected, ranges.get());
}

void OccupiedSpace::collect(size_t node, TimeSpan steps, TimeSpan span) {
  if (isInside(steps, span))
    return append(nodes[node].sometimes);
  append(nodes[node].always);
  forEachChild(node, steps, span, [&](size_t child, TimeSpan part) {
    collect(child, part, span);
  });
}

int64_t OccupiedSpace::findBestFit(ArrayRef<TimeSpan> spans, int64_t bytes) {
  collected.clear();
  for (TimeSpan span : spans)
    collect(1, {0, numSteps - 1}, span);
  llvm::sort(collected, [](const ByteRange &a, const ByteRange &b) {
    return a.begin < b.begin;
  });
  std::optional<ByteRange> best;
  int64_t gapBegin = 0;
  for (const ByteRange &taken : collected) {
    int64_t gap = taken.begin - gapBegin;
    if (gap >= bytes && (!best || gap < best->end - best->begin))
      best = {gapBegin, taken.begin};
    gapBegin = std::max(gapBegin, taken.end);
  }
  return best ? best->begin : gapBegin;
}

LiveBytes::LiveBytes(size_t numSteps)
    : numSteps(numSteps), nodes(countNodes(numSteps)) {}

void LiveBytes::add(TimeSpan span, int64_t bytes) {
  add(1, {0, numSteps - 1}, span, bytes);
}

void LiveBytes::add(size_t node, TimeSpan steps, TimeSpan span, int64_t bytes) {
  if (isInside(steps, span)) {
    nodes[node].common += bytes;
    nodes[node].peak += bytes;
    return;
  }
  forEachChild(node, steps, span, [&](size_t child, TimeSpan part) {
    add(child, part, span, bytes);
  });
  nodes[node].peak = nodes[node].common +
                     std::max(nodes[2 * node].peak, nodes[2 * node + 1].peak);
}
