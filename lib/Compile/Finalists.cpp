//===- Finalists.cpp - The best plans, compiled ---------------------------===//

#include "amsp/Compile/Finalists.h"
#include "PlanCompiler.h"
#include "StepSearch.h"
#include "amsp/Compile/TooLargeError.h"
#include "amsp/Planner/UnitPattern.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace amsp;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::formatv;

/// Smaller plans that are tried if no finalist fits.
static constexpr size_t kSmallerPlans = 4;
/// Of the memory there is, what no plan needs that turns out to fit.
static constexpr double kHopeless = 1.5;
/// Plans that are tried if the bound on the bytes in flight excludes all
/// finalists.
static constexpr size_t kAllowedPlans = 16;
/// Searches with the memory that compiled plans turned out to need.
static constexpr int kCorrections = 2;
/// By what share the search's estimates of bytes and of seconds are known to be
/// off; see docs/planner.md.
static constexpr double kBytesError = 0.15, kSecondsError = 0.05;

char TooLargeError::ID = 0;

std::string amsp::formatStrategies(ArrayRef<StepUnit> units,
                                   ArrayRef<Strategy> strategies) {
  llvm::MapVector<StringRef, std::vector<std::string>> unitsOf;
  std::vector<std::string> texts;
  for (const Strategy &strategy : strategies)
    texts.push_back(formatStrategy(strategy));
  for (auto [unit, text] : llvm::zip_equal(units, texts))
    unitsOf[text].push_back(unit.name);
  std::string all;
  for (auto &[text, names] : unitsOf) {
    all += (all.empty() ? "" : ", ") + text.str();
    if (unitsOf.size() > 1)
      all += " for " + formatUnits(names);
  }
  return all;
}

namespace {
class FinalistSearch {
public:
  FinalistSearch(ModuleOp step, const Cluster &cluster,
                 const PlanningOptions &options,
                 const CollectiveModel &collectives)
      : step(step), cluster(cluster), options(options),
        units(getStepUnits(getStepFunction(step))), collectives(collectives),
        limit(options.memoryLimit.value_or(*cluster.device->memory)),
        compiler(step, units, this->options.partition,
                 this->options.communication, cluster, this->collectives,
                 limit) {
    this->options.partition.levels = cluster.getSizes();
  }

  Expected<PlannedStep> run();

private:
  Plan searchWith(double budget) const;
  Expected<Plan> search();
  Error compile(std::vector<Finalist> selected, bool lowers);
  Error compileSelected(const Plan &plan);
  Error lower(Finalist &finalist);
  Error lowerUntilOneFits();
  double getCorrection() const;
  Error correctMisses();
  std::vector<Finalist> select(const Plan &plan) const;
  void addSteadyPlans(const Plan &plan, std::vector<Finalist> &selected) const;
  Error addPresets(const Plan &plan);
  std::vector<Finalist> getRivalPresets(const Plan &plan) const;
  Error addSmallerPlans(const Plan &plan);
  Error addAllowedPlans(const Plan &plan);
  void sortFinalists();
  Error makeTooLargeError() const;
  Error makeBoundError() const;
  Finalist makeFinalist(const Plan &plan, const Candidate &candidate) const;
  bool isKnown(ArrayRef<Strategy> strategies) const {
    return llvm::any_of(finalists, [&](const Finalist &finalist) {
      return ArrayRef(finalist.strategies) == strategies;
    });
  }
  /// Whether the bound on the bytes in flight is enough, as far as is known.
  bool isAllowed(const Finalist &finalist) const {
    return !finalist.compiled ||
           options.communication.allows(finalist.compiled->prefetchBytes);
  }
  bool fits(const Finalist &finalist) const {
    return finalist.getBytes() <= limit && isAllowed(finalist);
  }
  /// Whether it fits, as far as is known.
  bool mayFit(const Finalist &finalist) const {
    bool isEstimate = options.finalists > 0 && !finalist.isLowered();
    return isAllowed(finalist) &&
           finalist.getBytes() <= limit * (isEstimate ? 1 + kBytesError : 1);
  }
  bool hasFitting() const {
    return llvm::any_of(finalists, [&](const Finalist &f) { return fits(f); });
  }

