//===- PlanSearch.cpp - The best strategies of a model --------------------===//

#include "amsp/Planner/PlanSearch.h"
#include "amsp/Planner/ChoiceSearch.h"
#include "amsp/Planner/OverlapEstimate.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>
#include <map>

using namespace llvm;
using namespace amsp;

void amsp::forEachChain(const StrategySpace &space, int64_t microbatches,
                        function_ref<void(FactorChain)> visit) {
  for (unsigned os = 0; os <= space.getAll(); ++os)
    for (unsigned g : space.getDivisors(os)) {
      if (microbatches == 1) {
        visit({g, g, os});
        continue;
      }
      for (unsigned p : space.getDivisors(g))
        visit({p, g, os});
    }
}

/// Orders strategies by the sizes of their groups.
static std::tuple<int64_t, int64_t, int64_t, unsigned, unsigned, unsigned>
getGroupKey(const StrategySpace &space, const FactorChain &chain) {
  return {space.getPieces(chain.os),
          space.getPieces(chain.g),
          space.getPieces(chain.p),
          chain.os,
          chain.g,
          chain.p};
}

void StrategyTimes::add(const UnitCosts &costs, const FactorChain &chain) {
  auto [p, g, os] = chain;
  gathers += costs.getGatherSeconds(p, os);
  firstGathers.add(costs.getFirstGathers(p, os));
  useGathers.add(costs.getUseGathers(p, os));
  reductions += costs.getReductionSeconds(g, os);
  lastReductions.add(costs.getLastReductions(g, os));
  eachReductions.add(costs.getEachReductions(g, os));
  updates += costs.getUpdateSeconds(os);
  accumulations += costs.getAccumulationSeconds(g, os);
}

double amsp::estimateHidden(const StrategyTimes &of,
                            const UnitCosts::Context &context,
                            double computeSeconds) {
  if (!context.overlapping)
    return 0;
  auto microbatches = static_cast<double>(context.microbatches);
  StepTimes times;
  times.microbatches = context.microbatches;
  times.units = context.overlapping->units;
  times.evenUnits = context.overlapping->evenUnits;
  times.interference = context.overlapping->interference;
  times.isLoop = context.overlapping->isLoop;
  times.isPeeled = context.overlapping->isPeeled;
  times.forward = computeSeconds / 3 / microbatches;
  times.backward = 2 * times.forward + of.accumulations / microbatches;
  times.firstGathers = of.firstGathers;
  times.useGathers.add(of.useGathers, 1 / microbatches);
  times.lastReductions = of.lastReductions;
  times.reductions.add(of.eachReductions, 1 / microbatches);
  times.update = of.updates;
  double overlapping = of.firstGathers.seconds + of.useGathers.seconds +
                       of.lastReductions.seconds + of.eachReductions.seconds;
  double serial = computeSeconds + overlapping + of.updates + of.accumulations;
  return std::max(0.0, serial - estimateOverlappedStep(times));
}

ModelCosts::ModelCosts(ArrayRef<Unit> units, const UnitCosts::Context &context)
    : numUnits(units.size()) {
  using Key = decltype(PlannedParameter().key());
  struct Equal {
    Unit first;
    SmallVector<unsigned> units;
  };
  std::map<std::vector<Key>, Equal> byKey;
  for (auto [index, unit] : enumerate(units)) {
    Unit sorted = unit;
    sort(sorted.parameters,
         [](const PlannedParameter &a, const PlannedParameter &b) {
           return a.key() < b.key();
         });
    std::vector<Key> key;
    for (const PlannedParameter &parameter : sorted.parameters)
      key.push_back(parameter.key());
    Equal &equal = byKey[std::move(key)];
    equal.first = std::move(sorted);
    equal.units.push_back(static_cast<unsigned>(index));
  }
  for (auto &[key, equal] : byKey) {
    groups.push_back({UnitCosts(equal.first, context), std::move(equal.units)});
    evaluations += groups.back().costs.getEvaluations();
  }
}

