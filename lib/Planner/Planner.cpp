//===- Planner.cpp - Plans a step for a cluster ---------------------------===//

#include "amsp/Planner/Planner.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace amsp;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
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

/// Why not even the smallest strategy fits.
static Error makeTooLargeError(const Plan &plan, const Cluster &cluster) {
  const Candidate &least = plan.getBest();
  const ProgramCosts &costs = plan.model.costs;
  std::pair<double, const char *> items[] = {
      {least.memory.states, "optimizer states and parameters at rest, which "
                            "more ranks would divide"},
      {least.memory.gradients, "gradients, which more ranks would divide"},
      {least.memory.parameters, "parameters kept, which more ranks would "
                                "divide"},
      {costs.activationBytes, "activations, which a smaller batch, more "
                              "microbatches or more ranks would reduce"},
      {costs.gatheredBytes, "gathered parameters at their use"},
      {plan.model.otherBytes, "the batch and other replicated arguments"}};
  auto largest = *std::max_element(
      std::begin(items), std::end(items),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  return createStringError(
      formatv("the step fits under no strategy: the smallest, {0}, needs {1} "
              "of a rank, and cluster '{2}' has {3}; most of it, {4}, are {5}",
              formatStrategy(plan.getStrategy(least)), formatBytes(least.bytes),
              cluster.name, formatBytes(plan.memoryLimit),
              formatBytes(largest.first), largest.second)
          .str());
}

Expected<Plan> amsp::planStep(ModuleOp step, const Cluster &cluster,
                              PartitionOptions options,
                              std::optional<double> memoryLimit) {
  if (Error error = verifyForPlanning(cluster))
    return error;
  Expected<CollectiveModel> collectives = CollectiveModel::create(cluster);
  if (!collectives)
    return collectives.takeError();
  SmallVector<int64_t> levels = cluster.getSizes();
  options.levels = levels;
  options.strategy = "zero3";
  auto program = partitionCopy(step, options);
  if (failed(program))
    return createStringError("");
  FailureOr<StepModel> model =
      countStepModel(**program, *cluster.device, *collectives);
  if (failed(model))
    return createStringError("");

  Plan plan{std::move(*collectives),
            std::move(*model),
            StrategySpace(levels),
            {},
            {},
            0};
  plan.memoryLimit = memoryLimit.value_or(*cluster.device->memory);
  const ProgramCosts &costs = plan.model.costs;
  UnitCosts::Context context{plan.space, plan.collectives,
                             *cluster.device->memoryBandwidth,
                             plan.model.microbatches};
  MemoryBudget budget{plan.memoryLimit,
                      costs.activationBytes + plan.model.otherBytes,
                      costs.gatheredBytes};
  plan.candidates = rankStrategies(plan.model.getWhole(), context, budget,
                                   plan.getCommonSeconds());
  if (!plan.getBest().fits)
    return makeTooLargeError(plan, cluster);
  // A unit may be gathered at each use, so its room is set aside.
  plan.unitPlan = planUnits(plan.model.units, context,
                            budget.limit - budget.activations - budget.gathered,
                            plan.getCommonSeconds());
  return plan;
}