  ModuleOp step;
  const Cluster &cluster;
  PlanningOptions options;
  std::vector<StepUnit> units;
  CollectiveModel collectives;
  std::optional<StepModel> model;
  /// What a rank needs with everything sharded, if that was compiled.
  std::optional<double> shardedBytes;
  double limit = 0;
  PlanCompiler compiler;
  std::vector<Finalist> finalists;
};
} // namespace

Error FinalistSearch::compile(std::vector<Finalist> selected, bool lowers) {
  llvm::erase_if(selected, [&](const Finalist &finalist) {
    return isKnown(finalist.strategies);
  });
  if (options.finalists > 0) {
    std::vector<PlanTask> tasks;
    for (const Finalist &finalist : selected)
      tasks.push_back({finalist.strategies, lowers, {}});
    if (Error error = compiler.compile(std::move(tasks)))
      return error;
    for (Finalist &finalist : selected)
      finalist.compiled = compiler.get(finalist.strategies);
  }
  llvm::move(selected, std::back_inserter(finalists));
  return Error::success();
}

Finalist FinalistSearch::makeFinalist(const Plan &plan,
                                      const Candidate &candidate) const {
  Finalist finalist;
  finalist.strategies.assign(units.size(), plan.getStrategy(candidate));
  finalist.estimatedSeconds = plan.getStepSeconds(candidate);
  finalist.estimatedBytes = candidate.bytes;
  return finalist;
}

/// The smallest plans by the estimate, until one fits.
Error FinalistSearch::addSmallerPlans(const Plan &plan) {
  auto candidates = llvm::map_to_vector(
      plan.candidates, [](const Candidate &candidate) { return &candidate; });
  // Of equal ones, the first, by its place in the list of candidates.
  llvm::sort(candidates, [](const Candidate *a, const Candidate *b) {
    return std::tie(a->bytes, a) < std::tie(b->bytes, b);
  });
  for (const Candidate *candidate :
       ArrayRef(candidates).take_front(kSmallerPlans)) {
    bool isHopeless =
        !finalists.empty() && candidate->bytes > kHopeless * limit;
    if (hasFitting() || isHopeless)
      break;
    if (Error error = compile({makeFinalist(plan, *candidate)}, true))
      return error;
  }
  return Error::success();
}

/// Where the bound on the bytes in flight excludes what was selected: others in
/// the order of the search, and last the one with the fewest pieces, which
/// gathers the least, until one fits.
Error FinalistSearch::addAllowedPlans(const Plan &plan) {
  auto getPieces = [&](const Candidate *candidate) {
    int64_t pieces = 1;
    for (int64_t factor : plan.getStrategy(*candidate).os)
      pieces *= factor;
    return pieces;
  };
  SmallVector<const Candidate *> candidates;
  const Candidate *fewest = nullptr;
  for (const Candidate &candidate : plan.candidates) {
    if (!candidate.fits)
      continue;
    if (candidates.size() < kAllowedPlans)
      candidates.push_back(&candidate);
    if (!fewest || getPieces(&candidate) < getPieces(fewest))
      fewest = &candidate;
  }
  if (fewest)
    candidates.push_back(fewest);
  for (const Candidate *candidate : candidates) {
    if (hasFitting())
      break;
    Finalist finalist = makeFinalist(plan, *candidate);
    if (isKnown(finalist.strategies))
      continue;
    if (Error error = compile({std::move(finalist)}, /*lowers=*/false))
      return error;
    if (isAllowed(finalists.back()))
      if (Error error = lower(finalists.back()))
        return error;
  }
  return Error::success();
}

