//===- PlanReport.cpp - A plan as text or JSON ----------------------------===//

#include "PlanReport.h"
#include "amsp/Planner/UnitPattern.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;
using namespace amsp;

const Candidate *PlanReport::findCandidate() const {
  ArrayRef<Strategy> strategies = shown.strategies;
  if (strategies.empty() || !all_equal(strategies))
    return strategies.empty() ? &plan.getBest() : nullptr;
  return &plan.getCandidate(strategies.front());
}

ArrayRef<Candidate> PlanReport::getTop() const {
  return ArrayRef(plan.candidates).take_front(top);
}

std::vector<PlanReport::Item>
PlanReport::getMemoryItems(const Candidate &candidate) const {
  const ProgramCosts &costs = plan.model.costs;
  bool isGathered = plan.space.getPieces(candidate.chain.p) > 1;
  return {{"parameters_kept", candidate.memory.parameters},
          {"gradients", candidate.memory.gradients},
          {"states", candidate.memory.states},
          {"activations", costs.activationBytes},
          {"gathered", isGathered ? costs.gatheredBytes : 0},
          {"other_arguments", plan.model.otherBytes}};
}

std::vector<PlanReport::Item>
PlanReport::getMemoryItems(const MemoryProfile &memory) {
  auto bytes = [](int64_t bytes) { return static_cast<double>(bytes); };
  std::vector<Item> items = {
      {"at_rest", bytes(memory.stateBytes)},
      {"batch_and_results", bytes(memory.inputBytes + memory.resultBytes)}};
  int64_t unused = memory.arenaBytes;
  for (size_t use = 0; use < kNumBufferUses; ++use) {
    items.push_back({stringifyBufferUse(static_cast<BufferUse>(use)).data(),
                     bytes(memory.peak[use])});
    unused -= memory.peak[use];
  }
  items.push_back({"between_buffers", bytes(unused)});
  return items;
}

std::vector<PlanReport::Item>
PlanReport::getTimeItems(const Candidate &candidate) const {
  return {{"compute", plan.getComputeSeconds()},
          {"other_collectives", plan.getOtherSeconds()},
          {"gathers", candidate.gatherSeconds},
          {"reductions", candidate.reductionSeconds},
          {"update", candidate.updateSeconds},
          {"accumulation", candidate.accumulationSeconds},
          {"overlapped", 0 - candidate.hiddenSeconds}};
}

/// The outermost level on which the group has members.
std::string PlanReport::getLevelName(ArrayRef<int64_t> group) const {
  for (size_t level = group.size(); level-- > 0;)
    if (group[level] > 1)
      return cluster.levels[level].name;
  return "no";
}

/// The outermost level over which the candidate gathers, or reduces.
std::string PlanReport::getSlowLevel(const Candidate &candidate,
                                     bool isGather) const {
  return getLevelName(isGather ? plan.space.getFactors(candidate.chain.os)
                               : plan.space.getFactors(plan.space.getAll()));
}

std::string PlanReport::getReason(const Candidate &candidate) const {
  if (!candidate.fits)
    return formatv("does not fit: {0} more than a rank has",
                   formatBytes(candidate.bytes - plan.memoryLimit));
  const Candidate &best = plan.getBest();
  double behind = candidate.getSeconds() - best.getSeconds();
  if (behind <= kEqualTimes * plan.getStepSeconds(best))
    return "as fast within 1 %, larger groups";
  std::vector<Item> mine = getTimeItems(candidate), others = getTimeItems(best);
  size_t worst = 0;
  auto getDifference = [&](size_t i) {
    return mine[i].second - others[i].second;
  };
  // What overlaps, the last, is no cause of its own.
  for (size_t i = 1; i + 1 < mine.size(); ++i)
    if (getDifference(i) > getDifference(worst))
      worst = i;
  StringRef name = mine[worst].first;
  std::string where;
  if (name != "update" && name != "accumulation")
    where = " over level " + getSlowLevel(candidate, name == "gathers");
  return formatv("{0:f3} ms slower: {1}{2} take {3:f3} ms more", behind * 1e3,
                 name, where, getDifference(worst) * 1e3);
}

static std::string formatGroup(ArrayRef<Digit> digits) {
  std::string text;
  for (const Digit &digit : digits)
    text += formatv("{0}{1}:{2}", text.empty() ? "" : ",", digit.stride,
                    digit.size);
  return text.empty() ? "-" : text;
}

