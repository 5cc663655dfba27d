//===- AchievedCurve.h - Shares of the peak by operations -------*- C++ -*-===//

#ifndef AMSP_PLACEMENT_ACHIEVEDCURVE_H
#define AMSP_PLACEMENT_ACHIEVEDCURVE_H

#include "amsp/Placement/Cluster.h"
#include <cmath>

namespace amsp {

/// The largest share that a contraction of more operations than `last` may
/// achieve: between the two, where shares are linear in the logarithm of the
/// operations, one of more operations never takes less time.
inline double getLargestShare(const AchievedRate &last, double operations) {
  return last.share * (1 + std::log(operations / last.operations));
}

} // namespace amsp

#endif // AMSP_PLACEMENT_ACHIEVEDCURVE_H