UnitCosts ModelCosts::getSum(const UnitCosts::Context &context) const {
  UnitCosts sum(Unit{}, context);
  for (const EqualUnits &equal : groups)
    sum.add(equal.costs, static_cast<int64_t>(equal.units.size()));
  return sum;
}

//===----------------------------------------------------------------------===//
// One strategy for the whole model
//===----------------------------------------------------------------------===//

std::vector<Candidate> amsp::rankStrategies(const ModelCosts &model,
                                            const UnitCosts::Context &context,
                                            const MemoryBudget &budget,
                                            double computeSeconds,
                                            double otherSeconds) {
  const StrategySpace &space = context.space;
  UnitCosts costs = model.getSum(context);
  std::vector<Candidate> candidates;
  double least = std::numeric_limits<double>::infinity();
  forEachChain(space, context.microbatches, [&](FactorChain chain) {
    auto [p, g, os] = chain;
    Candidate &candidate = candidates.emplace_back();
    candidate.chain = chain;
    candidate.memory = costs.getMemory(p, g, os);
    candidate.bytes = candidate.memory.getTotal() + budget.activations +
                      (space.getPieces(p) > 1 ? budget.gathered : 0);
    StrategyTimes times;
    times.add(costs, chain);
    candidate.gatherSeconds = times.gathers;
    candidate.reductionSeconds = times.reductions;
    candidate.updateSeconds = times.updates;
    candidate.accumulationSeconds = times.accumulations;
    candidate.hiddenSeconds = estimateHidden(times, context, computeSeconds);
    candidate.fits = candidate.bytes <= budget.limit;
    if (candidate.fits)
      least = std::min(least, candidate.getSeconds());
  });
  double common = computeSeconds + otherSeconds;
  double equal = (least + common) * (1 + kEqualTimes) - common;
  auto getRank = [&](const Candidate &candidate) {
    bool isEqual = candidate.fits && candidate.getSeconds() <= equal;
    double order = isEqual          ? 0
                   : candidate.fits ? candidate.getSeconds()
                                    : candidate.bytes;
    return std::tuple(!candidate.fits, !isEqual, order,
                      getGroupKey(space, candidate.chain));
  };
  sort(candidates, [&](const Candidate &a, const Candidate &b) {
    return getRank(a) < getRank(b);
  });
  return candidates;
}

//===----------------------------------------------------------------------===//
// A strategy for each unit
//===----------------------------------------------------------------------===//

namespace {
/// Units of equal parameters: the fastest strategy for each number of pieces.
struct UnitShape {
  SmallVector<unsigned> units;
  std::vector<FactorChain> chains; // smaller groups first
  ChoiceClass choices;             // one per chain
};
} // namespace

/// Strategies with equal numbers of pieces need equal memory; keeps the fastest
/// of each.
static void addChoices(UnitShape &shape, const UnitCosts &costs,
                       const UnitCosts::Context &context, double exposedShare,
                       int64_t &visited) {
  const StrategySpace &space = context.space;
  std::map<int64_t, size_t> numbers; // of different counts of pieces
  for (unsigned i = 0; i <= space.getAll(); ++i)
    numbers.try_emplace(space.getPieces(i), numbers.size());
  auto size = numbers.size();
  std::vector<size_t> number;
  for (unsigned i = 0; i <= space.getAll(); ++i)
    number.push_back(numbers.at(space.getPieces(i)));
  struct Fastest {
    double seconds = std::numeric_limits<double>::infinity();
    FactorChain chain;
  };
  std::vector<Fastest> fastest(size * size * size);
  forEachChain(space, context.microbatches, [&](FactorChain chain) {
    auto [p, g, os] = chain;
    ++visited;
    Fastest &best = fastest[(number[os] * size + number[g]) * size + number[p]];
    double seconds =
        exposedShare *
            (costs.getGatherSeconds(p, os) + costs.getReductionSeconds(g, os)) +
        costs.getUpdateSeconds(os) + costs.getAccumulationSeconds(g, os);
    if (seconds < best.seconds)
      best = {seconds, chain};
  });
  // In the order of pieces of OS, then G, then P: smaller groups first.
  for (const Fastest &best : fastest) {
    if (std::isinf(best.seconds))
      continue;
    auto [p, g, os] = best.chain;
    shape.chains.push_back(best.chain);
    shape.choices.choices.push_back({costs.getBytes(p, g, os), best.seconds});
  }
}

