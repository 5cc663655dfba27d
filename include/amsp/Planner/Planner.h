//===- Planner.h - Plans a step for a cluster -------------------*- C++ -*-===//

#ifndef AMSP_PLANNER_PLANNER_H
#define AMSP_PLANNER_PLANNER_H

#include "amsp/Planner/PlanFile.h"
#include "amsp/Planner/PlanSearch.h"
#include "amsp/Planner/StepModel.h"
#include <limits>

namespace amsp {

/// What the compiler makes of a step's collectives.
struct CollectivePasses {
  bool fuse = false, decompose = false;
  OverlapSet overlap = {false, false, false};
  bool peel = false;     // the first and the last microbatch out of their loop
  bool pipeline = false; // layers in a loop one ahead and one behind
  WireFormat wire = {};
};

/// What was found for a step on a cluster.
struct Plan {
  CollectiveModel collectives;
  StepModel model;
  StrategySpace space;
  /// All strategies for the whole model, the best first.
  std::vector<Candidate> candidates;
  /// What a strategy of its own for each unit would bring.
  UnitPlan unitPlan;
  double unitPlanSeconds = 0; // of a step
  /// Of the fastest plan of both kinds; infinite if none fits.
  double fastestSeconds = std::numeric_limits<double>::infinity();
  double memoryLimit = 0;
  /// Bytes that every plan needs, parameters at their uses included.
  double commonBytes = 0;
  /// Costs of a step's units are of this context.
  double memoryBandwidth = 0;
  double interference = 0;
  CollectivePasses passes = {};
  double updateScale = 1; // see UnitCosts::Context
  /// Of the step's units.
  std::optional<ModelCosts> costs = std::nullopt;

  double getCommonBytes() const { return commonBytes; }
  UnitCosts::Context getContext() const;
  /// Seconds of a step and bytes of a rank if each unit of the model has the
  /// given strategy, by the model of the search.
  std::pair<double, double> estimate(llvm::ArrayRef<FactorChain> chains) const;
  std::pair<double, double> estimate(llvm::ArrayRef<StepUnit> units,
                                     llvm::ArrayRef<Strategy> strategies) const;

  const Candidate &getBest() const { return candidates.front(); }
  Strategy getStrategy(const Candidate &candidate) const {
    auto [p, g, os] = candidate.chain;
    return space.getStrategy(p, g, os);
  }
  /// What takes as long under every strategy: compute, behind which collectives
  /// hide, and collectives of losses, norms and other state.
  double getComputeSeconds() const {
    return model.costs.computeSeconds - model.costs.updateSeconds;
  }
  double getOtherSeconds() const {
    return passes.fuse ? model.fusedOtherSeconds : model.otherSeconds;
  }
  double getCommonSeconds() const {
    return getComputeSeconds() + getOtherSeconds();
  }
  /// Seconds of a step.
  double getStepSeconds(const Candidate &candidate) const {
    return getCommonSeconds() + candidate.getSeconds();
  }
  /// Seconds of a step if each unit has the strategy of `unitPlan`.
  double getUnitPlanSeconds() const { return unitPlanSeconds; }
  /// True if the best strategy for all units is slower than the fastest plan by
  /// more than the share that counts as equal, so that each has one of its own.
  bool areUnitsBetter() const {
    return unitPlan.fits && getStepSeconds(getBest()) > getSlowestEqual();
  }
  /// The time up to which plans count as equal to the fastest.
  double getSlowestEqual() const { return fastestSeconds * (1 + kEqualTimes); }
  /// The chosen strategy of each unit.
  std::vector<Strategy> getStrategies(llvm::ArrayRef<StepUnit> units) const;
  /// The candidate of a strategy. With one microbatch, that of `g` as `p`.
  const Candidate &getCandidate(const Strategy &strategy) const;
};

/// Searches the plans of a step for a cluster that is fit for planning.
/// `memoryLimit`: bytes of a rank. `shardedBytes`: what a rank of the compiled
/// step needs if everything is sharded; without it, that is estimated. No
/// strategy may fit.
Plan searchPlans(const StepModel &model, const CollectiveModel &collectives,
                 const Cluster &cluster, double memoryLimit,
                 std::optional<double> shardedBytes,
                 const CollectivePasses &passes);

/// `p=4x1,g=4x1,os=8x2`, as `--strategy` reads it.
std::string formatStrategy(const Strategy &strategy);

/// `1.50 GB`
std::string formatBytes(double bytes);

} // namespace amsp

#endif // AMSP_PLANNER_PLANNER_H
