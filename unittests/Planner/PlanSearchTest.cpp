//===- PlanSearchTest.cpp - Memory, volumes and the best strategies -------===//

#include "Scenario.h"
#include "amsp/Planner/Decomposition.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <map>
#include <set>

using namespace amsp;

TEST(StrategySpaceTest, AllChains) {
  StrategySpace space({4, 3});
  EXPECT_EQ(space.getNumFactors(), 6u);
  EXPECT_EQ(space.getPieces(space.getAll()), 12);
  int64_t chains = 0, shortChains = 0;
  forEachChain(space, 2, [&](FactorChain chain) {
    ++chains;
    Strategy strategy = space.getStrategy(chain.p, chain.g, chain.os);
    EXPECT_EQ(toString(verifyStrategy(strategy, {4, 3})), "");
  });
  // Chains of three factors: 10 of 4 = 2^2, 4 of 3.
  EXPECT_EQ(chains, 40);
  forEachChain(space, 1, [&](FactorChain chain) {
    ++shortChains;
    EXPECT_EQ(chain.p, chain.g);
  });
  EXPECT_EQ(shortChains, 6 * 3);
}

/// Gigabytes of the ZeRO paper's table for ranks of one level.
static std::vector<double> getZeroTable(double parameters, int64_t ranks) {
  Scenario scenario({ranks}, 2);
  Unit unit = makeUnit(static_cast<int64_t>(parameters));
  UnitCosts costs(unit, scenario.context);
  unsigned all = scenario.space.getAll();
  return {costs.getBytes(0, 0, 0) / 1e9, costs.getBytes(0, 0, all) / 1e9,
          costs.getBytes(0, all, all) / 1e9,
          costs.getBytes(all, all, all) / 1e9};
}

TEST(UnitCostsTest, MemoryOfZero) {
  using testing::DoubleNear;
  using testing::ElementsAre;
  auto near = [](double value) { return DoubleNear(value, 0.051); };
  EXPECT_THAT(
      getZeroTable(7.5e9, 64),
      ElementsAre(near(120), near(31.4), near(16.6), DoubleNear(1.88, 0.005)));
  EXPECT_THAT(getZeroTable(7.5e9, 4),
              ElementsAre(near(120), near(52.5), near(41.3), near(30)));
  EXPECT_THAT(getZeroTable(7.5e9, 16),
              ElementsAre(near(120), near(35.6), near(21.6), near(7.5)));
  EXPECT_THAT(
      getZeroTable(7.5e9, 1024),
      ElementsAre(near(120), near(30.1), near(15.1), DoubleNear(0.12, 0.005)));
  EXPECT_THAT(getZeroTable(1e12, 1024),
              ElementsAre(near(16000), near(4011.7), near(2013.7), near(15.6)));
}

TEST(UnitCostsTest, VolumesOfPresets) {
  // Without latency, on one level, a time is a volume over the bandwidth.
  Scenario scenario({8}, 1, 1e9, 1e-9 * 1e-6);
  PlannedParameter parameter = makeMixedPrecision(1 << 20, /*gathers=*/2);
  parameter.restBytes = parameter.useBytes = parameter.reductionBytes = 4;
  UnitCosts costs({"unit", {parameter}}, scenario.context);
  double phi = (1 << 20) * 4 * 7 / 8.0 / 1e9;
  unsigned all = scenario.space.getAll(), two = scenario.getNumber({2});
  auto getVolume = [&](unsigned p, unsigned g, unsigned os) {
    return costs.getGatherSeconds(p, os) + costs.getReductionSeconds(g, os);
  };
  EXPECT_NEAR(getVolume(0, 0, 0), 2 * phi, 1e-9);     // DDP
  EXPECT_NEAR(getVolume(0, 0, all), 2 * phi, 1e-9);   // ZeRO-1
  EXPECT_NEAR(getVolume(0, all, all), 2 * phi, 1e-9); // ZeRO-2
  EXPECT_NEAR(getVolume(all, all, all), 3 * phi, 1e-9);
  // Hybrid: both gathers and the reduce_scatter of the whole over 2, then an
  // all_reduce of half over the 4 replicas.
  double whole = (1 << 20) * 4 / 1e9;
  EXPECT_NEAR(getVolume(two, two, two), 3 * whole / 2 + 2 * (whole / 2) * 3 / 4,
              1e-9);
}