static std::vector<UnitShape> getShapes(const ModelCosts &costs,
                                        const UnitCosts::Context &context,
                                        double exposedShare, int64_t &visited) {
  std::vector<UnitShape> shapes;
  for (const EqualUnits &equal : costs.groups) {
    UnitShape &shape = shapes.emplace_back();
    shape.units = equal.units;
    shape.choices.units = static_cast<int64_t>(shape.units.size());
    addChoices(shape, equal.costs, context, exposedShare, visited);
  }
  return shapes;
}

/// Moves units to choices with smaller groups while the time stays within
/// `seconds` and the memory within `limit`.
static void preferSmallGroups(ArrayRef<UnitShape> shapes, ChoiceCounts &counts,
                              double limit, double seconds) {
  for (auto [shape, count] : zip(shapes, counts.counts)) {
    ArrayRef<Choice> choices = shape.choices.choices;
    for (size_t from = choices.size(); from-- > 0;)
      for (size_t to = 0; to < from && count[from] > 0; ++to) {
        double slower = choices[to].seconds - choices[from].seconds;
        double larger = choices[to].bytes - choices[from].bytes;
        auto units = static_cast<double>(count[from]);
        if (slower > 0)
          units =
              std::min(units, std::floor((seconds - counts.seconds) / slower));
        if (larger > 0)
          units = std::min(units, std::floor((limit - counts.bytes) / larger));
        if (units < 1)
          continue;
        counts.seconds += units * slower;
        counts.bytes += units * larger;
        count[from] -= static_cast<int64_t>(units);
        count[to] += static_cast<int64_t>(units);
      }
  }
}

/// The chain of each unit: the first of those of a shape take the larger
/// groups.
static std::vector<FactorChain> getChains(ArrayRef<UnitShape> shapes,
                                          const ChoiceCounts &counts,
                                          size_t units) {
  std::vector<FactorChain> chains(units);
  for (auto [shape, count] : zip(shapes, counts.counts)) {
    const auto *unit = shape.units.begin();
    for (size_t choice = count.size(); choice-- > 0;)
      for (int64_t i = 0; i < count[choice]; ++i)
        chains[*unit++] = shape.chains[choice];
  }
  return chains;
}

UnitPlan amsp::planUnits(const ModelCosts &costs,
                         const UnitCosts::Context &context, double limit,
                         double computeSeconds, double exposedShare) {
  UnitPlan plan;
  plan.evaluations = costs.evaluations;
  std::vector<UnitShape> shapes =
      getShapes(costs, context, exposedShare, plan.strategies);
  auto classes = map_to_vector(
      shapes, [](const UnitShape &shape) { return shape.choices; });
  ChoiceCounts counts = selectChoices(classes, limit);
  plan.fits = counts.fits;
  plan.states = counts.states;
  plan.leastSeconds = counts.seconds;
  plan.fastestBytes = counts.bytes;
  plan.fastestChains = getChains(shapes, counts, costs.numUnits);
  plan.bound = counts.leastSeconds;
  if (plan.fits)
    preferSmallGroups(shapes, counts, limit,
                      counts.seconds +
                          kEqualTimes * (counts.seconds + computeSeconds));
  plan.bytes = counts.bytes;
  plan.seconds = counts.seconds;
  plan.chains = getChains(shapes, counts, costs.numUnits);
  return plan;
}