void PlanReport::printCollectives(raw_ostream &os) const {
  SmallVector<int64_t> levels = cluster.getSizes();
  os << formatv("\n{0,-15} {1,-5} {2,-14} {3,-8} {4,6} {5,14}  {6}\n", "kind",
                "type", "group", "level", "count", "bytes", "unit");
  for (const ListedCollective &collective : shown.compiled->collectives)
    os << formatv("{0,-15} {1,-5} {2,-14} {3,-8} {4,6} {5,14}  {6}\n",
                  stringifyCollectiveKind(collective.kind), collective.dtype,
                  formatGroup(collective.digits),
                  getLevelName(getGroupShape(collective.digits, levels)),
                  collective.count, collective.bytes,
                  collective.unit.empty() ? "-" : collective.unit);
}

/// The strategy, its time and its memory.
void PlanReport::printShown(raw_ostream &os) const {
  os << formatv("strategy   {0}\n",
                candidate ? formatStrategy(plan.getStrategy(*candidate))
                          : formatStrategies(planned.units, shown.strategies));
  if (planned.changes.microbatches > 1)
    os << formatv("split      into {0} microbatches\n",
                  planned.changes.microbatches);
  if (!planned.changes.recompute.empty())
    os << formatv("recompute  {0}\n", formatUnits(planned.changes.recompute));
  if (shown.compiled && shown.compiled->loops)
    os << formatv("loops      {0}\n", describeLoops(*shown.compiled->loops));
  if (shown.compiled) {
    const SimulatedStep &step = shown.compiled->simulation.step;
    os << formatv("step       {0:f3} ms, simulated: compute {1:f3}, "
                  "interference {2:f3}, exposed communication {3:f3}\n",
                  step.seconds * 1e3, step.computeSeconds * 1e3,
                  step.interferenceSeconds * 1e3, step.exposedSeconds * 1e3);
  }
  os << formatv("estimate   {0:f3} ms", shown.estimatedSeconds * 1e3);
  if (shown.compiled)
    os << formatv(", {0:P1} of the simulated step",
                  shown.estimatedSeconds / shown.getSeconds());
  os << (plan.passes.overlap.isEmpty() ? ", nothing overlapped\n" : "\n");
  if (candidate)
    for (auto [name, seconds] : getTimeItems(*candidate))
      os << formatv("  {0,-18} {1,14:f3} ms\n", name, seconds * 1e3);
  std::string speeds;
  for (auto [name, count] : getSpeedItems(shown))
    speeds += formatv("{0}{1:f1} {2}/s", speeds.empty() ? "" : ", ", count,
                      StringRef(name).split('_').first)
                  .str();
  if (!speeds.empty())
    os << "speed      " << speeds << "\n";
  os << formatv("memory     {0:f3} MB of {1:f3} MB, {2}\n",
                shown.getBytes() / 1e6, planned.memoryLimit / 1e6,
                shown.isLowered() ? "of the compiled step" : "estimated");
  std::vector<Item> items;
  if (shown.isLowered())
    items = getMemoryItems(*shown.compiled->memory);
  else if (candidate)
    items = getMemoryItems(*candidate);
  for (auto [name, bytes] : items)
    os << formatv("  {0,-18} {1,14:f3} MB\n", name, bytes / 1e6);
}

std::vector<PlanReport::Item>
PlanReport::getSpeedItems(const Finalist &finalist) const {
  std::vector<Item> items;
  for (auto [name, count] : {std::pair("rows_per_second", batch.rows),
                             std::pair("tokens_per_second", batch.tokens)})
    if (count > 0 && finalist.getSeconds() > 0)
      items.emplace_back(name, count / finalist.getSeconds());
  return items;
}

std::string PlanReport::describe(const Finalist &finalist) const {
  const Finalist &best = planned.getBest();
  if (&finalist == &best)
    return "best";
  if (!planned.fits(finalist))
    return formatv("does not fit: {0} more than a rank has",
                   formatBytes(finalist.getBytes() - planned.memoryLimit));
  double behind = finalist.getSeconds() - best.getSeconds();
  if (behind <= kEqualTimes * best.getSeconds())
    return "as fast within 1 %, larger groups";
  std::string reason = formatv("{0:f3} ms slower", behind * 1e3);
  if (!finalist.compiled || !best.compiled)
    return reason;
  // The level on which it waits the most longer.
  size_t worst = 0;
  double most = 0;
  for (size_t level = 0; level < cluster.levels.size(); ++level) {
    double more = finalist.compiled->getExposedSeconds(level) -
                  best.compiled->getExposedSeconds(level);
    if (more > most) {
      most = more;
      worst = level;
    }
  }
  if (most > 0)
    reason +=
        formatv(": {0:f3} ms more of exposed communication over level {1}",
                most * 1e3, cluster.levels[worst].name);
  return reason;
}