TEST(UnitCostsTest, VolumesOfInt8) {
  // A scale of 4 bytes for each 64 elements.
  Scenario scenario({8}, 1, 1e9, 1e-9 * 1e-6);
  PlannedParameter parameter = makeMixedPrecision(1 << 20, /*gathers=*/2);
  parameter.restBytes = parameter.useBytes = parameter.reductionBytes = 4;
  scenario.context.wire = {64, 64};
  UnitCosts costs({"unit", {parameter}}, scenario.context);
  double phi = (1 << 20) * (1 + 4 / 64.0) * 7 / 8.0 / 1e9;
  unsigned all = scenario.space.getAll();
  EXPECT_NEAR(costs.getGatherSeconds(all, all), 2 * phi, 1e-9);
  EXPECT_NEAR(costs.getReductionSeconds(all, all), phi, 1e-9);
  // To all ranks: the sum of a piece, and a gather of the sums.
  EXPECT_NEAR(costs.getReductionSeconds(0, 0), 2 * phi, 1e-9);
  // Codes and scales of single elements are larger than what they stand for.
  scenario.context.wire = {1, 1};
  UnitCosts exact({"unit", {parameter}}, scenario.context);
  EXPECT_NEAR(exact.getReductionSeconds(all, all),
              (1 << 20) * 4 * 7 / 8.0 / 1e9, 1e-9);
}

TEST(UnitCostsTest, SumsOfInt8GoLevelByLevel) {
  // 4 ranks at 1 GB/s in each of 2 nodes that have 0.25 GB/s together.
  Scenario scenario({4, 2}, 1, 1e9, 1e-15);
  PlannedParameter parameter = makeMixedPrecision(1 << 20);
  scenario.context.wire.reductionBlock = 64;
  UnitCosts costs({"unit", {parameter}}, scenario.context);
  unsigned all = scenario.space.getAll();
  double bytes = (1 << 20) * (1 + 4 / 64.0);
  double inside = bytes * 3 / 4 / 1e9;
  // Then each rank has a quarter, and all four share the node's link.
  double across = 4 * (bytes / 4) / 2 / 0.25e9;
  EXPECT_NEAR(costs.getReductionSeconds(all, all), inside + across, 1e-9);
}

TEST(UnitCostsTest, AccumulationReducesOncePerMicrobatch) {
  Scenario one({8}, 1, 1e9, 1e-15), four({8}, 4, 1e9, 1e-15);
  PlannedParameter parameter = makeMixedPrecision(1 << 20);
  UnitCosts once({"unit", {parameter}}, one.context);
  UnitCosts often({"unit", {parameter}}, four.context);
  unsigned all = one.space.getAll();
  // Kept whole, a gradient is reduced once; kept in pieces, each time.
  EXPECT_NEAR(often.getReductionSeconds(0, all),
              once.getReductionSeconds(0, all), 1e-9);
  EXPECT_NEAR(often.getReductionSeconds(all, all),
              4 * once.getReductionSeconds(0, all), 1e-9);
}

TEST(UnitCostsTest, PaddingAndPiecesInPlace) {
  Scenario scenario({8}, 1);
  PlannedParameter parameter = makeMixedPrecision(9);
  parameter.useBytes = 4;
  UnitCosts costs({"unit", {parameter}}, scenario.context);
  unsigned all = scenario.space.getAll();
  // 9 elements are padded to 16: pieces of 2. What rests is what is kept.
  EXPECT_EQ(costs.getMemory(all, all, all).parameters, 0);
  EXPECT_EQ(costs.getMemory(all, all, all).states, 2 * (4 + 8));
  EXPECT_EQ(costs.getMemory(0, 0, all).parameters, 16 * 4);
}

