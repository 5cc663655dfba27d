//===- PlanFile.cpp - Plans that people read, edit and keep ---------------===//

#include "amsp/Planner/PlanFile.h"
#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Placement/PlacementConverter.h"
#include "amsp/Placement/StepAttributes.h"
#include "amsp/Placement/UnitStrategies.h"
#include "amsp/Planner/Planner.h"
#include "amsp/Planner/UnitPattern.h"
#include "amsp/Support/YamlFile.h"
#include "amsp/Support/YamlScalar.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace amsp;

//===----------------------------------------------------------------------===//
// Form
//===----------------------------------------------------------------------===//

namespace {
// Scalars that are checked where they stand, so that an error has their line.
struct Version {};
struct Count {
  int64_t value = 1;
};
struct LevelSizes {
  SmallVector<int64_t> values; // 8x16
};
struct ReduceTypeName {
  std::string text;
};
struct LoopWord {
  std::string text;
};

struct ClusterEntry {
  std::string name;
  LevelSizes levels;
};
struct ModelEntry {
  std::vector<std::pair<std::string, int64_t>> units;
};
struct UnitsEntry {
  PlanFile::Map strategies;
};
/// The file's keys.
struct PlanDocument {
  Version version;
  ClusterEntry cluster;
  ModelEntry model;
  ReduceTypeName reduceType;
  std::string strategy;
  UnitsEntry units;
  std::vector<std::string> recompute;
  Count microbatches;
  std::optional<std::vector<LoopWord>> loops;
};
} // namespace

LLVM_YAML_IS_FLOW_SEQUENCE_VECTOR(LoopWord)

static constexpr StringRef kPeeled = "peeled", kPipelined = "pipelined";

namespace llvm::yaml {
/// What only is read.
template <typename T> struct InputScalarTraits {
  static void output(const T &, void *, raw_ostream &) {}
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};
template <> struct ScalarTraits<Version> : InputScalarTraits<Version> {
  static StringRef input(StringRef text, void *, Version &) {
    return text == "1" ? "" : "this build reads plans of version 1 only";
  }
};
template <> struct ScalarTraits<Count> : InputScalarTraits<Count> {
  static StringRef input(StringRef text, void *, Count &count) {
    bool isGood = !text.getAsInteger(10, count.value) && count.value >= 1;
    return isGood ? "" : "expected a positive number";
  }
};
template <> struct ScalarTraits<LevelSizes> : InputScalarTraits<LevelSizes> {
  static StringRef input(StringRef text, void *, LevelSizes &sizes) {
    for (StringRef size : split(text, 'x'))
      if (size.getAsInteger(10, sizes.values.emplace_back()) ||
          sizes.values.back() < 1)
        return "levels are positive sizes joined by 'x', as 8x4";
    return "";
  }
};
template <>
struct ScalarTraits<ReduceTypeName> : InputScalarTraits<ReduceTypeName> {
  static StringRef input(StringRef text, void *, ReduceTypeName &type) {
    type.text = text;
    return parseReduceType(text) ? "" : "reduce_type is f32, bf16 or graph";
  }
};
template <> struct ScalarTraits<LoopWord> : InputScalarTraits<LoopWord> {
  static StringRef input(StringRef text, void *, LoopWord &word) {
    word.text = text;
    bool isGood = text == kPeeled || text == kPipelined;
    return isGood ? "" : "loops are peeled or pipelined";
  }
};
template <> struct MappingTraits<ClusterEntry> {
  static void mapping(IO &io, ClusterEntry &cluster) {
    io.mapOptional("name", cluster.name);
    io.mapRequired("levels", cluster.levels);
  }
};
template <> struct CustomMappingTraits<ModelEntry> {
  static void inputOne(IO &io, StringRef key, ModelEntry &model) {
    int64_t elements = 0;
    io.mapRequired(key, elements);
    model.units.push_back({key.str(), elements});
  }
  static void output(IO &, ModelEntry &) {}
};
template <> struct CustomMappingTraits<UnitsEntry> {
  static void inputOne(IO &io, StringRef key, UnitsEntry &units) {
    std::string strategy;
    io.mapRequired(key, strategy);
    units.strategies.push_back({key.str(), strategy});
  }
  static void output(IO &, UnitsEntry &) {}
};
template <> struct MappingTraits<PlanDocument> {
  static void mapping(IO &io, PlanDocument &document) {
    io.mapRequired("version", document.version);
    io.mapOptional("cluster", document.cluster);
    io.mapOptional("model", document.model);
    io.mapOptional("reduce_type", document.reduceType);
    io.mapOptional("strategy", document.strategy);
    io.mapOptional("units", document.units);
    io.mapOptional("recompute", document.recompute);
    io.mapOptional("microbatches", document.microbatches);
    io.mapOptional("loops", document.loops);
  }
};
} // namespace llvm::yaml

