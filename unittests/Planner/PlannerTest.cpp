//===- PlannerTest.cpp - The whole search of a step's plans ---------------===//

#include "amsp/Planner/Planner.h"
#include "Scenario.h"
#include "gtest/gtest.h"

using namespace amsp;

/// `share`: of the memory that replicas of everything need.
static Plan search(const StepModel &model, const Cluster &cluster, double share,
                   const CollectivePasses &passes) {
  double bytes = 16 * static_cast<double>(model.getNumParameterElements());
  CollectiveModel collectives(cluster, CollectiveTable());
  return searchPlans(model, collectives, cluster, share * bytes, std::nullopt,
                     passes);
}

static StepModel makeModel(int64_t units, int64_t shapes) {
  StepModel model;
  model.microbatches = 4;
  model.costs.computeSeconds = 1;
  for (int64_t i = 0; i < units; ++i)
    model.units.push_back(makeUnit(100000000 + (i % shapes) * 5000000,
                                   /*gathers=*/8));
  return model;
}

/// What it asks, not how long it takes: seconds are in docs/planner.md.
TEST(SearchPlansTest, ThousandUnitsOnAHundredThousandRanks) {
  Cluster cluster = makeCluster({8, 125, 100});
  CollectivePasses passes;
  passes.fuse = passes.decompose = true;
  passes.overlap = {};
  Plan plan = search(makeModel(1000, 20), cluster, 1e-3, passes);
  EXPECT_TRUE(plan.unitPlan.fits);
  // Divisors of 8, 125 and 100 in chains of three, for each of 20 shapes.
  EXPECT_EQ(plan.candidates.size(), 20u * 20 * 100);
  EXPECT_EQ(plan.unitPlan.strategies, 20 * 20 * 20 * 100);
  // Each shape's collectives are asked for once, by all parts of the search.
  EXPECT_EQ(plan.costs->groups.size(), 20u);
  EXPECT_LT(plan.costs->evaluations, 20 * 30000);
  EXPECT_EQ(plan.unitPlan.evaluations, plan.costs->evaluations);
  EXPECT_LT(plan.unitPlan.states, 1000000);
}

TEST(SearchPlansTest, WhatIsTakenIsWithinOnePercentOfTheFastest) {
  Cluster cluster = makeCluster({4, 6});
  int64_t byUnit = 0;
  for (bool overlaps : {false, true})
    for (double share : {0.05, 0.08, 0.1, 0.13, 0.2, 0.3, 0.5, 0.8, 1.5}) {
      CollectivePasses passes;
      passes.overlap = {overlaps, overlaps, overlaps};
      Plan plan = search(makeModel(12, 3), cluster, share, passes);
      if (!plan.getBest().fits)
        continue;
      for (const Candidate &candidate : plan.candidates)
        if (candidate.fits)
          EXPECT_LE(plan.fastestSeconds, plan.getStepSeconds(candidate));
      double taken = plan.getStepSeconds(plan.getBest());
      if (plan.areUnitsBetter()) {
        ++byUnit;
        auto [seconds, bytes] = plan.estimate(plan.unitPlan.chains);
        EXPECT_DOUBLE_EQ(seconds, plan.getUnitPlanSeconds());
        EXPECT_LE(bytes, plan.memoryLimit);
        taken = seconds;
      }
      EXPECT_LE(taken, plan.getSlowestEqual()) << share;
    }
  EXPECT_GT(byUnit, 0);
}