/// The plans that were compiled.
void PlanReport::printFinalists(raw_ostream &os) const {
  if (!planned.getBest().isLowered())
    return;
  os << formatv("\n      {0,-36} {1,12} {2,12} {3,12}\n", "compiled", "ms",
                "MB", "estimate is");
  for (const Finalist &finalist : planned.finalists)
    os << formatv("      {0,-36} {1,12:f3} {2,12:f3} {3,12:P1}  {4}\n",
                  formatStrategies(planned.units, finalist.strategies),
                  finalist.getSeconds() * 1e3, finalist.getBytes() / 1e6,
                  finalist.estimatedSeconds / finalist.getSeconds(),
                  describe(finalist));
}

void PlanReport::printTable(raw_ostream &os) const {
  os << formatv("cluster    {0}, {1} ranks ({2})\n", cluster.name,
                cluster.getWorldSize(), formatFactors(cluster.getSizes()));
  os << formatv("model      {0} parameters in {1} units, {2} microbatches\n",
                plan.model.getNumParameterElements(), plan.model.units.size(),
                plan.model.microbatches);
  printShown(os);
  os << formatv("\n{0,4}  {1,-36} {2,12} {3,12}  {4}\n", "rank", "strategy",
                "ms", "MB", "");
  for (auto [index, ranked] : enumerate(getTop()))
    os << formatv("{0,4}  {1,-36} {2,12:f3} {3,12:f3}  {4}\n", index + 1,
                  formatStrategy(plan.getStrategy(ranked)),
                  plan.getStepSeconds(ranked) * 1e3, ranked.bytes / 1e6,
                  index == 0 ? "best" : getReason(ranked));
  printFinalists(os);
  printVariants(os);
  if (listsCollectives)
    printCollectives(os);
}

/// What was searched for microbatches and recomputation.
void PlanReport::printVariants(raw_ostream &os) const {
  if (planned.variants.empty())
    return;
  os << formatv("\n      {0,-36} {1,12} {2,12}\n", "the step", "ms", "MB");
  for (const StepVariant &variant : planned.variants) {
    std::string changes = describeChanges(variant.changes);
    os << formatv("      {0,-36} ", changes.empty() ? "as exported" : changes);
    if (variant.secondsAndBytes)
      os << formatv("{0,12:f3} {1,12:f3}\n",
                    variant.secondsAndBytes->first * 1e3,
                    variant.secondsAndBytes->second / 1e6);
    else
      os << "fits under no strategy\n";
  }
  if (!planned.splitRefusal.empty())
    os << "      no more microbatches: " << planned.splitRefusal << "\n";
}

static void writeItems(json::OStream &json,
                       ArrayRef<std::pair<const char *, double>> items) {
  for (auto [name, value] : items)
    json.attribute(name, value);
}

static void writeRecompute(json::OStream &json, const StepChanges &changes) {
  json.attributeArray("recompute", [&] {
    for (const std::string &unit : changes.recompute)
      json.value(unit);
  });
}

void PlanReport::writeVariants(json::OStream &json) const {
  if (planned.variants.empty())
    return;
  json.attributeArray("variants", [&] {
    for (const StepVariant &variant : planned.variants)
      json.object([&] {
        json.attribute("split", variant.changes.microbatches);
        writeRecompute(json, variant.changes);
        json.attribute("fits", variant.secondsAndBytes.has_value());
        if (!variant.secondsAndBytes)
          return;
        json.attribute("seconds", variant.secondsAndBytes->first);
        json.attribute("bytes", variant.secondsAndBytes->second);
      });
  });
}

void PlanReport::writeCandidate(json::OStream &json,
                                const Candidate &candidate) const {
  json.attribute("strategy", formatStrategy(plan.getStrategy(candidate)));
  json.attribute("fits", candidate.fits);
  json.attribute("seconds", plan.getStepSeconds(candidate));
  json.attribute("bytes", candidate.bytes);
  json.attributeObject("time",
                       [&] { writeItems(json, getTimeItems(candidate)); });
  json.attributeObject("memory",
                       [&] { writeItems(json, getMemoryItems(candidate)); });
}

