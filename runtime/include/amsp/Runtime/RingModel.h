//===- RingModel.h - Time of a collective that a ring carries ---*- C++ -*-===//
//
// One formula for what predicts (the planner's cost model) and what imitates
// (slowed links of the threads transport). Everything is innermost level first.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_RUNTIME_RINGMODEL_H
#define AMSP_RUNTIME_RINGMODEL_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace amsp::runtime {

/// The links between the members of one level (docs/formats.md, "The cluster").
struct LinkLevel {
  int64_t size = 1;
  double bandwidth = 0;  // bytes/s of one member, shared by the ranks inside it
  double latency = 0;    // s
  double congestion = 0; // share added for each doubling of the members
};

/// Multiplies into `members` how many members of each level a group has, whose
/// digits (of any type with stride and size) may each span several levels.
template <typename Digits, typename Sizes, typename Members>
void addMembersByLevel(const Digits &digits, const Sizes &sizes,
                       Members &members) {
  for (const auto &digit : digits) {
    int64_t first = digit.stride, last = digit.stride * digit.size;
    int64_t stride = 1;
    for (size_t level = 0; level < sizes.size(); ++level) {
      int64_t next = stride * sizes[level];
      // The part of the digit's range that lies within the level's.
      int64_t from = std::max(first, stride), to = std::min(last, next);
      if (from < to)
        members[level] *= to / from;
      stride = next;
    }
  }
}

/// What a collective sends: each piece to every member once (all_gather,
/// reduce_scatter), twice (all_reduce), or to one member only (all_to_all).
enum class Traffic { OnePass, TwoPasses, Exchange };

/// Seconds of a collective of so many bytes (of the full buffer) over a group
/// with so many `members` of each level: a ring over the whole group, the ranks
/// of a member one after the other. Every link carries (n-1)/n of the bytes
/// (all_reduce: twice that); the slowest link counts, slowed by its level's
/// congestion for each doubling of the members, and shared by the sibling
/// groups that run the same collective at the same time. Each hop adds its
/// level's latency. all_reduce of small buffers goes over a tree: twice the
/// latency for each doubling. all_to_all cannot share what crosses a level's
/// links: with b ranks of the group in each of its m members there, a member
/// sends b^2 (m-1)/n of the bytes to the others. Zero for a group of one rank.
template <typename Members, typename Levels>
double getRingSeconds(Traffic traffic, double bytes, const Members &members,
                      const Levels &levels) {
  size_t used = levels.size();
  while (used > 0 && members[used - 1] == 1)
    --used;
  int64_t ranks = 1;
  for (size_t level = 0; level < used; ++level)
    ranks *= members[level];
  if (ranks == 1)
    return 0;
  auto size = static_cast<double>(ranks);
  bool isAllReduce = traffic == Traffic::TwoPasses;
  double passes = isAllReduce ? 2 : 1;
  // The slowest link's time for a byte of the buffer.
  double slowest = 0, ring = 0, tree = 0;
  // Members of the level in the whole group, and groups that share a member's
  // links.
  int64_t inGroup = ranks, siblings = 1;
  for (size_t index = 0; index < used; ++index) {
    const LinkLevel &level = levels[index];
    double doublings = std::log2(static_cast<double>(members[index]));
    if (members[index] > 1) {
      double congestion = 1 + level.congestion * doublings;
      int64_t below = ranks / inGroup;
      int64_t crossing = below * below * (members[index] - 1);
      double share = traffic == Traffic::Exchange
                         ? static_cast<double>(crossing) / size
                         : passes * (size - 1) / size;
      slowest = std::max(slowest, share * static_cast<double>(siblings) *
                                      congestion / level.bandwidth);
      // The others of the hops between members belong to the levels above.
      int64_t hops = inGroup - inGroup / members[index];
      ring += static_cast<double>(hops) * level.latency;
      tree += 2 * std::ceil(doublings) * level.latency;
    }
    inGroup /= members[index];
    siblings *= level.size / members[index];
  }
  return bytes * slowest + (isAllReduce ? std::min(2 * ring, tree) : ring);
}

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_RINGMODEL_H
