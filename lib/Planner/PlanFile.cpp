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
struct Elements {
  int64_t value = 0;
  unsigned line = 0;
};
struct ModelEntry {
  std::vector<PlanFile::ModelUnit> units;
};
struct UnitsEntry {
  std::vector<PlanFile::UnitStrategy> strategies;
};
/// The file's keys.
struct PlanDocument {
  Version version;
  ClusterEntry cluster;
  ModelEntry model;
  ReduceTypeName reduceType;
  PlanText strategy;
  UnitsEntry units;
  std::vector<PlanText> recompute;
  Count microbatches;
  std::optional<std::vector<LoopWord>> loops;
};
} // namespace

LLVM_YAML_IS_FLOW_SEQUENCE_VECTOR(LoopWord)
LLVM_YAML_IS_FLOW_SEQUENCE_VECTOR(amsp::PlanText)

/// The line of a scalar of the file, which is the context; 0 for one with
/// escapes, of which there is a copy.
static unsigned getLine(StringRef scalar, void *context) {
  StringRef content = *static_cast<StringRef *>(context);
  bool isPart = std::less_equal<>()(content.begin(), scalar.begin()) &&
                std::less_equal<>()(scalar.end(), content.end());
  if (!isPart)
    return 0;
  return 1 + content.take_front(scalar.begin() - content.begin()).count('\n');
}

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
template <> struct ScalarTraits<Elements> : InputScalarTraits<Elements> {
  static StringRef input(StringRef text, void *context, Elements &elements) {
    elements.line = getLine(text, context);
    bool isNumber = !text.getAsInteger(10, elements.value);
    return isNumber ? "" : "invalid number";
  }
};
template <> struct ScalarTraits<PlanText> : InputScalarTraits<PlanText> {
  static StringRef input(StringRef text, void *context, PlanText &located) {
    located = PlanText(text.str(), getLine(text, context));
    return "";
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
    Elements elements;
    io.mapRequired(key, elements);
    model.units.push_back({key.str(), elements.value, elements.line});
  }
  static void output(IO &, ModelEntry &) {}
};
template <> struct CustomMappingTraits<UnitsEntry> {
  static void inputOne(IO &io, StringRef key, UnitsEntry &units) {
    PlanText strategy;
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
  Expected<PlanDocument> read =
      parseYaml<PlanDocument>(content, name, "plan", &content);
  if (!read)
    return read.takeError();
  PlanDocument &document = *read;
  PlanFile plan;
  plan.name = name;
  plan.cluster = document.cluster.name;
  plan.levels = std::move(document.cluster.levels.values);
  plan.model = std::move(document.model.units);
  plan.reduceType = document.reduceType.text;
  plan.strategy = std::move(document.strategy);
  plan.units = std::move(document.units.strategies);
  plan.recompute = std::move(document.recompute);
  plan.microbatches = document.microbatches.value;
  if (document.loops)
    plan.loops = getLoopForm(*document.loops);
  // Their order in the file is not kept by the reader.
  auto byPattern = [](const auto &a, const auto &b) {
    return a.pattern < b.pattern;
  };
  sort(plan.model, byPattern);
  sort(plan.units, byPattern);
  return plan;
}

Expected<PlanFile> amsp::readPlanFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
  if (!file)
    return createStringError("plan '" + path +
                             "': " + file.getError().message());
  return parsePlanFile((*file)->getBuffer(), path);
}

template <typename Entry>
static void printMap(raw_ostream &os, StringRef key, ArrayRef<Entry> map,
                     function_ref<void(const Entry &)> printValue) {
  if (map.empty())
    return;
  os << key << ":\n";
  for (const Entry &entry : map) {
    os << "  " << quoteYaml(entry.pattern) << ": ";
    printValue(entry);
    os << "\n";
  }
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
  printMap<PlanFile::ModelUnit>(
      os, "model", plan.model,
      [&](const PlanFile::ModelUnit &unit) { os << unit.elements; });
  os << "reduce_type: " << plan.reduceType << "\n";
  os << "strategy: " << plan.strategy.text << "\n";
  printMap<PlanFile::UnitStrategy>(
      os, "units", plan.units,
      [&](const PlanFile::UnitStrategy &unit) { os << unit.strategy.text; });
  auto printList = [&](StringRef key, const auto &names) {
    os << key << ": [";
    interleaveComma(names, os, [&](StringRef name) { os << quoteYaml(name); });
    os << "]\n";
  };
  if (plan.microbatches > 1)
    os << "microbatches: " << plan.microbatches << "\n";
  if (!plan.recompute.empty())
    printList("recompute",
              map_range(plan.recompute, [](const PlanText &units) -> StringRef {
                return units.text;
              }));
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
  plan.strategy.text = most->first;
  for (const UnitRun &run : findRuns(names, texts))
    if (texts[run.first] != plan.strategy.text)
      plan.units.push_back({run.pattern, texts[run.first]});
  return plan;
}

