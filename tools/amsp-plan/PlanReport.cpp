//===- PlanReport.cpp - A plan as text or JSON ----------------------------===//

#include "PlanReport.h"
#include "amsp/Target/DataTypes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;
using namespace amsp;

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
PlanReport::getTimeItems(const Candidate &candidate) const {
  return {{"compute", plan.model.costs.computeSeconds},
          {"other_collectives", plan.model.otherSeconds},
          {"gathers", candidate.gatherSeconds},
          {"reductions", candidate.reductionSeconds},
          {"update", candidate.updateSeconds}};
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
  for (size_t i = 1; i < mine.size(); ++i)
    if (getDifference(i) > getDifference(worst))
      worst = i;
  StringRef name = mine[worst].first;
  std::string where;
  if (name != "update")
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

static std::string formatType(mlir::Type type) {
  std::optional<amsp_dtype> dtype = getDataType(type);
  return dtype ? getDataTypeName(*dtype).str() : "?";
}

void PlanReport::printCollectives(raw_ostream &os) const {
  SmallVector<int64_t> levels = cluster.getSizes();
  os << formatv("\n{0,-15} {1,-5} {2,-14} {3,-8} {4,6} {5,14}  {6}\n", "kind",
                "type", "group", "level", "count", "bytes", "unit");
  for (const CollectiveRecord &record : *collectives) {
    ArrayRef<Digit> digits = record.group.getDigits();
    os << formatv("{0,-15} {1,-5} {2,-14} {3,-8} {4,6} {5,14}  {6}\n",
                  stringifyCollectiveKind(record.kind),
                  formatType(record.elementType), formatGroup(digits),
                  getLevelName(getGroupShape(digits, levels)), record.count,
                  record.getPaddedElements() *
                      getElementBytes(record.elementType),
                  record.getUnit() ? record.getUnit().getValue() : "-");
  }
}

void PlanReport::printUnits(raw_ostream &os) const {
  double best = plan.getStepSeconds(plan.getBest());
  double perUnit = plan.getCommonSeconds() + plan.unitPlan.seconds;
  if (!plan.unitPlan.fits || perUnit >= best * (1 - kEqualTimes))
    return;
  os << formatv("\nA strategy for each unit would take {0:f3} ms, {1:P1} less "
                "(the partitioner takes one for all):\n",
                perUnit * 1e3, 1 - perUnit / best);
  for (auto [unit, chain] : zip(plan.model.units, plan.unitPlan.chains))
    os << formatv(
        "  {0,-24} {1}\n", unit.name,
        formatStrategy(plan.space.getStrategy(chain.p, chain.g, chain.os)));
}

void PlanReport::printTable(raw_ostream &os) const {
  os << formatv("cluster    {0}, {1} ranks ({2})\n", cluster.name,
                cluster.getWorldSize(), formatFactors(cluster.getSizes()));
  os << formatv("model      {0} parameters in {1} units, {2} microbatches\n",
                plan.model.getNumParameterElements(), plan.model.units.size(),
                plan.model.microbatches);
  os << formatv("strategy   {0}\n", formatStrategy(plan.getStrategy(shown)));
  os << formatv("step       {0:f3} ms, nothing overlapped\n",
                plan.getStepSeconds(shown) * 1e3);
  for (auto [name, seconds] : getTimeItems(shown))
    os << formatv("  {0,-18} {1,14:f3} ms\n", name, seconds * 1e3);
  os << formatv("memory     {0:f3} MB of {1:f3} MB, estimated\n",
                shown.bytes / 1e6, plan.memoryLimit / 1e6);
  for (auto [name, bytes] : getMemoryItems(shown))
    os << formatv("  {0,-18} {1,14:f3} MB\n", name, bytes / 1e6);
  os << formatv("\n{0,4}  {1,-36} {2,12} {3,12}  {4}\n", "rank", "strategy",
                "ms", "MB", "");
  for (auto [index, candidate] : enumerate(getTop()))
    os << formatv("{0,4}  {1,-36} {2,12:f3} {3,12:f3}  {4}\n", index + 1,
                  formatStrategy(plan.getStrategy(candidate)),
                  plan.getStepSeconds(candidate) * 1e3, candidate.bytes / 1e6,
                  index == 0 ? "best" : getReason(candidate));
  printUnits(os);
  if (collectives)
    printCollectives(os);
}

static void writeItems(json::OStream &json,
                       ArrayRef<std::pair<const char *, double>> items) {
  for (auto [name, value] : items)
    json.attribute(name, value);
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

void PlanReport::writeCollectives(json::OStream &json) const {
  auto [ofParameters, others] = getSeconds(*collectives, plan.collectives);
  json.attribute("parameter_collective_seconds", ofParameters);
  json.attribute("other_collective_seconds", others);
  json.attributeArray("collectives", [&] {
    for (const CollectiveRecord &record : *collectives)
      json.object([&] {
        ArrayRef<Digit> digits = record.group.getDigits();
        json.attribute("kind", stringifyCollectiveKind(record.kind));
        json.attribute("dtype", formatType(record.elementType));
        json.attribute("group", formatGroup(digits));
        json.attribute("level",
                       getLevelName(getGroupShape(digits, cluster.getSizes())));
        json.attribute("count", record.count);
        json.attribute("bytes", record.getPaddedElements() *
                                    getElementBytes(record.elementType));
        if (mlir::StringAttr unit = record.getUnit())
          json.attribute("unit", unit.getValue());
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
    json.attribute("memory_limit", plan.memoryLimit);
    json.attributeObject("chosen", [&] { writeCandidate(json, shown); });
    json.attributeArray("strategies", [&] {
      for (const Candidate &candidate : getTop())
        json.object([&] {
          writeCandidate(json, candidate);
          if (&candidate != &plan.getBest())
            json.attribute("reason", getReason(candidate));
        });
    });
    json.attributeObject("units", [&] {
      json.attribute("seconds",
                     plan.getCommonSeconds() + plan.unitPlan.seconds);
      json.attribute("fits", plan.unitPlan.fits);
      json.attributeObject("strategies", [&] {
        for (auto [unit, chain] : zip(plan.model.units, plan.unitPlan.chains))
          json.attribute(unit.name, formatStrategy(plan.space.getStrategy(
                                        chain.p, chain.g, chain.os)));
      });
    });
    if (collectives)
      writeCollectives(json);
  });
  os << "\n";
}