TEST(UnitCostsTest, FusedCollectivesAreOne) {
  Scenario scenario({4, 4}, 4);
  Unit pair{"pair", {makeMixedPrecision(1 << 10), makeMixedPrecision(1 << 12)}};
  UnitCosts apart(pair, scenario.context);
  scenario.context.fuses = true;
  UnitCosts fused(pair, scenario.context);
  UnitCosts one(makeUnit((1 << 10) + (1 << 12)), scenario.context);
  forEachChain(scenario.space, 4, [&](FactorChain chain) {
    auto [p, g, os] = chain;
    EXPECT_EQ(fused.getSeconds(p, g, os), one.getSeconds(p, g, os));
    EXPECT_EQ(fused.getBytes(p, g, os), apart.getBytes(p, g, os));
    EXPECT_LE(fused.getSeconds(p, g, os), apart.getSeconds(p, g, os));
  });
  unsigned all = scenario.space.getAll();
  EXPECT_LT(fused.getSeconds(all, all, all),
            0.99 * apart.getSeconds(all, all, all));
  // Not those of which one is needed more often.
  pair.parameters.front().gathers = 8;
  EXPECT_GT(UnitCosts(pair, scenario.context).getGatherSeconds(all, all),
            one.getGatherSeconds(all, all) * 1.01);
}

TEST(UnitCostsTest, CollectivesOverLevelsAreSeveralIfThatIsFaster) {
  Scenario scenario({8, 4}, 1, 1e9, 1e-4);
  PlannedParameter parameter = makeMixedPrecision(1 << 10, /*gathers=*/2);
  UnitCosts whole({"unit", {parameter}}, scenario.context);
  scenario.context.decomposes = true;
  UnitCosts parts({"unit", {parameter}}, scenario.context);
  unsigned all = scenario.space.getAll(), node = scenario.getNumber({8, 1});
  EXPECT_EQ(parts.getGatherSeconds(node, node),
            whole.getGatherSeconds(node, node));
  double seconds = decompose(CollectiveKind::AllGather, {{1, 8}, {8, 4}},
                             1 << 10, 2, scenario.collectives)
                       .seconds;
  EXPECT_EQ(parts.getGatherSeconds(all, all), 2 * seconds);
  EXPECT_LT(parts.getGatherSeconds(all, all),
            0.9 * whole.getGatherSeconds(all, all));
}

TEST(UnitCostsTest, TheLayersOfAStackAreMovedOneByOne) {
  for (int64_t microbatches : {1, 4}) {
    Scenario scenario({4, 4}, microbatches);
    PlannedParameter stack = makeMixedPrecision(6 << 10);
    stack.gatheredParts = stack.reducedParts = 6;
    UnitCosts stacked({"stack", {stack}}, scenario.context);
    UnitCosts layer(makeUnit(1 << 10), scenario.context);
    unsigned all = scenario.space.getAll();
    EXPECT_DOUBLE_EQ(stacked.getGatherSeconds(all, all),
                     6 * layer.getGatherSeconds(all, all));
    EXPECT_DOUBLE_EQ(stacked.getReductionSeconds(all, all),
                     6 * layer.getReductionSeconds(all, all));
    EXPECT_DOUBLE_EQ(stacked.getBytes(all, all, all),
                     6 * layer.getBytes(all, all, all));
  }
}

TEST(UnitCostsTest, WhatIsUsedApartIsNotFused) {
  Scenario scenario({4}, 1);
  scenario.context.fuses = true;
  PlannedParameter first = makeMixedPrecision(1 << 10, 1), second = first;
  auto getTimes = [&] {
    UnitCosts costs(Unit{"unit", {first, second}}, scenario.context);
    return std::pair(costs.getGatherSeconds(2, 2),
                     costs.getReductionSeconds(0, 0));
  };
  auto [gathers, reductions] = getTimes();
  double latency = 3e-6; // of a ring of four
  second.gatherRun = 1;
  EXPECT_NEAR(getTimes().first, gathers + latency, 1e-12);
  EXPECT_NEAR(getTimes().second, reductions, 1e-12);
  second.reductionRun = 1;
  EXPECT_GT(getTimes().second, reductions + latency);
}

