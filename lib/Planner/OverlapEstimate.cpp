//===- OverlapEstimate.cpp - A step whose collectives overlap -------------===//

#include "amsp/Planner/OverlapEstimate.h"
#include <algorithm>

double amsp::overlap(double compute, double communication,
                     double interference) {
  double slowed = compute + communication * interference / (1 + interference);
  return std::max(communication, slowed);
}

double amsp::estimateOverlappedStep(const StepTimes &times) {
  auto pass = [&](double compute, double communication) {
    return overlap(compute, communication, times.interference);
  };
  double gathers = times.useGathers / 2;
  double forward = pass(times.forward, gathers);
  double backward = pass(times.backward, gathers + times.reductions);
  double first = pass(times.forward, gathers + times.firstGathers);
  double last =
      pass(times.backward, gathers + times.reductions + times.lastReductions);
  auto others = static_cast<double>(times.microbatches - 1);
  double ends = times.firstGathers + gathers + times.lastReductions +
                times.reductions * static_cast<double>(times.microbatches);
  return first + last + others * (forward + backward) + times.update +
         ends / static_cast<double>(times.units);
}
