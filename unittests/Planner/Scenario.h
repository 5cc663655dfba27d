//===- Scenario.h - Clusters and models for tests of the search -*- C++ -*-===//

#ifndef AMSP_UNITTESTS_PLANNER_SCENARIO_H
#define AMSP_UNITTESTS_PLANNER_SCENARIO_H

#include "amsp/Planner/PlanSearch.h"

namespace amsp {

/// Each level has a quarter of the bandwidth of the one inside it, and five
/// times the latency.
inline Cluster makeCluster(llvm::ArrayRef<int64_t> sizes,
                           double bandwidth = 1e11, double latency = 1e-6) {
  Cluster cluster;
  for (int64_t size : sizes) {
    ClusterLevel &level = cluster.levels.emplace_back();
    level.size = size;
    level.bandwidth = bandwidth;
    level.latency = latency;
    bandwidth /= 4;
    latency *= 5;
  }
  cluster.device.emplace().memoryBandwidth = 1e12;
  return cluster;
}

/// A cluster without measurements and all that costs need.
struct Scenario {
  Scenario(llvm::ArrayRef<int64_t> sizes, int64_t microbatches,
           double bandwidth = 1e11, double latency = 1e-6)
      : space(sizes),
        collectives(makeCluster(sizes, bandwidth, latency), CollectiveTable()),
        context{space, collectives, 1e12, microbatches} {}

  unsigned getNumber(llvm::ArrayRef<int64_t> factors) const {
    return space.getNumber(factors);
  }

  StrategySpace space;
  CollectiveModel collectives;
  UnitCosts::Context context;
};

/// Mixed-precision Adam: 2 bytes each of parameters and gradients, 12 of
/// states: the value at rest and two moments.
inline PlannedParameter makeMixedPrecision(int64_t elements,
                                           int64_t gathers = 4) {
  PlannedParameter parameter;
  parameter.elements = elements;
  parameter.restBytes = 4;
  parameter.useBytes = 2;
  parameter.gradientBytes = 2;
  parameter.reductionBytes = 2;
  parameter.stateBytes = 8;
  parameter.gathers = gathers;
  return parameter;
}

inline Unit makeUnit(int64_t elements, int64_t gathers = 4) {
  return {"unit", {makeMixedPrecision(elements, gathers)}};
}

} // namespace amsp

#endif // AMSP_UNITTESTS_PLANNER_SCENARIO_H