bool amsp::isPlanFileName(StringRef strategy) {
  return strategy.find_first_of("./") != StringRef::npos;
}

static LoopForm getLoopForm(ArrayRef<LoopWord> words) {
  LoopForm form;
  for (const LoopWord &word : words)
    (word.text == kPeeled ? form.peels : form.pipelines) = true;
  return form;
}

Expected<PlanFile> amsp::parsePlanFile(StringRef content, StringRef name) {
  Expected<PlanDocument> read = parseYaml<PlanDocument>(content, name, "plan");
  if (!read)
    return read.takeError();
  PlanDocument &document = *read;
  PlanFile plan;
  plan.name = name;
  plan.cluster = document.cluster.name;
  plan.levels = std::move(document.cluster.levels.values);
  plan.model = std::move(document.model.units);
  plan.reduceType = document.reduceType.text;
  plan.strategy = document.strategy;
  plan.units = std::move(document.units.strategies);
  plan.recompute = std::move(document.recompute);
  plan.microbatches = document.microbatches.value;
  if (document.loops)
    plan.loops = getLoopForm(*document.loops);
  // Their order in the file is not kept by the reader.
  sort(plan.model);
  sort(plan.units);
  return plan;
}

Expected<PlanFile> amsp::readPlanFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
  if (!file)
    return createStringError("plan '" + path +
                             "': " + file.getError().message());
  return parsePlanFile((*file)->getBuffer(), path);
}

static void printMap(raw_ostream &os, StringRef key,
                     ArrayRef<std::pair<std::string, std::string>> map) {
  if (map.empty())
    return;
  os << key << ":\n";
  for (auto &[name, value] : map)
    os << "  " << quoteYaml(name) << ": " << value << "\n";
}

SmallVector<StringRef> amsp::getLoopWords(const LoopForm &loops) {
  SmallVector<StringRef> words;
  if (loops.peels)
    words.push_back(kPeeled);
  if (loops.pipelines)
    words.push_back(kPipelined);
  return words;
}

void amsp::printPlanFile(raw_ostream &os, const PlanFile &plan,
                         StringRef comment) {
  os << "# ";
  for (char c : comment) // names that it contains may have lines
    os << (isPrint(c) || !isASCII(c) ? c : ' ');
  os << "\n";
  os << "version: 1\n";
  os << formatv("cluster: {{name: {0}, levels: {1}}\n", quoteYaml(plan.cluster),
                formatFactors(plan.levels));
  PlanFile::Map model;
  for (const auto &[units, elements] : plan.model)
    model.push_back({units, std::to_string(elements)});
  printMap(os, "model", model);
  os << "reduce_type: " << plan.reduceType << "\n";
  os << "strategy: " << plan.strategy << "\n";
  printMap(os, "units", plan.units);
  auto printList = [&](StringRef key, const auto &names) {
    os << key << ": [";
    interleaveComma(names, os, [&](StringRef name) { os << quoteYaml(name); });
    os << "]\n";
  };
  if (plan.microbatches > 1)
    os << "microbatches: " << plan.microbatches << "\n";
  if (!plan.recompute.empty())
    printList("recompute", plan.recompute);
  if (plan.loops)
    printList("loops", getLoopWords(*plan.loops));
}

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

