//===- TransferTime.h - Times of transfers that may overlap -----*- C++ -*-===//

#ifndef AMSP_PLANNER_TRANSFERTIME_H
#define AMSP_PLANNER_TRANSFERTIME_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>

namespace amsp {

/// Seconds of transfers one after the other, and for how long they keep busy
/// what only one of them has at a time: the channel of gathers, that of
/// reductions, and the links of each level, innermost first. Transfers on
/// different ones run at the same time. Where nothing is said of these, all
/// share one.
struct TransferTime {
  static constexpr size_t kGatherChannel = 0, kReduceChannel = 1,
                          kFirstLevel = 2;

  double seconds = 0;
  llvm::SmallVector<double, 0> busy;

  TransferTime(double seconds = 0) : seconds(seconds) {}

  /// What they take if so many units' transfers, each one after the other, run
  /// beside each other where they may, as stages of a pipeline do.
  double getPipelined(double units) const {
    if (busy.empty())
      return seconds;
    double longest = *std::max_element(busy.begin(), busy.end());
    return longest + std::max(0.0, seconds - longest) / units;
  }
  /// `times` of the other, too.
  void add(const TransferTime &other, double times = 1) {
    // Of what is not told apart, nothing is known of both together.
    bool isKnown = seconds == 0 || !busy.empty();
    bool isOtherKnown = other.seconds == 0 || !other.busy.empty();
    seconds += times * other.seconds;
    if (!isKnown || !isOtherKnown)
      return busy.clear();
    busy.resize(std::max(busy.size(), other.busy.size()));
    for (auto [index, of] : llvm::enumerate(other.busy))
      busy[index] += times * of;
  }
};

} // namespace amsp

#endif // AMSP_PLANNER_TRANSFERTIME_H
