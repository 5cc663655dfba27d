//===- StrategyChoice.cpp - What --strategy stands for --------------------===//

#include "amsp/Compile/StrategyChoice.h"

using namespace llvm;
using namespace amsp;

Expected<StrategyChoice>
amsp::chooseStrategies(mlir::ModuleOp step, StringRef text,
                       const Cluster &cluster, const PlanningOptions &options) {
  StrategyChoice choice;
  choice.units = getStepUnits(getStepFunction(step));
  if (text == "auto") {
    Expected<PlannedStep> planned = findPlan(step, cluster, options);
    if (!planned)
      return planned.takeError();
    choice.strategies = planned->getBest().strategies;
    choice.changes = planned->changes;
    if (const auto &compiled = planned->getBest().compiled)
      choice.loops = compiled->loops;
    choice.planned = std::move(*planned);
    return choice;
  }
  if (isPlanFileName(text)) {
    Expected<PlanFile> file = readPlanFile(text);
    if (!file)
      return file.takeError();
    auto strategies = resolvePlanFile(*file, choice.units, cluster);
    if (!strategies)
      return strategies.takeError();
    Expected<std::vector<std::string>> recompute =
        resolveRecompute(*file, choice.units);
    if (!recompute)
      return recompute.takeError();
    choice.changes = {file->microbatches, std::move(*recompute)};
    choice.reduceType = file->reduceType;
    choice.loops = file->loops;
    choice.strategies = std::move(*strategies);
    return choice;
  }
  Expected<Strategy> one = parseStrategy(text, cluster.getSizes());
  if (!one)
    return one.takeError();
  choice.strategies.assign(choice.units.size(), *one);
  return choice;
}