/// A sum that is padded to the gradient afterwards.
TEST(UnitCostsTest, WhatIsSummedWholeIsSoUnderEveryStrategy) {
  Scenario scenario({4, 2}, 1);
  PlannedParameter parameter = makeMixedPrecision(1 << 20);
  parameter.gathers = 0;
  parameter.wholeElements = 1 << 16;
  parameter.wholeSums = 1;
  parameter.isScattered = false;
  UnitCosts costs(Unit{"unit", {parameter}}, scenario.context);
  double once = scenario.collectives.getSeconds(CollectiveKind::AllReduce,
                                                2 << 16, {4, 2});
  forEachChain(scenario.space, 1, [&](FactorChain chain) {
    EXPECT_DOUBLE_EQ(costs.getReductionSeconds(chain.g, chain.os), once);
    EXPECT_DOUBLE_EQ(costs.getLastReductions(chain.g, chain.os).seconds, once);
  });
  // In each of three microbatches.
  Scenario three({4, 2}, 3);
  parameter.wholeSums = 3;
  UnitCosts each(Unit{"unit", {parameter}}, three.context);
  EXPECT_DOUBLE_EQ(each.getReductionSeconds(0, 0), 3 * once);
  EXPECT_DOUBLE_EQ(each.getEachReductions(0, 0).seconds, 3 * once);
  EXPECT_EQ(each.getLastReductions(0, 0).seconds, 0);
}

TEST(EqualTimesTest, IsTheFirstWithinOnePercentOfTheFastest) {
  EXPECT_EQ(getFirstOfFastest({1.0}), 0u);
  EXPECT_EQ(getFirstOfFastest({1.01, 1.0}), 0u);
  EXPECT_EQ(getFirstOfFastest({1.02, 1.0}), 1u);
  // Each is within 1 % of the one before, the first not of the last.
  EXPECT_EQ(getFirstOfFastest({1.016, 1.008, 1.0}), 1u);
  EXPECT_EQ(getFirstOfFastest({0.0, 0.0}), 0u);
}

TEST(UnitCostsTest, GradientsAreAddedUpInPiecesOfG) {
  // Sums of 2 bytes, reduced in 4.
  Unit unit = makeUnit(1 << 20);
  unit.parameters.front().reductionBytes = 4;
  double second = (1 << 20) / 1e12; // of one byte of each
  Scenario scenario({4, 2}, 3);
  UnitCosts costs(unit, scenario.context);
  unsigned all = scenario.space.getAll();
  unsigned four = scenario.getNumber({4, 1});
  EXPECT_EQ(costs.getAccumulationSeconds(all, all), 0);
  // Three microbatches: read 4, read and write 2; once, read 2 and write 4.
  EXPECT_DOUBLE_EQ(costs.getAccumulationSeconds(0, all),
                   second * (3 * 8 + 6) * (1 - 1 / 8.0));
  EXPECT_DOUBLE_EQ(costs.getAccumulationSeconds(four, all),
                   second * (3 * 8 + 6) * (1 / 4.0 - 1 / 8.0));
  // Made in place of the cast that all sharded ones need.
  EXPECT_DOUBLE_EQ(costs.getAccumulationSeconds(0, 0),
                   -second * (3 * 8 + 6) / 8.0);
  // In one type there is no cast.
  unit.parameters.front().reductionBytes = 2;
  for (unsigned os : {0u, all})
    EXPECT_DOUBLE_EQ(
        UnitCosts(unit, scenario.context).getAccumulationSeconds(0, os),
        second * 3 * 6 * (1 - 1 / 8.0));
  Scenario one({4, 2}, 1);
  EXPECT_EQ(UnitCosts(unit, one.context).getAccumulationSeconds(0, all), 0);
}

TEST(RankStrategiesTest, UnitsAddUp) {
  Scenario scenario({4, 4}, 4);
  scenario.context.fuses = true;
  std::vector<Unit> units(3, makeUnit(1 << 10));
  units.push_back(makeUnit(1 << 12));
  UnitCosts three(units.front(), scenario.context);
  UnitCosts one(units.back(), scenario.context);
  for (const Candidate &candidate :
       rankStrategies(units, scenario.context, {1e12, 0, 0}, 0)) {
    auto [p, g, os] = candidate.chain;
    double seconds = 3 * three.getSeconds(p, g, os) + one.getSeconds(p, g, os);
    EXPECT_NEAR(candidate.getSeconds(), seconds, 1e-9 * seconds);
  }
}

TEST(RankStrategiesTest, SmallestGroupsWithinOnePercent) {
  // Nothing but the update's time tells strategies apart, and it is short.
  Scenario scenario({2, 2}, 2, 1e16, 1e-15);
  Unit unit = makeUnit(1024);
  std::vector<Candidate> ranked =
      rankStrategies(unit, scenario.context, {1e9, 0, 0}, 1.0);
  EXPECT_EQ(ranked.front().chain, (FactorChain{0, 0, 0}));
  // Without the rest of the step, it decides.
  ranked = rankStrategies(unit, scenario.context, {1e9, 0, 0}, 0);
  EXPECT_EQ(ranked.front().chain.os, scenario.space.getAll());
}

