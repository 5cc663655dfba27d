//===- Planner.h - Plans a step for a cluster -------------------*- C++ -*-===//

#ifndef AMSP_PLANNER_PLANNER_H
#define AMSP_PLANNER_PLANNER_H

#include "amsp/Planner/PlanSearch.h"
#include "amsp/Planner/StepModel.h"

namespace amsp {

/// What was found for a step on a cluster.
struct Plan {
  CollectiveModel collectives;
  StepModel model;
  StrategySpace space;
  /// All strategies for the whole model, the best first.
  std::vector<Candidate> candidates;
  /// What a strategy of its own for each unit would bring.
  UnitPlan unitPlan;
  double memoryLimit = 0;

  const Candidate &getBest() const { return candidates.front(); }
  Strategy getStrategy(const Candidate &candidate) const {
    auto [p, g, os] = candidate.chain;
    return space.getStrategy(p, g, os);
  }
  /// What takes as long under every strategy.
  double getCommonSeconds() const {
    return model.costs.computeSeconds + model.otherSeconds;
  }
  /// Seconds of a step; nothing overlaps.
  double getStepSeconds(const Candidate &candidate) const {
    return getCommonSeconds() + candidate.getSeconds();
  }
  /// The candidate of a strategy. With one microbatch, that of `g` as `p`.
  const Candidate &getCandidate(const Strategy &strategy) const;
};

/// Plans an exported step, to be partitioned with these options (of which
/// levels and strategy do not count). `memoryLimit` replaces the device's
/// memory. If no strategy fits, the error says how much the smallest needs, and
/// what for. Errors in the program are diagnostics, after which the error is
/// empty text.
llvm::Expected<Plan> planStep(mlir::ModuleOp step, const Cluster &cluster,
                              PartitionOptions options,
                              std::optional<double> memoryLimit = {});

/// `p=4x1,g=4x1,os=8x2`, as `--strategy` reads it.
std::string formatStrategy(const Strategy &strategy);

/// `1.50 GB`
std::string formatBytes(double bytes);

} // namespace amsp

#endif // AMSP_PLANNER_PLANNER_H