/// Of a step that fits, but not with so few bytes in flight.
Error FinalistSearch::makeBoundError() const {
  const Finalist *least = nullptr;
  for (const Finalist &finalist : finalists)
    if (!isAllowed(finalist) && finalist.getBytes() <= limit &&
        (!least ||
         finalist.compiled->prefetchBytes < least->compiled->prefetchBytes))
      least = &finalist;
  if (!least)
    return makeTooLargeError();
  return llvm::make_error<TooLargeError>(
      formatv("a bound of {0} bytes in flight (prefetch-bytes) is too small "
              "for every strategy that was tried: the least, {1}, for {2}",
              options.communication.prefetchBytes,
              least->compiled->prefetchBytes,
              formatStrategies(units, least->strategies)),
      least->getBytes());
}

Error FinalistSearch::makeTooLargeError() const {
  const Finalist &least = finalists.front();
  std::string what = formatv(
      "the step fits under no strategy: the smallest, {0}, needs {1} of a rank "
      "({2} bytes), and cluster '{3}' has {4}",
      formatStrategies(units, least.strategies), formatBytes(least.getBytes()),
      static_cast<int64_t>(least.getBytes()), cluster.name, formatBytes(limit));
  if (!least.isLowered())
    return llvm::make_error<TooLargeError>(what, least.getBytes());
  const MemoryProfile &memory = *least.compiled->memory;
  auto ofUse = [&](BufferUse use) {
    return static_cast<double>(memory.peak[static_cast<size_t>(use)]);
  };
  std::pair<double, const char *> items[] = {
      {static_cast<double>(memory.stateBytes),
       "parameters and optimizer states at rest, which more ranks would "
       "divide"},
      {ofUse(BufferUse::Gradients), "gradients, which more ranks would divide"},
      {ofUse(BufferUse::Kept),
       "parameters kept between uses, which more ranks would divide"},
      {ofUse(BufferUse::Activations),
       "activations, which a smaller batch, more microbatches, recomputation "
       "or more ranks would reduce"},
      {ofUse(BufferUse::Gathered),
       "parameters at their use, which smaller layers would reduce"},
      {ofUse(BufferUse::Communication), "buffers of collectives"},
      {static_cast<double>(memory.inputBytes + memory.resultBytes),
       "the batch and the results, which a smaller batch would reduce"}};
  auto largest = *std::max_element(
      std::begin(items), std::end(items),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  return llvm::make_error<TooLargeError>(
      formatv("{0}; most of it, {1}, are {2}", what, formatBytes(largest.first),
              largest.second)
          .str(),
      least.getBytes());
}

/// The best plans by the search's estimate, uncompiled.
std::vector<Finalist> FinalistSearch::select(const Plan &plan) const {
  std::vector<Finalist> selected;
  if (plan.areUnitsBetter()) {
    Finalist &byUnit = selected.emplace_back();
    byUnit.strategies = plan.getStrategies(units);
    byUnit.estimatedSeconds = plan.getUnitPlanSeconds();
    byUnit.estimatedBytes = plan.unitPlan.bytes + plan.getCommonBytes();
  }
  for (const Candidate &candidate : plan.candidates) {
    if (selected.size() >= std::max<size_t>(1, options.finalists))
      break;
    if (candidate.fits)
      selected.push_back(makeFinalist(plan, candidate));
  }
  if (options.finalists > 1)
    addSteadyPlans(plan, selected);
  return selected;
}

/// Plans that are compiled under every limit that may allow them, so that the
/// best plan gets no slower with more memory: from the smallest, each next one
/// that is faster. Only those are left out that the estimate puts so far behind
/// the best that no compilation turns them round. One that the estimate puts
/// little above the limit may turn out to fit.
void FinalistSearch::addSteadyPlans(const Plan &plan,
                                    std::vector<Finalist> &selected) const {
  double most = std::numeric_limits<double>::infinity();
  std::vector<std::pair<double, const Candidate *>> bySize;
  for (const Candidate &candidate : plan.candidates) {
    if (candidate.fits)
      most =
          std::min(most, plan.getStepSeconds(candidate) * (1 + kSecondsError));
    if (candidate.bytes <= limit * (1 + kBytesError))
      bySize.emplace_back(candidate.bytes, &candidate);
  }
  llvm::sort(bySize, [&](const auto &a, const auto &b) {
    return std::tuple(a.first, plan.getStepSeconds(*a.second), a.second) <
           std::tuple(b.first, plan.getStepSeconds(*b.second), b.second);
  });
  double last = std::numeric_limits<double>::infinity();
  for (const auto &[bytes, candidate] : bySize) {
    double seconds = plan.getStepSeconds(*candidate);
    if (seconds * (1 + kEqualTimes) >= last)
      continue;
    last = seconds;
    Finalist finalist = makeFinalist(plan, *candidate);
    bool isSelected = llvm::any_of(selected, [&](const Finalist &other) {
      return other.strategies == finalist.strategies;
    });
    if (seconds <= most && !isSelected)
      selected.push_back(std::move(finalist));
  }
}

/// Those that fit by time, but in the order of the search where they are
/// equally fast; the others follow, the smallest first.
void FinalistSearch::sortFinalists() {
  double least = std::numeric_limits<double>::infinity();
  for (const Finalist &finalist : finalists)
    if (mayFit(finalist))
      least = std::min(least, finalist.getSeconds());
  auto getRank = [&](const Finalist &finalist) {
    if (!mayFit(finalist))
      return std::pair(2, finalist.getBytes());
    bool isEqual = finalist.getSeconds() <= least * (1 + kEqualTimes);
    return isEqual ? std::pair(0, 0.0) : std::pair(1, finalist.getSeconds());
  };
  std::vector<std::pair<std::pair<int, double>, size_t>> order;
  for (auto [index, finalist] : llvm::enumerate(finalists))
    order.emplace_back(getRank(finalist), index);
  llvm::sort(order);
  std::vector<Finalist> sorted;
  for (auto [rank, index] : order)
    sorted.push_back(std::move(finalists[index]));
  finalists = std::move(sorted);
}

Error FinalistSearch::lower(Finalist &finalist) {
  std::vector<PlanTask> task;
  task.push_back({finalist.strategies, /*lowers=*/true, {}});
  if (Error error = compiler.compile(std::move(task)))
    return error;
  finalist.compiled = compiler.get(finalist.strategies);
  return Error::success();
}

Error FinalistSearch::lowerUntilOneFits() {
  // Lowering tells more of a plan: its memory, and so the form of its loops.
  sortFinalists();
  while (!finalists.empty() && !finalists.front().isLowered()) {
    if (Error error = lower(finalists.front()))
      return error;
    sortFinalists();
  }
  return Error::success();
}

/// The best plans within so many bytes of a rank, by the search's model.
Plan FinalistSearch::searchWith(double budget) const {
  const CommunicateOptions &communication = options.communication;
  bool knowsLinks = !communication.cluster.empty();
  // Where it is left to be decided, what is faster by the estimate, too.
  auto runs = [&](LoopSwitch given) {
    return given == LoopSwitch::On || (given == LoopSwitch::Auto && knowsLinks);
  };
  CollectivePasses passes{communication.fuse,
                          communication.decompose && knowsLinks,
                          cantFail(parseOverlapSet(communication.overlap)),
                          runs(communication.peelMicrobatches),
                          runs(communication.pipelineLoops),
                          {}};
  if (communication.quantizeGathers)
    passes.wire.gatherBlock = communication.quantizeBlock;
  if (communication.quantizeReductions)
    passes.wire.reductionBlock = communication.quantizeBlock;
  return searchPlans(*model, collectives, cluster, budget, shardedBytes,
                     passes);
}

/// The plans by the search's model. With everything sharded, the program tells
/// what the model counts, and its memory that is not of model states is what
/// all plans need.
Expected<Plan> FinalistSearch::search() {
  SmallVector<int64_t> all = cluster.getSizes();
  PlanTask sharded;
  sharded.strategies.assign(units.size(), Strategy{all, all, all});
  auto program =
      partitionPlan(step, units, sharded.strategies, options.partition);
  if (!program)
    return program.takeError();
  FailureOr<StepModel> counted =
      countStepModel(**program, *cluster.device, collectives);
  if (failed(counted))
    return createStringError("");
  model = std::move(*counted);
  if (options.finalists == 0)
    return searchWith(limit);
  std::vector<Strategy> strategies = sharded.strategies;
  std::vector<PlanTask> tasks;
  sharded.program = std::move(*program);
  // What all plans need does not depend on the limit.
  sharded.isLeanest = true;
  tasks.push_back(std::move(sharded));
  // What the estimate selects is likely to be selected again, so other threads
  // begin with it.
  if (compiler.isParallel())
    for (Finalist &finalist : select(searchWith(limit)))
      tasks.push_back(
          {std::move(finalist.strategies), !options.stopsAtFirstFit, {}});
  if (Error error = compiler.compile(std::move(tasks)))
    return error;
  shardedBytes =
      static_cast<double>(compiler.getLeanest(strategies).memory->getTotal());
  return searchWith(limit);
}

/// Compiles the best plans of a search, as far as the options say.
Error FinalistSearch::compileSelected(const Plan &plan) {
  if (Error error = compile(select(plan), !options.stopsAtFirstFit))
    return error;
  return options.stopsAtFirstFit ? lowerUntilOneFits() : Error::success();
}

/// The most bytes by which a plan that the search took to fit needs more than
/// it said, and so does not fit, though it is faster than what does; 0 if there
/// is none.
double FinalistSearch::getCorrection() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Finalist &finalist : finalists)
    if (finalist.isLowered() && fits(finalist))
      least = std::min(least, finalist.getSeconds());
  double correction = 0;
  for (const Finalist &finalist : finalists)
    if (finalist.isLowered() && isAllowed(finalist) && !fits(finalist) &&
        finalist.estimatedBytes <= limit &&
        finalist.getSeconds() * (1 + kEqualTimes) < least)
      correction =
          std::max(correction, finalist.getBytes() - finalist.estimatedBytes);
  return correction;
}

