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
  double compute = 0;
  amsp::TransferTime communication;
  /// Of them, a unit's share of which nothing hides.
  double computeEnds = 0, communicationEnds = 0;
};
} // namespace

/// The longer of both: compute that waits for communication at its ends, or
/// communication that does for compute.
static double getSeconds(const Pass &pass, const amsp::StepTimes &times) {
  auto units = static_cast<double>(times.units);
  double communication = pass.communication.getPipelined(
      times.evenUnits > 0 ? times.evenUnits : units);
  double slowed =
      amsp::overlap(pass.compute, communication, times.interference);
  if (slowed > communication)
    slowed += pass.communicationEnds / units;
  return std::max(slowed, communication + pass.computeEnds / units);
}

double amsp::estimateOverlappedStep(const StepTimes &times) {
  auto count = static_cast<double>(times.microbatches);
  Pass forward{times.forward, {}, 0, 0}, backward{times.backward, {}, 0, 0};
  forward.communication.add(times.useGathers, 0.5);
  backward.communication = forward.communication;
  backward.communication.add(times.reductions);
  backward.communicationEnds = times.reductions.seconds;
  if (times.isLoop) {
    // Each iteration begins and ends with nothing under way.
    forward.communicationEnds = times.useGathers.seconds / 2;
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
    beside += times.firstGathers.seconds + times.lastReductions.seconds;
  } else {
    first.communication.add(times.firstGathers);
    last.communication.add(times.lastReductions);
    last.communicationEnds += times.lastReductions.seconds;
  }
  first.communicationEnds = first.communication.seconds;
  return getSeconds(first, times) + between + getSeconds(last, times) + beside;
}