TEST(RankStrategiesTest, MemoryForcesSharding) {
  Scenario scenario({4, 4}, 4);
  Unit unit = makeUnit(1000000);
  MemoryBudget budget{16e6 / 3, 1e6, 0.5e6};
  std::vector<Candidate> ranked =
      rankStrategies(unit, scenario.context, budget, 0);
  EXPECT_TRUE(ranked.front().fits);
  EXPECT_LE(ranked.front().bytes, budget.limit);
  EXPECT_FALSE(ranked.back().fits);
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate &candidate : ranked)
    if (candidate.fits)
      least = std::min(least, candidate.getSeconds());
  EXPECT_LE(ranked.front().getSeconds(), least * (1 + kEqualTimes));
}

TEST(RankStrategiesTest, CollectivesHideBehindCompute) {
  Scenario scenario({4, 4}, 4, 1e10);
  Unit unit = makeUnit(1 << 24);
  MemoryBudget budget{1e12, 0, 0};
  auto getSum = [](const Candidate &candidate) {
    return candidate.gatherSeconds + candidate.reductionSeconds +
           candidate.updateSeconds + candidate.accumulationSeconds;
  };
  for (const Candidate &candidate :
       rankStrategies(unit, scenario.context, budget, 10))
    EXPECT_EQ(candidate.hiddenSeconds, 0);
  scenario.context.overlapping = Overlapping{/*interference=*/0.1, 1000};
  double compute = 10;
  for (const Candidate &candidate :
       rankStrategies(unit, scenario.context, budget, compute)) {
    double communication = candidate.gatherSeconds + candidate.reductionSeconds;
    // All of it fits; its ends, at most a thousandth, do not hide.
    ASSERT_LT(communication, compute / 4 / 3);
    // Of two collectives, compute waits for the first.
    auto [p, g, os] = candidate.chain;
    bool isOne =
        os == scenario.space.getAll() && g == os && (p == 0 || p == os);
    if (communication == 0 || !isOne)
      continue;
    EXPECT_GE(candidate.getExposedShare(), 0.1 / 1.1 - 1e-9);
    EXPECT_LE(candidate.getExposedShare(), 0.1 / 1.1 + 0.001 + 1e-9);
    EXPECT_NEAR(candidate.getSeconds(),
                communication * candidate.getExposedShare() +
                    candidate.updateSeconds + candidate.accumulationSeconds,
                1e-12);
  }
  // Nothing hides behind no compute, but for what adds up gradients; of many
  // units gathers and reductions would hide behind each other.
  scenario.context.overlapping->units = 1;
  for (const Candidate &candidate :
       rankStrategies(unit, scenario.context, budget, 0))
    EXPECT_NEAR(candidate.getSeconds(), getSum(candidate),
                getSum(candidate) * 0.002 + candidate.accumulationSeconds);
}

