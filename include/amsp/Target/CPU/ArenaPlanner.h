//===- ArenaPlanner.h - Offsets for buffers with lifetimes ------*- C++ -*-===//

#ifndef AMSP_TARGET_CPU_ARENAPLANNER_H
#define AMSP_TARGET_CPU_ARENAPLANNER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace amsp {

/// From `begin` to `end`, both included.
struct LiveSpan {
  int64_t begin;
  int64_t end;

  bool overlaps(const LiveSpan &other) const {
    return begin <= other.end && other.begin <= end;
  }
};

/// A buffer that must keep its memory from `begin` to `end`, both included, but
/// for holes: within these it holds nothing that is read again.
struct LiveBuffer {
  int64_t bytes;
  int64_t begin;
  int64_t end;
  /// Ascending, apart, and between `begin` and `end`.
  llvm::SmallVector<LiveSpan, 0> holes = {};

  bool isLiveWith(const LiveBuffer &other) const;
  /// What is left between the holes, ascending.
  llvm::SmallVector<LiveSpan> getSpans() const;
};

struct ArenaPlan {
  llvm::SmallVector<int64_t> offsets; // one per buffer
  int64_t bytes = 0;                  // one past the highest byte used
  int64_t numVisited = 0;             // ranges looked at: the work done
};

/// Places the buffers so that no two that are live together overlap, each at a
/// multiple of `alignment`. Deterministic; the best of a few greedy orders,
/// of which fewer are tried where each takes long.
ArenaPlan planArena(llvm::ArrayRef<LiveBuffer> buffers, int64_t alignment = 64);

/// Buffers that are to lie behind each other, by index, in this order: their
/// first is aligned, and the row lives from its first begin to its last end,
/// without holes.
using ArenaRow = llvm::SmallVector<size_t>;

/// The same with rows, where they cost nothing: those of one wish are granted
/// together, if no more bytes are live at once with them and the arena is no
/// larger than without any. If it is with all, halves of them are tried, a few
/// times. No buffer is in two rows.
ArenaPlan planArena(llvm::ArrayRef<LiveBuffer> buffers,
                    llvm::ArrayRef<llvm::SmallVector<ArenaRow>> wishes,
                    int64_t alignment = 64);

/// Most bytes live at one time: no plan needs less.
int64_t getPeakLiveBytes(llvm::ArrayRef<LiveBuffer> buffers);

} // namespace amsp

#endif // AMSP_TARGET_CPU_ARENAPLANNER_H