/// Where compiled plans need more than the search said, the best ones within
/// what that leaves.
Error FinalistSearch::correctMisses() {
  double corrected = 0;
  for (int i = 0; i < kCorrections; ++i) {
    double correction = getCorrection();
    if (correction <= corrected)
      break;
    corrected = correction;
    if (Error error = compileSelected(searchWith(limit - corrected)))
      return error;
  }
  return Error::success();
}

/// With groups of each number of inner levels, where a preset takes one.
static SmallVector<Strategy> getPresets(ArrayRef<int64_t> levels) {
  SmallVector<std::string> names = {"ddp", "zero1", "zero2", "zero3"};
  for (size_t inner = 1; inner < levels.size(); ++inner)
    for (const char *name : {"mics:", "hpz:"})
      names.push_back(name + formatFactors(levels.take_front(inner)));
  return llvm::map_to_vector(names, [&](const std::string &name) {
    return llvm::cantFail(parseStrategy(name, levels));
  });
}

/// Presets that are not compiled, and that may be faster than what is, were
/// they estimated as much too slow as any compiled plan was.
std::vector<Finalist> FinalistSearch::getRivalPresets(const Plan &plan) const {
  SmallVector<int64_t> all = cluster.getSizes();
  Strategy sharded{all, all, all};
  const CompiledPlan &leanest =
      compiler.getLeanest(std::vector<Strategy>(units.size(), sharded));
  double least = std::numeric_limits<double>::infinity();
  double excess =
      plan.getStepSeconds(plan.getCandidate(sharded)) / leanest.getSeconds();
  for (const Finalist &finalist : finalists) {
    excess =
        std::max(excess, finalist.estimatedSeconds / finalist.getSeconds());
    if (mayFit(finalist))
      least = std::min(least, finalist.getSeconds());
  }
  double most = least * std::max(1.0, excess) * (1 + kSecondsError);
  std::vector<Finalist> rivals;
  for (const Strategy &preset : getPresets(all)) {
    const Candidate &candidate = plan.getCandidate(preset);
    Finalist rival = makeFinalist(plan, candidate);
    bool isListed = llvm::any_of(rivals, [&](const Finalist &other) {
      return other.strategies == rival.strategies;
    });
    if (!isListed && !isKnown(rival.strategies) && mayFit(rival) &&
        std::isfinite(most) && rival.estimatedSeconds <= most)
      rivals.push_back(std::move(rival));
  }
  return rivals;
}