std::vector<StepUnit> amsp::getStepUnits(mlir::func::FuncOp step) {
  MapVector<StringRef, int64_t> elements;
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    auto role = step.getArgAttrOfType<RoleAttr>(i, kRoleAttr);
    auto unit = step.getArgAttrOfType<mlir::StringAttr>(i, kUnitAttr);
    if (!role || !unit || role.getValue() != Role::Param)
      continue;
    elements[unit.getValue()] +=
        cast<mlir::RankedTensorType>(step.getArgument(i).getType())
            .getNumElements();
  }
  std::vector<StepUnit> units;
  for (auto [name, count] : elements)
    units.push_back({name.str(), count});
  return units;
}

static std::vector<std::string> getNames(ArrayRef<StepUnit> units) {
  std::vector<std::string> names;
  for (const StepUnit &unit : units)
    names.push_back(unit.name);
  return names;
}

PlanFile amsp::makePlanFile(ArrayRef<StepUnit> units,
                            ArrayRef<Strategy> strategies,
                            const Cluster &cluster, StringRef reduceType,
                            ArrayRef<std::string> recompute) {
  PlanFile plan;
  for (const UnitRun &run : findRuns(recompute, {}))
    plan.recompute.push_back(run.pattern);
  plan.cluster = cluster.name;
  plan.levels = cluster.getSizes();
  plan.reduceType = reduceType;
  std::vector<std::string> names = getNames(units), elements, texts;
  MapVector<StringRef, size_t> counts;
  for (auto [unit, strategy] : zip_equal(units, strategies)) {
    elements.push_back(std::to_string(unit.elements));
    texts.push_back(formatStrategy(strategy));
  }
  for (const UnitRun &run : findRuns(names, elements))
    plan.model.push_back({run.pattern, units[run.first].elements});
  for (const std::string &text : texts)
    ++counts[text];
  auto *most = std::max_element(
      counts.begin(), counts.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  if (most == counts.end())
    return plan;
  plan.strategy = most->first;
  for (const UnitRun &run : findRuns(names, texts))
    if (texts[run.first] != plan.strategy)
      plan.units.push_back({run.pattern, texts[run.first]});
  return plan;
}

static Error verifyCluster(const PlanFile &plan, const Cluster &cluster) {
  if (plan.levels.empty())
    return Error::success();
  auto refuse = [&](const Twine &what, const Twine &there, const Twine &here) {
    return createStringError("plan '" + plan.name +
                             "' is for another cluster: its " + what + " is " +
                             there + ", here it is " + here);
  };
  SmallVector<int64_t> levels = cluster.getSizes();
  if (plan.levels.size() != levels.size())
    return refuse("number of levels", Twine(plan.levels.size()),
                  Twine(levels.size()));
  for (auto [index, there, here] : enumerate(plan.levels, levels))
    if (there != here)
      return refuse("level " + Twine(index), Twine(there), Twine(here));
  // A cluster given by its sizes has no name of its own.
  bool isNamed = !StringRef(cluster.name).contains('=') &&
                 !StringRef(plan.cluster).contains('=');
  if (isNamed && !plan.cluster.empty() && plan.cluster != cluster.name)
    return refuse("name", "'" + plan.cluster + "'", "'" + cluster.name + "'");
  return Error::success();
}

static Error verifyModel(const PlanFile &plan, ArrayRef<StepUnit> units) {
  if (plan.model.empty())
    return Error::success();
  auto refuse = [&](const Twine &what) {
    return createStringError("plan '" + plan.name +
                             "' is for another model: " + what);
  };
  SmallVector<bool> isUsed(plan.model.size(), false);
  std::vector<UnitPattern> patterns;
  for (const auto &[text, elements] : plan.model) {
    Expected<UnitPattern> pattern = UnitPattern::parse(text);
    if (!pattern)
      return createStringError("plan '" + plan.name +
                               "': " + toString(pattern.takeError()));
    patterns.push_back(std::move(*pattern));
  }
  for (const StepUnit &unit : units) {
    auto found = find_if(patterns, [&](const UnitPattern &pattern) {
      return pattern.matches(unit.name);
    });
    if (found == patterns.end())
      return refuse("it has no unit '" + unit.name + "'");
    size_t index = found - patterns.begin();
    isUsed[index] = true;
    if (plan.model[index].second != unit.elements)
      return refuse("its unit '" + unit.name + "' has " +
                    Twine(plan.model[index].second) + " parameters, here " +
                    Twine(unit.elements));
  }
  for (auto [pattern, used] : zip_equal(patterns, isUsed))
    if (!used)
      return refuse("the step has no unit '" + pattern.getText() + "', but " +
                    formatUnits(getNames(units)));
  return Error::success();
}

Expected<std::vector<Strategy>> amsp::resolvePlanFile(const PlanFile &plan,
                                                      ArrayRef<StepUnit> units,
                                                      const Cluster &cluster) {
  if (Error error = verifyCluster(plan, cluster))
    return error;
  if (Error error = verifyModel(plan, units))
    return error;
  auto fail = [&](const Twine &what) {
    return createStringError("plan '" + plan.name + "': " + what);
  };
  SmallVector<int64_t> levels = cluster.getSizes();
  std::vector<std::optional<Strategy>> found(units.size());
  std::vector<StringRef> namedBy(units.size());
  for (const auto &[text, strategyText] : plan.units) {
    Expected<UnitPattern> pattern = UnitPattern::parse(text);
    if (!pattern)
      return fail(toString(pattern.takeError()));
    Expected<Strategy> strategy = parseStrategy(strategyText, levels);
    if (!strategy)
      return fail("units '" + text + "': " + toString(strategy.takeError()));
    bool isUsed = false;
    for (auto [index, unit] : enumerate(units)) {
      if (!pattern->matches(unit.name))
        continue;
      isUsed = true;
      if (found[index])
        return fail("unit '" + unit.name + "' is named twice, by '" +
                    namedBy[index] + "' and by '" + text + "'");
      found[index] = *strategy;
      namedBy[index] = text;
    }
    if (!isUsed)
      return fail("no unit is named '" + text + "'; the step has " +
                  formatUnits(getNames(units)));
  }
  std::optional<Strategy> others;
  if (!plan.strategy.empty()) {
    Expected<Strategy> strategy = parseStrategy(plan.strategy, levels);
    if (!strategy)
      return fail(toString(strategy.takeError()));
    others = std::move(*strategy);
  }
  std::vector<Strategy> strategies;
  for (auto [unit, own] : zip_equal(units, found)) {
    if (!own && !others)
      return fail("it gives unit '" + unit.name +
                  "' no strategy, and none for all others");
    strategies.push_back(own ? *own : *others);
  }
  return strategies;
}

Expected<std::vector<std::string>>
amsp::resolveRecompute(const PlanFile &plan, ArrayRef<StepUnit> units) {
  SetVector<StringRef> found;
  for (const std::string &text : plan.recompute) {
    Expected<UnitPattern> pattern = UnitPattern::parse(text);
    if (!pattern)
      return createStringError("plan '" + plan.name +
                               "': " + toString(pattern.takeError()));
    bool isUsed = false;
    for (const StepUnit &unit : units)
      if (pattern->matches(unit.name)) {
        found.insert(unit.name);
        isUsed = true;
      }
    if (!isUsed)
      return createStringError("plan '" + plan.name + "': recompute: no unit " +
                               "is named '" + text + "'; the step has " +
                               formatUnits(getNames(units)));
  }
  std::vector<std::string> names;
  for (const StepUnit &unit : units)
    if (found.contains(unit.name))
      names.push_back(unit.name);
  return names;
}

void amsp::setUnitStrategies(mlir::func::FuncOp step, ArrayRef<StepUnit> units,
                             ArrayRef<Strategy> strategies) {
  StringMap<mlir::DictionaryAttr> attrs;
  for (auto [unit, strategy] : zip_equal(units, strategies))
    attrs[unit.name] = getStrategyAttr(step.getContext(), strategy);
  StepAttributes attributes(step);
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i)
    if (auto unit = step.getArgAttrOfType<mlir::StringAttr>(i, kUnitAttr))
      attributes.ofArgument(i).set(kStrategyAttr,
                                   attrs.lookup(unit.getValue()));
  attributes.write();
}