void PlanReport::writeFinalist(json::OStream &json,
                               const Finalist &finalist) const {
  json.attribute("strategy",
                 formatStrategies(planned.units, finalist.strategies));
  json.attributeObject("units", [&] {
    for (auto [unit, strategy] : zip_equal(planned.units, finalist.strategies))
      json.attribute(unit.name, formatStrategy(strategy));
  });
  json.attribute("fits", planned.fits(finalist));
  json.attribute("seconds", finalist.getSeconds());
  writeItems(json, getSpeedItems(finalist));
  json.attribute("estimated_seconds", finalist.estimatedSeconds);
  json.attribute("estimated_bytes", finalist.estimatedBytes);
  if (finalist.compiled && finalist.compiled->loops)
    json.attributeArray("loops", [&] {
      for (StringRef word : getLoopWords(*finalist.compiled->loops))
        json.value(word);
    });
  if (finalist.compiled) {
    json.attribute("exposed_seconds",
                   finalist.compiled->simulation.step.exposedSeconds);
    json.attributeObject("exposed_by_level", [&] {
      for (auto [index, level] : enumerate(cluster.levels))
        json.attribute(level.name, finalist.compiled->getExposedSeconds(index));
    });
  }
  if (!finalist.isLowered())
    return;
  json.attribute("bytes", finalist.compiled->memory->getTotal());
  json.attributeObject("memory", [&] {
    writeItems(json, getMemoryItems(*finalist.compiled->memory));
  });
  const KeptMemory &kept = finalist.compiled->kept;
  json.attributeObject("kept", [&] {
    json.attribute("parameters", kept.parameters);
    json.attribute("gradients", kept.gradients);
    json.attribute("optimizer_states", kept.states);
  });
}

void PlanReport::writeCollectives(json::OStream &json) const {
  const CompiledPlan &compiled = *shown.compiled;
  json.attribute("parameter_collective_seconds",
                 compiled.getCollectiveSeconds(true));
  json.attribute("other_collective_seconds",
                 compiled.getCollectiveSeconds(false));
  json.attributeArray("collectives", [&] {
    for (const ListedCollective &collective : compiled.collectives)
      json.object([&] {
        json.attribute("kind", stringifyCollectiveKind(collective.kind));
        json.attribute("dtype", collective.dtype);
        json.attribute("group", formatGroup(collective.digits));
        json.attribute("level", getLevelName(getGroupShape(
                                    collective.digits, cluster.getSizes())));
        json.attribute("count", collective.count);
        json.attribute("bytes", collective.bytes);
        json.attribute("sent_bytes", collective.sentBytes);
        json.attribute("seconds", collective.seconds);
        if (!collective.unit.empty())
          json.attribute("unit", collective.unit);
      });
  });
}

void PlanReport::printJson(raw_ostream &os) const {
  json::OStream json(os, 2);
  json.object([&] {
    json.attribute("version", 1);
    json.attribute("cluster", cluster.name);
    json.attributeArray("levels", [&] {
      for (int64_t size : cluster.getSizes())
        json.value(size);
    });
    json.attribute("parameters", plan.model.getNumParameterElements());
    json.attribute("microbatches", plan.model.microbatches);
    json.attribute("operations", plan.model.costs.operations);
    json.attribute("memory_limit", planned.memoryLimit);
    json.attribute("split", planned.changes.microbatches);
    if (!planned.splitRefusal.empty())
      json.attribute("split_refusal", planned.splitRefusal);
    writeRecompute(json, planned.changes);
    writeVariants(json);
    json.attributeObject("plan", [&] { writeFinalist(json, shown); });
    if (candidate)
      json.attributeObject("chosen", [&] { writeCandidate(json, *candidate); });
    json.attributeArray("finalists", [&] {
      for (const Finalist &finalist : planned.finalists)
        json.object([&] {
          writeFinalist(json, finalist);
          json.attribute("reason", describe(finalist));
        });
    });
    json.attributeArray("strategies", [&] {
      for (const Candidate &ranked : getTop())
        json.object([&] {
          writeCandidate(json, ranked);
          if (&ranked != &plan.getBest())
            json.attribute("reason", getReason(ranked));
        });
    });
    if (listsCollectives)
      writeCollectives(json);
  });
  os << "\n";
}