/// So that no preset is faster by the simulation than what is chosen.
Error FinalistSearch::addPresets(const Plan &plan) {
  if (options.finalists <= 1)
    return Error::success();
  // Each one that is compiled may show the estimate to be further off.
  for (auto rivals = getRivalPresets(plan); !rivals.empty();
       rivals = getRivalPresets(plan)) {
    if (Error error = compile(std::move(rivals), !options.stopsAtFirstFit))
      return error;
    if (!options.stopsAtFirstFit)
      continue;
    if (Error error = lowerUntilOneFits())
      return error;
  }
  return Error::success();
}

Expected<PlannedStep> FinalistSearch::run() {
  Expected<Plan> plan = search();
  if (!plan)
    return plan.takeError();
  if (Error error = compileSelected(*plan))
    return error;
  if (Error error = correctMisses())
    return error;
  if (Error error = addPresets(*plan))
    return error;
  if (Error error = addSmallerPlans(*plan))
    return error;
  if (options.finalists > 0)
    if (Error error = addAllowedPlans(*plan))
      return error;
  sortFinalists();
  if (!hasFitting())
    return makeBoundError();
  llvm::erase_if(finalists, [&](const Finalist &finalist) {
    return !isAllowed(finalist);
  });
  return PlannedStep{
      std::move(*plan), units, limit, std::move(finalists), {}, {}, {}};
}