TEST(RankStrategiesTest, WhatTheListLeavesOutIsExposed) {
  Scenario scenario({4, 4}, 4, 1e10);
  Unit unit = makeUnit(1 << 24);
  unsigned all = scenario.space.getAll();
  auto getCandidate = [&](FactorChain chain, OverlapSet parts) {
    scenario.context.overlapping = Overlapping{/*interference=*/0,
                                               1000,
                                               0,
                                               false,
                                               false,
                                               false,
                                               parts};
    std::vector<Candidate> ranked =
        rankStrategies(unit, scenario.context, {1e12, 0, 0}, 10);
    return *llvm::find_if(ranked, [&](const Candidate &candidate) {
      return candidate.chain == chain;
    });
  };
  const OverlapSet uses{true, false, false}, parameters{false, true, false},
      gradients{false, false, true}, none{false, false, false};
  // Nothing is gathered or reduced but by each microbatch.
  FactorChain sharded{all, all, all};
  Candidate each = getCandidate(sharded, uses);
  EXPECT_LT(each.getExposedShare(), 0.01);
  EXPECT_EQ(getCandidate(sharded, {}).hiddenSeconds, each.hiddenSeconds);
  EXPECT_EQ(getCandidate(sharded, parameters).hiddenSeconds, 0);
  EXPECT_EQ(getCandidate(sharded, gradients).hiddenSeconds, 0);
  // Once a step, but for the sums of microbatches, which are local.
  FactorChain zero1{0, 0, all};
  Candidate whole = getCandidate(zero1, {});
  EXPECT_EQ(getCandidate(zero1, uses).hiddenSeconds, 0);
  EXPECT_EQ(getCandidate(zero1, none).hiddenSeconds, 0);
  Candidate gathers = getCandidate(zero1, parameters);
  Candidate sums = getCandidate(zero1, gradients);
  EXPECT_NEAR(gathers.hiddenSeconds, whole.gatherSeconds,
              whole.gatherSeconds * 0.01);
  EXPECT_NEAR(sums.hiddenSeconds, whole.reductionSeconds,
              whole.reductionSeconds * 0.01);
  // Gradients that each microbatch scatters are no longer once a step.
  FactorChain zero2{0, all, all};
  Candidate scattered = getCandidate(zero2, uses);
  EXPECT_NEAR(scattered.hiddenSeconds, scattered.reductionSeconds,
              scattered.reductionSeconds * 0.01);
  EXPECT_EQ(getCandidate(zero2, gradients).hiddenSeconds, 0);
}

TEST(RankStrategiesTest, LayersInALoopHideIfTheyArePipelined) {
  Scenario scenario({4, 4}, 1, 1e10);
  Unit unit = makeUnit(1 << 24);
  unit.parameters.front().gatheredParts = 8;
  unit.parameters.front().reducedParts = 8;
  unsigned all = scenario.space.getAll();
  auto getHidden = [&](bool isPipelined, FactorChain chain) {
    scenario.context.overlapping = Overlapping{
        /*interference=*/0, 8, 0, false, false, isPipelined};
    for (const Candidate &candidate :
         rankStrategies(unit, scenario.context, {1e12, 0, 0}, 10))
      if (candidate.chain == chain)
        return std::pair(candidate.hiddenSeconds, candidate.gatherSeconds);
    return std::pair(-1.0, -1.0);
  };
  FactorChain everything{all, all, all};
  EXPECT_EQ(getHidden(false, everything).first, 0);
  auto [hidden, gathers] = getHidden(true, everything);
  // All of it but a layer's share at the ends.
  EXPECT_GT(hidden, gathers);
  // What is gathered once a step is there before the loop begins.
  FactorChain kept{0, 0, all};
  auto [ofReductions, once] = getHidden(true, kept);
  EXPECT_GT(once, 0);
  EXPECT_GT(ofReductions, 0);
  EXPECT_EQ(getHidden(false, kept).first, 0);
}

TEST(RankStrategiesTest, StagesOfADecomposedCollectiveHide) {
  Scenario scenario({8, 4}, 1, 1e9, 1e-4);
  Unit unit = makeUnit(1 << 10);
  unsigned all = scenario.space.getAll();
  scenario.context.overlapping = Overlapping{/*interference=*/0, 1000};
  auto getCandidate = [&](bool decomposes) {
    scenario.context.decomposes = decomposes;
    std::vector<Candidate> ranked =
        rankStrategies(unit, scenario.context, {1e12, 0, 0}, 10);
    return *llvm::find_if(ranked, [&](const Candidate &candidate) {
      return candidate.chain == FactorChain{all, all, all};
    });
  };
  Candidate whole = getCandidate(false), inStages = getCandidate(true);
  EXPECT_LT(inStages.gatherSeconds, whole.gatherSeconds);
  EXPECT_LE(inStages.getExposedShare(), 0.001 + 1e-9);
}

TEST(RankStrategiesTest, MoreBandwidthOrMemoryIsNeverSlowerIfOverlapped) {
  Unit unit = makeUnit(1 << 24);
  double last = std::numeric_limits<double>::infinity();
  for (double bandwidth : {1e8, 3e8, 1e9, 3e9, 1e10, 3e10, 1e11, 1e12}) {
    Scenario scenario({4, 4}, 4, bandwidth);
    scenario.context.overlapping = Overlapping{0.2, 32};
    double least = std::numeric_limits<double>::infinity();
    for (const Candidate &candidate :
         rankStrategies(unit, scenario.context, {1e12, 0, 0}, 1))
      least = std::min(least, candidate.getSeconds());
    EXPECT_LE(least, last);
    last = least;
  }
}

