//===- OverlapPlan.h - When collectives start and are awaited ---*- C++ -*-===//
//
// Decides, for the ops of one block, before which op each collective starts and
// before which it is awaited. Ops keep their order.
//
// Collectives run on two channels, gathers and reductions, each in the order of
// its starts. Gathers start so early that their transfers are done when the
// first op needs them, in the order of that need; reductions as soon as what
// they read is made, but behind gathers that they would make late, and are
// awaited where the first op needs them. The bytes in flight never exceed a
// bound, of which each channel has its share: a gather then starts later, and
// the oldest reductions are awaited earlier.
//
// A gather that is needed behind a loop with collectives of its own starts
// behind it, too, unless it would be late there by more than half its time: in
// front of the loop it delays what that gathers first, and it takes bytes from
// all iterations.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_COMMUNICATION_OVERLAPPLAN_H
#define AMSP_COMMUNICATION_OVERLAPPLAN_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace amsp {

/// A collective of a block. Position p stands for the place before op p; the
/// last position is the one before the terminator.
struct OverlapCollective {
  bool isGather = false;
  /// What it holds between start and await.
  int64_t bytes = 0;
  /// How long it takes alone.
  double seconds = 0;
  /// The first position at which the ops that it reads from have run.
  int64_t ready = 0;
  /// The position of the first op that needs a result.
  int64_t deadline = 0;
  /// Collectives whose results it reads, all listed before it.
  llvm::SmallVector<unsigned, 2> after;
};

struct OverlapProblem {
  /// Time of each op, without the terminator.
  std::vector<double> seconds;
  /// For each op, the bytes that collectives inside of it need in flight.
  std::vector<int64_t> nestedBytes;
  /// Positions of ops that start collectives of their own, ascending.
  std::vector<int64_t> loops;
  /// In program order.
  std::vector<OverlapCollective> collectives;
  /// Start gathers as early as the bound lets them, not just in time.
  bool isEager = false;
};

struct OverlapEvent {
  int64_t position;
  unsigned collective;
  bool isStart; // else an await
};

struct OverlapPlan {
  /// In program order, those of a position before its op.
  std::vector<OverlapEvent> events;
  /// For each op, the bytes in flight while it runs.
  std::vector<int64_t> bytesOver;
  /// The most bytes in flight, without those of nested collectives.
  int64_t peakBytes = 0;
  /// What the bound costs: gathers that start later than in time, and
  /// reductions that are awaited before their results are needed.
  int64_t lateGathers = 0, earlyAwaits = 0;
};

/// The smallest bound that a block can keep: its largest gather and its largest
/// reduction, or what an op of it needs inside.
int64_t getLeastBytesInFlight(const OverlapProblem &problem);

/// `bound` is at least getLeastBytesInFlight.
OverlapPlan planOverlap(const OverlapProblem &problem, int64_t bound);

} // namespace amsp

#endif // AMSP_COMMUNICATION_OVERLAPPLAN_H
