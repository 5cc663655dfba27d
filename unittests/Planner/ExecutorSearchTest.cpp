//===- ExecutorSearchTest.cpp - The best strategy of an executor ----------===//

#include "amsp/Planner/ExecutorSearch.h"
#include "amsp/Planner/Planner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace amsp;

template <typename T> static T get(llvm::Expected<T> value) {
  if (!value)
    llvm::report_fatal_error(value.takeError());
  return std::move(*value);
}

namespace {
/// A small model on three levels, of which each in turn has the slowest links.
class ExecutorSearchTest : public testing::TestWithParam<const char *> {
protected:
  ExecutorSearchTest() {
    device.memoryBandwidth = 1e12;
    device.peakBF16 = 1e14;
    parts = describeModel(get(parseModelConfig(R"({
      "model_type": "llama", "hidden_size": 256, "num_attention_heads": 4,
      "num_hidden_layers": 3, "intermediate_size": 768, "vocab_size": 1000})",
                                               "config.json")),
                          device, /*sequences=*/1, /*length=*/256);
    std::string path = AMSP_SOURCE + std::string("executors/") + GetParam();
    auto file = llvm::MemoryBuffer::getFile(path);
    executor = get(parseExecutor((*file)->getBuffer(), path));
    options.warmUp = 2;
    options.interference = 0.2;
    options.slowest = 1.01;
  }

  CollectiveModel getCollectives(size_t slowest) const {
    Cluster cluster;
    cluster.levels = {{"gpu", 4, 200e9, 1e-6, 0.0},
                      {"node", 4, 100e9, 3e-6, 0.02},
                      {"pod", 2, 50e9, 1e-5, 0.05}};
    cluster.levels[slowest].bandwidth = 10e9;
    return CollectiveModel(cluster, CollectiveTable());
  }

  Device device;
  std::vector<ModelPart> parts;
  Executor executor;
  SimulationOptions options;
};
} // namespace

TEST_P(ExecutorSearchTest, ItIsTheBestOfAllAndFewAreSimulated) {
  int64_t strategies = 0, simulated = 0;
  for (size_t slowest : {0, 1, 2})
    for (int64_t microbatches : {1, 2, 4}) {
      CollectiveModel collectives = getCollectives(slowest);
      StrategySpace space({4, 4, 2});
      Strategy strategy;
      ExecutorRun run{collectives, device, strategy, parts, microbatches};
      ExecutorBound bound(executor, run, space, options);
      // What is sharded at least so much fits.
      strategy = get(parseStrategy("zero2", {4, 4, 2}));
      double memory = getExecutorMemory(executor, run);
      double least = std::numeric_limits<double>::infinity();
      Strategy best;
      int64_t fitting = 0;
      for (unsigned os = 0; os <= space.getAll(); ++os)
        for (unsigned g : space.getDivisors(os))
          for (unsigned p : space.getDivisors(g)) {
            if (microbatches == 1 && g != os)
              continue;
            strategy = space.getStrategy(p, g, os);
            double seconds =
                simulate(buildExecutorSchedule(executor, run), options).seconds;
            EXPECT_LE(bound.getLeastSeconds({p, g, os}), seconds * (1 + 1e-9))
                << formatStrategy(strategy) << " of " << microbatches;
            if (getExecutorMemory(executor, run) > memory)
              continue;
            ++fitting;
            if (seconds >= least)
              continue;
            least = seconds;
            best = strategy;
          }
      ExecutorChoice choice =
          get(findExecutorStrategy(executor, run, options, memory));
      EXPECT_EQ(formatStrategy(choice.strategy), formatStrategy(best));
      EXPECT_EQ(choice.strategies, fitting);
      strategies += choice.strategies;
      simulated += choice.simulated;
    }
  EXPECT_GT(strategies, 500);
  EXPECT_LT(4 * simulated, strategies);
}

INSTANTIATE_TEST_SUITE_P(Executors, ExecutorSearchTest,
                         testing::Values("amsp.yaml", "compiled.yaml",
                                         "fsdp.yaml", "mics.yaml",
                                         "deepspeed-zero1.yaml"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return !isalnum(c); }, '_');
                           return name;
                         });
