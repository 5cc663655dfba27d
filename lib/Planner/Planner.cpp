//===- Planner.cpp - Plans a step for a cluster ---------------------------===//

#include "amsp/Planner/Planner.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace amsp;
using llvm::formatv;

std::string amsp::formatStrategy(const Strategy &strategy) {
  return formatv("p={0},g={1},os={2}", formatFactors(strategy.p),
                 formatFactors(strategy.g), formatFactors(strategy.os));
}

std::string amsp::formatBytes(double bytes) {
  static constexpr const char *units[] = {"bytes", "kB", "MB", "GB"};
  size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit)
    bytes /= 1000;
  return formatv("{0:f} {1}", bytes, units[unit]);
}

const Candidate &Plan::getCandidate(const Strategy &strategy) const {
  FactorChain chain{space.getNumber(strategy.p), space.getNumber(strategy.g),
                    space.getNumber(strategy.os)};
  if (model.microbatches == 1)
    chain.g = chain.p;
  return *llvm::find_if(candidates, [&](const Candidate &candidate) {
    return candidate.chain == chain;
  });
}

std::vector<Strategy> Plan::getStrategies(ArrayRef<StepUnit> units) const {
  std::vector<Strategy> strategies(units.size(), getStrategy(getBest()));
  if (!areUnitsBetter())
    return strategies;
  llvm::StringMap<size_t> numbers;
  for (auto [index, unit] : llvm::enumerate(model.units))
    numbers[unit.name] = index;
  for (auto [unit, strategy] : llvm::zip_equal(units, strategies))
    if (auto it = numbers.find(unit.name); it != numbers.end()) {
      auto [p, g, os] = unitPlan.chains[it->second];
      strategy = space.getStrategy(p, g, os);
    }
  return strategies;
}

std::pair<double, double> Plan::estimate(ArrayRef<StepUnit> units,
                                         ArrayRef<Strategy> strategies) const {
  llvm::StringMap<const Strategy *> strategyOf;
  for (auto [unit, strategy] : llvm::zip_equal(units, strategies))
    strategyOf[unit.name] = &strategy;
  std::vector<FactorChain> chains;
  for (const Unit &unit : model.units) {
    // Optimizer states of no parameter are a unit of the model alone.
    const Strategy *strategy = strategyOf.lookup(unit.name);
    FactorChain &chain = chains.emplace_back();
    if (strategy)
      chain = {space.getNumber(strategy->p), space.getNumber(strategy->g),
               space.getNumber(strategy->os)};
  }
  return estimate(chains);
}

std::pair<double, double> Plan::estimate(ArrayRef<FactorChain> chains) const {
  UnitCosts::Context context = getContext();
  StrategyTimes times;
  double bytes = commonBytes;
  for (const EqualUnits &equal : costs->groups)
    for (unsigned unit : equal.units) {
      auto [p, g, os] = chains[unit];
      times.add(equal.costs, chains[unit]);
      bytes += equal.costs.getBytes(p, g, os);
    }
  double seconds = getCommonSeconds() + times.getCollectives() + times.updates +
                   times.accumulations -
                   estimateHidden(times, context, getComputeSeconds());
  return {seconds, bytes};
}

UnitCosts::Context Plan::getContext() const {
  UnitCosts::Context context{space, collectives, memoryBandwidth,
                             model.microbatches};
  context.fuses = passes.fuse;
  context.decomposes = passes.decompose;
  context.updateScale = updateScale;
  context.wire = passes.wire;
  if (!passes.overlap.isEmpty())
    context.overlapping = Overlapping{
        interference,           model.getNumLayers(), model.getNumEvenLayers(),
        model.microbatches > 1, passes.peel,          passes.pipeline,
        passes.overlap};
  return context;
}

/// Small groups are preferred within 1 % of the fastest plan of all, with one
/// strategy or several, as the estimate has them.
static void takeFastest(Plan &plan) {
  UnitPlan &units = plan.unitPlan;
  for (const Candidate &candidate : plan.candidates)
    if (candidate.fits)
      plan.fastestSeconds =
          std::min(plan.fastestSeconds, plan.getStepSeconds(candidate));
  plan.unitPlanSeconds = plan.estimate(units.chains).first;
  if (!units.fits)
    return;
  double fastest = plan.unitPlanSeconds;
  if (units.fastestChains != units.chains)
    fastest = plan.estimate(units.fastestChains).first;
  plan.fastestSeconds =
      std::min({plan.fastestSeconds, plan.unitPlanSeconds, fastest});
  // What moved to smaller groups may overlap worse than the search counts.
  if (plan.unitPlanSeconds <= plan.getSlowestEqual())
    return;
  units.chains = units.fastestChains;
  units.bytes = units.fastestBytes;
  units.seconds = units.leastSeconds;
  plan.unitPlanSeconds = fastest;
}

Plan amsp::searchPlans(const StepModel &model,
                       const CollectiveModel &collectives,
                       const Cluster &cluster, double memoryLimit,
                       std::optional<double> shardedBytes,
                       const CollectivePasses &passes) {
  Plan plan{collectives, model, StrategySpace(cluster.getSizes()), {}, {}, 0};
  plan.memoryLimit = memoryLimit;
  plan.memoryBandwidth = *cluster.device->memoryBandwidth;
  plan.interference = cluster.interference;
  plan.passes = passes;
  unsigned all = plan.space.getAll();
  const ProgramCosts &costs = plan.model.costs;
  double once = 0;
  for (const Unit &unit : plan.model.units)
    for (const PlannedParameter &parameter : unit.parameters)
      once += UnitCosts::getUpdateSeconds(parameter, plan.getContext(),
                                          plan.space.getPieces(all));
  if (once > 0 && costs.updateSeconds > 0)
    plan.updateScale = costs.updateSeconds / once;
  UnitCosts::Context context = plan.getContext();
  plan.costs.emplace(plan.model.units, context);
  MemoryBudget budget{plan.memoryLimit,
                      costs.activationBytes + plan.model.otherBytes,
                      costs.gatheredBytes};
  if (shardedBytes) {
    double states = 0;
    for (const EqualUnits &equal : plan.costs->groups)
      states += static_cast<double>(equal.units.size()) *
                equal.costs.getBytes(all, all, all);
    budget.activations =
        std::max(0.0, *shardedBytes - states - budget.gathered);
  }
  plan.commonBytes = budget.activations + budget.gathered;
  plan.candidates =
      rankStrategies(*plan.costs, context, budget, plan.getComputeSeconds(),
                     plan.getOtherSeconds());
  // A unit may be gathered at each use, so its room is set aside.
  plan.unitPlan =
      planUnits(*plan.costs, context, budget.limit - plan.commonBytes,
                plan.getCommonSeconds(), plan.getBest().getExposedShare());
  takeFastest(plan);
  return plan;
}