void amsp::getPlanningDialects(DialectRegistry &registry) {
  OpPassManager passes(ModuleOp::getOperationName());
  buildPartitionImportedPipeline(passes, PartitionOptions());
  buildCommunicatePipeline(passes, CommunicateOptions());
  buildMemoryPlanPipeline(passes);
  passes.getDependentDialects(registry);
}

Error amsp::setSearch(PlanningOptions &options, ArrayRef<std::string> choices) {
  for (const std::string &choice : choices) {
    if (choice != "recompute" && choice != "microbatch")
      return createStringError("--search " + choice +
                               ": expected recompute or microbatch");
    (choice == "recompute" ? options.searchRecompute
                           : options.searchMicrobatches) = true;
  }
  return Error::success();
}

Expected<PlannedStep> amsp::findPlan(ModuleOp step, const Cluster &cluster,
                                     const PlanningOptions &options) {
  // Remarks are those of the compilation that follows.
  ScopedDiagnosticHandler quiet(step.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  if (Error error = verifyForPlanning(cluster))
    return error;
  Expected<CollectiveModel> collectives = CollectiveModel::create(cluster);
  if (!collectives)
    return collectives.takeError();
  auto findPlanOf = [&](ModuleOp changed) {
    return FinalistSearch(changed, cluster, options, *collectives).run();
  };
  if (!options.searchesSteps())
    return findPlanOf(step);
  int64_t ranks = 1;
  for (int64_t size : cluster.getSizes())
    ranks *= size;
  return searchSteps(step, ranks, options, findPlanOf);
}

Finalist amsp::estimateFinalist(const PlannedStep &planned,
                                ArrayRef<Strategy> strategies) {
  Finalist finalist;
  finalist.strategies.assign(strategies.begin(), strategies.end());
  std::tie(finalist.estimatedSeconds, finalist.estimatedBytes) =
      planned.plan.estimate(planned.units, strategies);
  return finalist;
}

Expected<Finalist> amsp::compileFinalist(ModuleOp step,
                                         const PlannedStep &planned,
                                         const Cluster &cluster,
                                         ArrayRef<Strategy> strategies,
                                         const PlanningOptions &options) {
  Finalist finalist = estimateFinalist(planned, strategies);
  Expected<CompiledPlan> compiled =
      compilePlan(step, planned.units, strategies, options.partition,
                  options.communication, cluster, planned.plan.collectives,
                  planned.memoryLimit, /*lowers=*/options.finalists > 0);
  if (!compiled)
    return compiled.takeError();
  finalist.compiled = std::move(*compiled);
  return finalist;
}
