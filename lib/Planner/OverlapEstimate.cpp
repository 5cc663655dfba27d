//===- OverlapEstimate.cpp - A step whose collectives overlap -------------===//

#include "amsp/Planner/OverlapEstimate.h"
#include <algorithm>

double amsp::overlap(double compute, double communication,
                     double interference) {
  double slowed = compute + communication * interference / (1 + interference);
  return std::max(communication, slowed);
}

namespace {
/// One pass of a microbatch.
struct Pass {
  double compute = 0, communication = 0;
  /// Of them, a unit's share of which nothing hides.
  double computeEnds = 0, communicationEnds = 0;
};
} // namespace

/// The longer of both: compute that waits for communication at its ends, or
/// communication that does for compute.
static double getSeconds(const Pass &pass, const amsp::StepTimes &times) {
  auto units = static_cast<double>(times.units);
  double slowed =
      amsp::overlap(pass.compute, pass.communication, times.interference);
  if (slowed > pass.communication)
    slowed += pass.communicationEnds / units;
  return std::max(slowed, pass.communication + pass.computeEnds / units);
}

double amsp::estimateOverlappedStep(const StepTimes &times) {
  double gathers = times.useGathers / 2;
  double reductions = times.reductions;
  auto count = static_cast<double>(times.microbatches);
  Pass forward{times.forward, gathers, 0, 0};
  Pass backward{times.backward, gathers + reductions, 0, reductions};
  if (times.isLoop) {
    // Each iteration begins and ends with nothing under way.
    forward.communicationEnds = gathers;
    forward.computeEnds = times.forward;
    backward.computeEnds = times.backward;
  }
  double between =
      (count - 1) * (getSeconds(forward, times) + getSeconds(backward, times));
  double beside = times.update;
  Pass first = forward, last = backward;
  first.computeEnds = times.forward;
  last.computeEnds = times.backward;
  if (times.isLoop && !times.isPeeled) {
    beside += times.firstGathers + times.lastReductions;
  } else {
    first.communication += times.firstGathers;
    last.communication += times.lastReductions;
    last.communicationEnds += times.lastReductions;
  }
  first.communicationEnds = first.communication;
  return getSeconds(first, times) + between + getSeconds(last, times) + beside;
}
