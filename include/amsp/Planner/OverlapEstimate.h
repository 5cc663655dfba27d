//===- OverlapEstimate.h - A step whose collectives overlap -----*- C++ -*-===//

#ifndef AMSP_PLANNER_OVERLAPESTIMATE_H
#define AMSP_PLANNER_OVERLAPESTIMATE_H

#include "amsp/Planner/TransferTime.h"
#include <cstdint>

namespace amsp {

/// Sums of a step, in seconds; collectives alone on their links.
struct StepTimes {
  int64_t microbatches = 1;
  /// Layers or the like: gathers run one ahead, reductions one behind.
  int64_t units = 1;
  /// As many as of the largest; 0: `units`. The largest one's transfers, one
  /// after the other, run beside none of its own.
  double evenUnits = 0;
  double forward = 0, backward = 0; // compute of a microbatch
  TransferTime firstGathers;        // before the first uses in a step
  TransferTime useGathers;          // of a microbatch, half of them backward
  TransferTime reductions;          // of each microbatch
  TransferTime lastReductions;      // more in the last microbatch
  double update = 0;
  double interference = 0; // as of the cluster
  /// Microbatches are iterations of a loop, which do not overlap each other or
  /// what comes before and after. If it is peeled, the first gathers overlap
  /// with the first one, and the last reductions with the last one.
  bool isLoop = false, isPeeled = false;
};

/// Seconds of compute and communication that run at the same time: the longer
/// of communication, and compute that communication slows down.
double overlap(double compute, double communication, double interference);

/// An estimate of the simulated step without a schedule: each pass of a
/// microbatch overlaps with its collectives as if they could start at once;
/// exposed are besides the first gather and the last reduction of each pass
/// that has some, a unit's share. It orders strategies as the simulation does,
/// but for those that are nearly equal.
double estimateOverlappedStep(const StepTimes &times);

} // namespace amsp

#endif // AMSP_PLANNER_OVERLAPESTIMATE_H
