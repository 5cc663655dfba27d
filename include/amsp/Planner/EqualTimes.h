//===- EqualTimes.h - Times that count as equal -----------------*- C++ -*-===//

#ifndef AMSP_PLANNER_EQUALTIMES_H
#define AMSP_PLANNER_EQUALTIMES_H

#include "llvm/ADT/ArrayRef.h"
#include <algorithm>

namespace amsp {

/// Plans whose times differ by no more than this share count as equally fast;
/// the one with the smaller groups, or of which less is written anew, wins.
inline constexpr double kEqualTimes = 0.01;

/// The first of the times that count as equal to the least one. So what is
/// chosen is within 1 % of the fastest, however many there are in between.
/// There is at least one.
inline size_t getFirstOfFastest(llvm::ArrayRef<double> seconds) {
  double least = *std::min_element(seconds.begin(), seconds.end());
  const double *first =
      std::find_if(seconds.begin(), seconds.end(), [&](double time) {
        return time <= least * (1 + kEqualTimes);
      });
  return static_cast<size_t>(first - seconds.begin());
}

} // namespace amsp

#endif // AMSP_PLANNER_EQUALTIMES_H