/// The least time of all plans of a few units, by trying each.
static double searchAllPlans(llvm::ArrayRef<Unit> units,
                             const Scenario &scenario, double limit) {
  std::vector<UnitCosts> costs;
  for (const Unit &unit : units)
    costs.emplace_back(unit, scenario.context);
  double best = std::numeric_limits<double>::infinity();
  auto visit = [&](auto &self, size_t unit, double bytes,
                   double seconds) -> void {
    if (bytes > limit || seconds >= best)
      return;
    if (unit == costs.size()) {
      best = seconds;
      return;
    }
    forEachChain(
        scenario.space, scenario.context.microbatches, [&](FactorChain c) {
          self(self, unit + 1, bytes + costs[unit].getBytes(c.p, c.g, c.os),
               seconds + costs[unit].getSeconds(c.p, c.g, c.os));
        });
  };
  visit(visit, 0, 0, 0);
  return best;
}

TEST(PlanUnitsTest, EqualsBruteForce) {
  for (int64_t microbatches : {1, 3}) {
    Scenario scenario({2, 3}, microbatches);
    std::vector<Unit> units = {makeUnit(300000), makeUnit(50000),
                               makeUnit(300000)};
    for (double limit = 1.8e6; limit < 11e6; limit += 0.35e6) {
      UnitPlan plan = planUnits(units, scenario.context, limit, 0);
      double expected = searchAllPlans(units, scenario, limit);
      ASSERT_EQ(plan.fits, !std::isinf(expected)) << limit;
      if (!plan.fits)
        continue;
      EXPECT_NEAR(plan.leastSeconds, expected, 2e-6 * expected) << limit;
      EXPECT_LE(plan.seconds, expected * (1 + kEqualTimes) * (1 + 2e-6));
      EXPECT_LE(plan.bytes, limit);
      double bytes = 0, seconds = 0;
      for (size_t i = 0; i < units.size(); ++i) {
        auto [p, g, os] = plan.chains[i];
        UnitCosts costs(units[i], scenario.context);
        bytes += costs.getBytes(p, g, os);
        seconds += costs.getSeconds(p, g, os);
      }
      EXPECT_DOUBLE_EQ(plan.bytes, bytes);
      EXPECT_NEAR(plan.seconds, seconds, 1e-12);
    }
  }
}

TEST(PlanUnitsTest, SomeOfTwelveEqualLayers) {
  Scenario scenario({4}, 4);
  std::vector<Unit> layers(12, makeUnit(1 << 20));
  UnitCosts costs(layers.front(), scenario.context);
  unsigned all = scenario.space.getAll();
  // Room for sharded optimizer states of all and five whole layers.
  double limit =
      7 * costs.getBytes(all, all, all) + 5 * costs.getBytes(0, 0, all);
  UnitPlan plan = planUnits(layers, scenario.context, limit, 0);
  UnitPlan sharded = planUnits(layers, scenario.context,
                               12 * costs.getBytes(all, all, all), 0);
  EXPECT_LT(plan.leastSeconds, sharded.leastSeconds);
  std::set<unsigned> different;
  for (const FactorChain &chain : plan.chains)
    different.insert(chain.p);
  EXPECT_GT(different.size(), 1u);
}

TEST(PlanUnitsTest, MoreBandwidthOrMemoryIsNeverSlower) {
  std::vector<Unit> units = {makeUnit(700000), makeUnit(90000)};
  double lastOfBandwidth = std::numeric_limits<double>::infinity();
  for (double bandwidth : {1e10, 1.5e10, 4e10, 2e11}) {
    Scenario scenario({4, 6}, 2, bandwidth);
    double last = std::numeric_limits<double>::infinity();
    for (double limit : {1e6, 2e6, 4e6, 8e6, 16e6}) {
      UnitPlan plan = planUnits(units, scenario.context, limit, 0);
      if (!plan.fits)
        continue;
      EXPECT_LE(plan.leastSeconds, last * (1 + 1e-6));
      last = plan.leastSeconds;
    }
    EXPECT_LE(last, lastOfBandwidth * (1 + 1e-6));
    lastOfBandwidth = last;
  }
}

