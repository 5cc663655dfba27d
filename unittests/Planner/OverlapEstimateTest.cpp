//===- OverlapEstimateTest.cpp - The estimate against the simulation ------===//

#include "amsp/Planner/OverlapEstimate.h"
#include "amsp/Planner/Executor.h"
#include "amsp/Planner/Simulator.h"
#include "amsp/Planner/StrategySpace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace amsp;

TEST(OverlapTest, IsTheLongerOfTheTwo) {
  EXPECT_DOUBLE_EQ(overlap(10, 0, 0.5), 10);
  EXPECT_DOUBLE_EQ(overlap(10, 3, 0.5), 11);
  EXPECT_DOUBLE_EQ(overlap(10, 40, 0.5), 40);
  EXPECT_DOUBLE_EQ(overlap(10, 15, 0.5), 15);
}

TEST(OverlapEstimateTest, PeeledMicrobatchesOverlapWithWhatIsOnceAStep) {
  StepTimes times;
  times.microbatches = 3;
  times.units = 10;
  times.forward = 10;
  times.backward = 20;
  times.firstGathers = 5;
  times.lastReductions = 6;
  times.update = 1;
  times.isLoop = true;
  EXPECT_DOUBLE_EQ(estimateOverlappedStep(times), 5 + 3 * 30 + 6 + 1);
  // What is left is a unit's share at each end.
  times.isPeeled = true;
  EXPECT_DOUBLE_EQ(estimateOverlappedStep(times), 0.5 + 3 * 30 + 0.6 + 1);
  // Where communication is the longer, what computes at its end.
  times.firstGathers = 50;
  EXPECT_DOUBLE_EQ(estimateOverlappedStep(times),
                   (50 + 1) + 20 + 2 * 30 + 0.6 + 1);
  // Iterations that stay in the loop begin and end with nothing under way.
  times.firstGathers = times.lastReductions = 0;
  times.useGathers = 4;
  times.reductions = 3;
  EXPECT_DOUBLE_EQ(estimateOverlappedStep(times),
                   3 * (10 + 0.2 + 20 + 0.3) + 1);
}

TEST(OverlapEstimateTest, TransfersOfDifferentChannelsAndLevelsRunTogether) {
  StepTimes times;
  times.units = 10;
  times.forward = 1;
  times.backward = 2;
  times.useGathers = 40; // over the outer level
  times.useGathers.busy = {40, 0, 0, 40};
  times.reductions = 15; // inside, and out
  times.reductions.busy = {0, 15, 10, 5};
  // The outer links carry 20 + 5 in backward, the channel of reductions 15; of
  // each unit the other 10 come before or behind.
  EXPECT_DOUBLE_EQ(estimateOverlappedStep(times), (20 + 0.1) + (25 + 1 + 0.2));
  // What is not told apart adds up.
  times.reductions.busy.clear();
  EXPECT_DOUBLE_EQ(estimateOverlappedStep(times), (20 + 0.1) + (35 + 0.2));
}

template <typename T> static T get(llvm::Expected<T> value) {
  if (!value)
    llvm::report_fatal_error(value.takeError());
  return std::move(*value);
}

static std::string readFile(llvm::StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(AMSP_SOURCE + path);
  EXPECT_TRUE(static_cast<bool>(file));
  return (*file)->getBuffer().str();
}

namespace {
/// A strategy by both.
struct Compared {
  double estimated = 0, simulated = 0;
};
} // namespace

/// All strategies of a model on the A800 cluster, under our own schedule.
static std::vector<Compared> compare(llvm::StringRef model, int64_t nodes,
                                     int64_t microbatches) {
  Cluster cluster = get(parseCluster(
      (AMSP_SOURCE + llvm::Twine("clusters/a800-80gb-800g.yaml")).str()));
  cluster.levels[1].size = nodes;
  cluster.spread = 0;
  CollectiveModel collectives = get(CollectiveModel::create(cluster));
  Executor executor =
      get(parseExecutor(readFile("executors/compiled.yaml"), "compiled.yaml"));
  std::vector<ModelPart> parts = describeModel(
      get(parseModelConfig(
          readFile(("examples/models/" + model + ".json").str()), model)),
      *cluster.device, 1, 4096);
  StepTimes times;
  times.microbatches = microbatches;
  times.units = parts.back().layer + 1;
  times.interference = cluster.interference;
  for (const ModelPart &part : parts) {
    times.forward += part.forward;
    times.backward += part.backward;
  }
  StrategySpace space(cluster.getSizes());
  std::vector<Compared> all;
  for (unsigned os = 0; os < space.getNumFactors(); ++os)
    for (unsigned g : space.getDivisors(os))
      for (unsigned p : space.getDivisors(g)) {
        if (microbatches == 1 && g != os)
          continue;
        Strategy strategy = space.getStrategy(p, g, os);
        Schedule schedule =
            buildExecutorSchedule(executor, {collectives, *cluster.device,
                                             strategy, parts, microbatches});
        SimulationOptions options = getSimulationOptions(cluster);
        options.warmUp = 1;
        SimulatedStep step = simulate(schedule, options);
        StepTimes of = times;
        for (auto [index, transfer] : llvm::enumerate(schedule.transfers)) {
          double seconds = step.runs[index] * transfer.seconds;
          if (transfer.name == "first gathers")
            of.firstGathers.add(seconds);
          else if (transfer.name == "gathers")
            of.useGathers.add(seconds / static_cast<double>(microbatches));
          else if (transfer.name == "scatters")
            of.reductions.add(seconds / static_cast<double>(microbatches));
          else
            of.lastReductions.add(seconds);
        }
        // What depends on the strategy of compute: the update, and gradients
        // that are added.
        for (auto [label, seconds] : llvm::zip(schedule.labels, step.labels))
          if (label == "update")
            of.update = seconds;
          else if (label == "backward")
            of.backward = seconds / static_cast<double>(microbatches);
        all.push_back({estimateOverlappedStep(of), step.seconds});
      }
  return all;
}

TEST(OverlapEstimateTest, OrdersStrategiesAsTheSimulationDoes) {
  for (llvm::StringRef model : {"amsp-7b", "amsp-13b"})
    for (auto [nodes, microbatches] :
         {std::pair<int64_t, int64_t>(1, 8), {4, 8}, {16, 2}, {16, 1}}) {
      std::vector<Compared> all = compare(model, nodes, microbatches);
      for (const Compared &a : all) {
        EXPECT_NEAR(a.estimated / a.simulated, 1, 0.04);
        for (const Compared &b : all)
          if (a.simulated < b.simulated * 0.95)
            EXPECT_LT(a.estimated, b.estimated);
      }
      // The best by the estimate is nearly the best.
      auto byEstimate = [](const Compared &a, const Compared &b) {
        return a.estimated < b.estimated;
      };
      auto bySimulation = [](const Compared &a, const Compared &b) {
        return a.simulated < b.simulated;
      };
      EXPECT_LE(llvm::min_element(all, byEstimate)->simulated,
                llvm::min_element(all, bySimulation)->simulated * 1.005)
          << model.str() << ", " << nodes << " nodes";
    }
}
