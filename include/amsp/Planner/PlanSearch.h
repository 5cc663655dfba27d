//===- PlanSearch.h - The best strategies of a model ------------*- C++ -*-===//

#ifndef AMSP_PLANNER_PLANSEARCH_H
#define AMSP_PLANNER_PLANSEARCH_H

#include "amsp/Planner/EqualTimes.h"
#include "amsp/Planner/UnitCosts.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace amsp {

/// A chain of factors, by their numbers in the space.
struct FactorChain {
  unsigned p = 0, g = 0, os = 0;

  bool operator==(const FactorChain &other) const {
    return std::tie(p, g, os) == std::tie(other.p, other.g, other.os);
  }
};

/// Calls `visit` for all strategies of a space. With one microbatch a gradient
/// is not kept, so g is written as p.
void forEachChain(const StrategySpace &space, int64_t microbatches,
                  llvm::function_ref<void(FactorChain)> visit);

/// Units of equal parameters: the costs of one of them, and their numbers.
struct EqualUnits {
  UnitCosts costs;
  llvm::SmallVector<unsigned> units;
};

/// The costs of a model's units for every strategy, of equal ones once: what a
/// search asks of the collectives.
struct ModelCosts {
  ModelCosts(llvm::ArrayRef<Unit> units, const UnitCosts::Context &context);

  /// Of all units, with one strategy for all.
  UnitCosts getSum(const UnitCosts::Context &context) const;

  /// In an order that depends on the shapes only, as rounding and ties may.
  std::vector<EqualUnits> groups;
  size_t numUnits = 0;
  /// Times of collectives that were asked of the model.
  int64_t evaluations = 0;
};

/// Seconds of what a strategy decides in a step; collectives alone on their
/// links.
struct StrategyTimes {
  double gathers = 0, reductions = 0, updates = 0;
  double accumulations = 0; // of gradients, over microbatches
  /// What of the collectives may overlap: of once a step, and of each
  /// microbatch.
  TransferTime firstGathers, useGathers;
  TransferTime lastReductions, eachReductions;

  void add(const UnitCosts &costs, const FactorChain &chain);
  double getCollectives() const { return gathers + reductions; }
};

/// Seconds of its collectives that hide behind `computeSeconds` of compute, by
/// the estimate of OverlapEstimate.h; none if the context does not overlap. A
/// third of the compute is the forward pass.
double estimateHidden(const StrategyTimes &times,
                      const UnitCosts::Context &context, double computeSeconds);

/// One strategy for a whole model.
struct Candidate {
  FactorChain chain;
  UnitMemory memory;
  /// All memory of a rank in bytes: `memory` and what does not depend on the
  /// strategy, or only on whether parameters are gathered at each use.
  double bytes = 0;
  double gatherSeconds = 0, reductionSeconds = 0, updateSeconds = 0;
  double accumulationSeconds = 0;
  /// What of them is estimated to hide behind compute.
  double hiddenSeconds = 0;
  bool fits = false;

  double getSeconds() const {
    return gatherSeconds + reductionSeconds + updateSeconds +
           accumulationSeconds - hiddenSeconds;
  }
  /// The share of the collectives' time that does not hide.
  double getExposedShare() const {
    double all = gatherSeconds + reductionSeconds;
    return all > 0 ? 1 - hiddenSeconds / all : 1;
  }
};

/// Memory of a rank besides what strategies shard, and its limit, in bytes.
struct MemoryBudget {
  double limit = 0;
  double activations = 0;
  /// Whole parameters at their uses, if they are gathered at each use.
  double gathered = 0;
};

/// All strategies for a whole model, the best first: those that fit, by time,
/// but of those within 1 % of the least time, the ones with smaller groups;
/// then those that do not fit, by memory. `computeSeconds` is the rest of the
/// step but for `otherSeconds`: 1 % is meant of the step, and if the context
/// says that it overlaps, collectives hide behind compute, a third of it being
/// the forward pass. `costs`: of the context.
std::vector<Candidate> rankStrategies(const ModelCosts &costs,
                                      const UnitCosts::Context &context,
                                      const MemoryBudget &budget,
                                      double computeSeconds,
                                      double otherSeconds = 0);
inline std::vector<Candidate> rankStrategies(llvm::ArrayRef<Unit> units,
                                             const UnitCosts::Context &context,
                                             const MemoryBudget &budget,
                                             double computeSeconds) {
  return rankStrategies(ModelCosts(units, context), context, budget,
                        computeSeconds);
}

/// A strategy for each unit.
struct UnitPlan {
  std::vector<FactorChain> chains; // one per unit
  double bytes = 0, seconds = 0;
  /// The fastest plan, of which this one is within 1 %. No plan is faster than
  /// `bound`; see ChoiceCounts.
  std::vector<FactorChain> fastestChains;
  double fastestBytes = 0, leastSeconds = 0, bound = 0;
  bool fits = false;
  /// Work done: times of collectives that its costs asked for, strategies
  /// looked at, and partial selections.
  int64_t evaluations = 0, strategies = 0, states = 0;
};

/// The plan of least time within `limit` bytes, where a second of a collective
/// takes `exposedShare` of one. Units of equal parameters share
/// one set of choices; the first of them take those with larger groups.
/// Within 1 % of the step's least time, units then move to smaller groups.
/// `costs`: of the context.
UnitPlan planUnits(const ModelCosts &costs, const UnitCosts::Context &context,
                   double limit, double computeSeconds,
                   double exposedShare = 1);
inline UnitPlan planUnits(llvm::ArrayRef<Unit> units,
                          const UnitCosts::Context &context, double limit,
                          double computeSeconds, double exposedShare = 1) {
  return planUnits(ModelCosts(units, context), context, limit, computeSeconds,
                   exposedShare);
}

} // namespace amsp

#endif // AMSP_PLANNER_PLANSEARCH_H