/// An error about the plan, at the line if it is known.
static Error fail(const PlanFile &plan, unsigned line, const Twine &what) {
  if (line == 0)
    return createStringError("plan '" + plan.name + "': " + what);
  return createStringError(plan.name + ":" + Twine(line) + ": " + what);
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
  auto refuse = [&](unsigned line, const Twine &what) {
    return fail(plan, line, "for another model: " + what);
  };
  SmallVector<bool> isUsed(plan.model.size(), false);
  std::vector<UnitPattern> patterns;
  for (const PlanFile::ModelUnit &unit : plan.model) {
    Expected<UnitPattern> pattern = UnitPattern::parse(unit.pattern);
    if (!pattern)
      return fail(plan, unit.line, toString(pattern.takeError()));
    patterns.push_back(std::move(*pattern));
  }
  for (const StepUnit &unit : units) {
    auto found = find_if(patterns, [&](const UnitPattern &pattern) {
      return pattern.matches(unit.name);
    });
    if (found == patterns.end())
      return refuse(0, "it has no unit '" + unit.name + "'");
    size_t index = found - patterns.begin();
    isUsed[index] = true;
    const PlanFile::ModelUnit &there = plan.model[index];
    if (there.elements != unit.elements)
      return refuse(there.line, "its unit '" + unit.name + "' has " +
                                    Twine(there.elements) +
                                    " parameters, here " +
                                    Twine(unit.elements));
  }
  for (auto [there, used] : zip_equal(plan.model, isUsed))
    if (!used)
      return refuse(there.line, "the step has no unit '" + there.pattern +
                                    "', but " + formatUnits(getNames(units)));
  return Error::success();
}

/// Gives the units that the pattern matches its strategy.
static Error assign(const PlanFile &plan, const PlanFile::UnitStrategy &entry,
                    ArrayRef<StepUnit> units, ArrayRef<int64_t> levels,
                    MutableArrayRef<std::optional<Strategy>> found,
                    MutableArrayRef<StringRef> namedBy) {
  const std::string &text = entry.pattern;
  auto failHere = [&](const Twine &what) {
    return fail(plan, entry.strategy.line, what);
  };
  Expected<UnitPattern> pattern = UnitPattern::parse(text);
  if (!pattern)
    return failHere(toString(pattern.takeError()));
  Expected<Strategy> strategy = parseStrategy(entry.strategy.text, levels);
  if (!strategy)
    return failHere("units '" + text + "': " + toString(strategy.takeError()));
  bool isUsed = false;
  for (auto [unit, own, by] : zip_equal(units, found, namedBy)) {
    if (!pattern->matches(unit.name))
      continue;
    isUsed = true;
    if (own)
      return failHere("unit '" + unit.name + "' is named twice, by '" + by +
                      "' and by '" + text + "'");
    own = *strategy;
    by = text;
  }
  if (!isUsed)
    return failHere("no unit is named '" + text + "'; the step has " +
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
  SmallVector<int64_t> levels = cluster.getSizes();
  std::vector<std::optional<Strategy>> found(units.size());
  std::vector<StringRef> namedBy(units.size());
  for (const PlanFile::UnitStrategy &entry : plan.units)
    if (Error error = assign(plan, entry, units, levels, found, namedBy))
      return error;
  std::optional<Strategy> others;
  if (!plan.strategy.text.empty()) {
    Expected<Strategy> strategy = parseStrategy(plan.strategy.text, levels);
    if (!strategy)
      return fail(plan, plan.strategy.line, toString(strategy.takeError()));
    others = std::move(*strategy);
  }
  std::vector<Strategy> strategies;
  for (auto [unit, own] : zip_equal(units, found)) {
    if (!own && !others)
      return fail(plan, 0,
                  "it gives unit '" + unit.name +
                      "' no strategy, and none for all others");
    strategies.push_back(own ? *own : *others);
  }
  return strategies;
}

Expected<std::vector<std::string>>
amsp::resolveRecompute(const PlanFile &plan, ArrayRef<StepUnit> units) {
  SetVector<StringRef> found;
  for (const PlanText &entry : plan.recompute) {
    Expected<UnitPattern> pattern = UnitPattern::parse(entry.text);
    if (!pattern)
      return fail(plan, entry.line, toString(pattern.takeError()));
    bool isUsed = false;
    for (const StepUnit &unit : units)
      if (pattern->matches(unit.name)) {
        found.insert(unit.name);
        isUsed = true;
      }
    if (!isUsed)
      return fail(plan, entry.line,
                  "recompute: no unit is named '" + entry.text +
                      "'; the step has " + formatUnits(getNames(units)));
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