/// The least time of one strategy for all units, and of one for each.
static std::pair<double, double> getLeastTimes(llvm::ArrayRef<Unit> units,
                                               const Scenario &scenario,
                                               double limit) {
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate &candidate :
       rankStrategies(units, scenario.context, {limit, 0, 0}, 1e-4))
    if (candidate.fits)
      least = std::min(least, candidate.getSeconds());
  UnitPlan plan = planUnits(units, scenario.context, limit, 1e-4);
  EXPECT_EQ(plan.fits, !std::isinf(least));
  return {least, plan.fits ? plan.leastSeconds : least};
}

TEST(PlanUnitsTest, MoreOfAnyLevelsBandwidthOrOfMemoryIsNeverSlower) {
  std::vector<Unit> models[] = {
      {makeUnit(1 << 20)},
      {makeUnit(700000), makeUnit(90000), makeUnit(90000)},
      std::vector<Unit>(5, makeUnit(123457))};
  llvm::SmallVector<int64_t> sizes = {4, 2, 3};
  for (const std::vector<Unit> &units : models) {
    double elements = 0;
    for (const Unit &unit : units)
      elements += static_cast<double>(unit.parameters.front().elements);
    for (size_t level = 0; level < sizes.size(); ++level) {
      // By limit, the least times with less bandwidth.
      std::map<double, std::pair<double, double>> before;
      for (double factor : {0.01, 0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 10.0, 1e3}) {
        Cluster cluster = makeCluster(sizes, 1e11, 1e-6);
        *cluster.levels[level].bandwidth *= factor;
        Scenario scenario(sizes, 2);
        scenario.collectives = CollectiveModel(cluster, CollectiveTable());
        scenario.context.decomposes = true;
        auto infinite = std::numeric_limits<double>::infinity();
        std::pair less(infinite, infinite);
        for (double share : {0.8, 1.1, 2.0, 3.7, 8.0, 17.0}) {
          auto times = getLeastTimes(units, scenario, share * elements);
          auto &slower = before.try_emplace(share, times).first->second;
          for (auto [now, with, limits] :
               {std::tuple(times.first, slower.first, less.first),
                std::tuple(times.second, slower.second, less.second)}) {
            EXPECT_LE(now, with * (1 + 1e-6)) << level << " x" << factor;
            EXPECT_LE(now, limits * (1 + 1e-6)) << share;
          }
          EXPECT_LE(times.second, times.first * (1 + 1e-6));
          less = slower = times;
        }
      }
    }
  }
}

TEST(PlanUnitsTest, RenamedAndPermutedUnitsGetTheSamePlan) {
  Scenario scenario({2, 4}, 2);
  Unit a{"a", {makeMixedPrecision(5000), makeMixedPrecision(70000)}};
  Unit b{"b", {makeMixedPrecision(70000), makeMixedPrecision(5000)}};
  Unit c = makeUnit(40000);
  UnitPlan plan = planUnits({a, c}, scenario.context, 8e5, 0);
  UnitPlan permuted = planUnits({c, b}, scenario.context, 8e5, 0);
  ASSERT_TRUE(plan.fits);
  EXPECT_EQ(plan.chains[0], permuted.chains[1]);
  EXPECT_EQ(plan.chains[1], permuted.chains[0]);
}

TEST(PlanUnitsTest, ThousandUnitsOnManyRanks) {
  Scenario scenario({8, 125, 100}, 4);
  scenario.context.fuses = scenario.context.decomposes = true;
  std::vector<Unit> units;
  for (int64_t i = 0; i < 1000; ++i)
    units.push_back(makeUnit(100000000 + (i % 20) * 5000000));
  double everything = 16.0 * 1000 * 1.5e8;
  UnitPlan plan = planUnits(units, scenario.context, everything / 1000, 0);
  EXPECT_TRUE(plan.fits);
  EXPECT_NEAR(plan.bound, plan.leastSeconds, 2e-6 * plan.leastSeconds);
  // 20 shapes: their strategies, and the collectives that tell them apart.
  EXPECT_EQ(plan.strategies, 20 * 20 * 20 * 100);
  EXPECT_LT(plan.evaluations, 20 * 30000);
  EXPECT_LT(plan.states, 1000000);
}
