//===- OccupiedSpace.h - Which bytes of an arena are taken when -*- C++ -*-===//

#ifndef AMSP_LIB_TARGET_CPU_OCCUPIEDSPACE_H
#define AMSP_LIB_TARGET_CPU_OCCUPIEDSPACE_H

#include "amsp/Target/CPU/ArenaPlanner.h"

namespace amsp {

/// Bytes from `begin` up to `end`.
struct ByteRange {
  int64_t begin;
  int64_t end;
};

/// Disjoint ranges that do not touch, in order.
class ByteRanges {
public:
  void insert(ByteRange range);
  llvm::ArrayRef<ByteRange> get() const { return ranges; }

private:
  llvm::SmallVector<ByteRange, 0> ranges;
};

/// The first and the last time step of a part of a lifetime, among the times at
/// which any begins or ends.
struct TimeSpan {
  size_t first;
  size_t last;
};

/// Those times.
class TimeSteps {
public:
  explicit TimeSteps(llvm::ArrayRef<LiveBuffer> buffers);
  size_t size() const { return times.size(); }
  TimeSpan getSpan(int64_t begin, int64_t end) const;
  /// Of the buffer, without its holes.
  llvm::SmallVector<TimeSpan> getSpans(const LiveBuffer &buffer) const;

private:
  llvm::SmallVector<int64_t> times;
};

/// The bytes of an arena that are taken at each time. A binary tree over the
/// time steps: each node has the bytes taken in all of its steps by buffers
/// that its parent does not have, and those taken in any. Deep models have many
/// buffers that live long, but they lie next to each other: few ranges of
/// bytes, so that a query does not look at all buffers that are live.
class OccupiedSpace {
public:
  explicit OccupiedSpace(size_t numSteps);

  void occupy(TimeSpan span, ByteRange range);
  /// The start of the smallest gap of at least `bytes` between what is taken
  /// at some time of the spans; the end of all of that if there is none.
  int64_t findBestFit(llvm::ArrayRef<TimeSpan> spans, int64_t bytes);

  /// Ranges looked at so far: the work done.
  int64_t getNumVisited() const { return numVisited; }

private:
  struct Node {
    ByteRanges always, sometimes;
  };

  void occupy(size_t node, TimeSpan steps, TimeSpan span, ByteRange range);
  void collect(size_t node, TimeSpan steps, TimeSpan span);
  void insert(ByteRanges &ranges, ByteRange range);
  void append(const ByteRanges &ranges);

  size_t numSteps;
  std::vector<Node> nodes;
  llvm::SmallVector<ByteRange> collected;
  int64_t numVisited = 0;
};

/// How many bytes are live at each time, and the most of them.
class LiveBytes {
public:
  explicit LiveBytes(size_t numSteps);

  /// `bytes` may be negative.
  void add(TimeSpan span, int64_t bytes);
  int64_t getPeak() const { return nodes.empty() ? 0 : nodes[1].peak; }

private:
  struct Node {
    /// Of all steps of this node, not counted in its children.
    int64_t common = 0;
    int64_t peak = 0;
  };

  void add(size_t node, TimeSpan steps, TimeSpan span, int64_t bytes);

  size_t numSteps;
  std::vector<Node> nodes;
};

} // namespace amsp

#endif // AMSP_LIB_TARGET_CPU_OCCUPIEDSPACE_H
