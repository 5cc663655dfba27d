//===- ExecutorTest.cpp - A step as a system executes it ------------------===//

#include "amsp/Planner/Executor.h"
#include "amsp/Planner/Simulator.h"
#include "llvm/ADT/STLExtras.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <numeric>

using namespace amsp;
using testing::HasSubstr;

template <typename T> static T get(llvm::Expected<T> value) {
  if (!value)
    llvm::report_fatal_error(value.takeError());
  return std::move(*value);
}

namespace {
constexpr const char *kModel = R"({
  "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
  "num_hidden_layers": 3, "intermediate_size": 192, "vocab_size": 1000})";

/// Runs and moved bytes of a step, by name of the rule.
struct Traffic {
  double runs = 0, bytes = 0, exposed = 0;
};

class ExecutorTest : public testing::Test {
protected:
  ExecutorTest() {
    cluster.levels.resize(2);
    cluster.levels[0] = {"gpu", 4, 100e9, 1e-6, std::nullopt};
    cluster.levels[1] = {"node", 2, 10e9, 1e-5, std::nullopt};
    device.memoryBandwidth = 1e12;
    device.peakBF16 = 1e14;
    parts = describeModel(get(parseModelConfig(kModel, "config.json")), device,
                          /*sequences=*/2, /*length=*/32);
    elements = std::accumulate(
        parts.begin(), parts.end(), 0.0,
        [](double sum, const ModelPart &part) { return sum + part.elements; });
  }

  SimulatedStep run(const std::string &rules, const std::string &strategy,
                    int64_t microbatches) {
    Executor executor = get(parseExecutor(rules, "executor.yaml"));
    CollectiveModel collectives(cluster, CollectiveTable());
    Strategy factors = get(parseStrategy(strategy, cluster.getSizes()));
    ExecutorRun of{collectives, device, factors, parts, microbatches};
    schedule = buildExecutorSchedule(executor, of);
    updated = getUpdatedElements(executor, of);
    SimulationOptions options;
    options.warmUp = 2;
    return simulate(schedule, options);
  }
  Traffic sum(const SimulatedStep &step, llvm::StringRef rule) const {
    Traffic traffic;
    for (auto [index, transfer] : llvm::enumerate(schedule.transfers))
      if (transfer.name == rule) {
        traffic.runs += step.runs[index];
        traffic.bytes += step.runs[index] * transfer.bytes;
        traffic.exposed += step.exposed[index];
      }
    return traffic;
  }

  Cluster cluster;
  Device device;
  std::vector<ModelPart> parts;
  Schedule schedule;
  double elements, updated = 0;
};
} // namespace

static std::string describeGathers(const char *settings) {
  return std::string("collectives: [{name: gathers, moves: parameters, kind: "
                     "all_gather, group: p, when: [forward, backward], ") +
         settings + "}]";
}

TEST_F(ExecutorTest, ParametersOfTheModelAreThoseOfTheConfiguration) {
  EXPECT_EQ(elements,
            2 * 1000 * 64 + 64 + 3 * (4 * 64 * 64 + 3 * 64 * 192 + 2 * 64));
}

TEST_F(ExecutorTest, ParametersAreGatheredTwiceInEachMicrobatch) {
  for (int64_t microbatches : {1, 2, 3, 7}) {
    for (const char *settings :
         {"by: layer", "by: layer, ahead: 3", "by: layer, ahead: 100",
          "by: layer, overlap: false", "by: layer, ahead: 0"}) {
      SimulatedStep step =
          run(describeGathers(settings), "zero3", microbatches);
      Traffic gathers = sum(step, "gathers");
      EXPECT_EQ(gathers.runs, 2 * 5 * microbatches) << settings;
      EXPECT_DOUBLE_EQ(gathers.bytes, 2 * elements * 2 * microbatches);
    }
  }
}

TEST_F(ExecutorTest, WhatIsNotOverlappedIsExposed) {
  SimulatedStep step =
      run(describeGathers("by: layer, overlap: false"), "zero3", 2);
  double busy = std::accumulate(step.busy.begin(), step.busy.end(), 0.0);
  EXPECT_DOUBLE_EQ(step.exposedSeconds, busy);
  SimulatedStep ahead = run(describeGathers("by: layer, ahead: 1"), "zero3", 2);
  EXPECT_LT(ahead.exposedSeconds, step.exposedSeconds);
}

TEST_F(ExecutorTest, GradientsOfTheLastMicrobatchFillBuckets) {
  std::string rules =
      "collectives: [{name: sum, moves: gradients, kind: all_reduce, group: "
      "all/p, when: [last_backward], by: tensor, bucket: ";
  SimulatedStep step = run(rules + "1e9}]", "p=4x1,g=4x1,os=4x1", 5);
  EXPECT_EQ(sum(step, "sum").runs, 1);
  EXPECT_DOUBLE_EQ(sum(step, "sum").bytes, 2 * elements / 4);
  step = run(rules + "1}]", "p=4x1,g=4x1,os=4x1", 5);
  EXPECT_EQ(sum(step, "sum").runs, parts.size());
  EXPECT_DOUBLE_EQ(sum(step, "sum").bytes, 2 * elements / 4);
}

TEST_F(ExecutorTest, GroupsOfOneRankMoveNothing) {
  run(describeGathers("by: layer"), "ddp", 2);
  EXPECT_TRUE(schedule.transfers.empty());
}

TEST_F(ExecutorTest, UpdatedParametersMayOverlapTheNextForwardPass) {
  std::string rules = "collectives: [{name: owners, moves: parameters, kind: "
                      "broadcast, group: os/p, when: [update], by: tensor, ";
  SimulatedStep waits = run(rules + "overlap: false}]", "zero1", 1);
  SimulatedStep overlaps = run(rules + "overlap: true}]", "zero1", 1);
  EXPECT_EQ(sum(waits, "owners").runs, parts.size());
  EXPECT_EQ(sum(overlaps, "owners").runs, parts.size());
  EXPECT_LT(overlaps.exposedSeconds, waits.exposedSeconds);
  EXPECT_GT(overlaps.exposedSeconds, 0);
  // Two tensors of 1000 x 64 and rows of 64: 8 owners do not share evenly.
  EXPECT_EQ(updated, 1000 * 64 + 64);
}

TEST_F(ExecutorTest, MoreBandwidthIsNeverSlower) {
  std::string rules = R"(collectives:
  - {name: a, moves: parameters, kind: all_gather, group: p, when: [forward, backward], by: tensor}
  - {name: b, moves: gradients, kind: reduce_scatter, group: p, when: [backward], by: tensor}
  - {name: c, moves: gradients, kind: all_reduce, group: all/p, when: [last_backward], by: layer})";
  double last = std::numeric_limits<double>::infinity();
  for (double bandwidth : {1e9, 3e9, 1e10, 3e10, 1e11, 1e12}) {
    cluster.levels[1].bandwidth = bandwidth;
    double seconds = run(rules, "p=4x2,g=4x2,os=4x2", 3).seconds;
    EXPECT_LE(seconds, last * (1 + 1e-12));
    last = seconds;
  }
}

static std::string errorOf(const char *content) {
  llvm::Expected<Executor> executor = parseExecutor(content, "e.yaml");
  EXPECT_FALSE(static_cast<bool>(executor));
  return executor ? "" : toString(executor.takeError());
}

TEST(ExecutorFileTest, ErrorsNameTheLine) {
  EXPECT_EQ(errorOf("name: x\ncolectives: []\ncollectives: []\n"),
            "e.yaml:2: unknown key 'colectives'");
  EXPECT_THAT(
      errorOf("name: x\ncollectives:\n  - {name: a, moves: parameters, kind: "
              "all_gather, group: p/os, when: [forward]}"),
      HasSubstr("e.yaml:3: a group is p, g, os or all"));
  EXPECT_THAT(
      errorOf("name: x\ncollectives:\n  - {name: a, moves: gradients, kind: "
              "all_gather, group: p, when: [forward]}"),
      HasSubstr("e.yaml:3: gradients are moved in backward"));
  EXPECT_THAT(errorOf("gradient_bytes: -1\ncollectives: []"),
              HasSubstr("e.yaml:1: expected a number from 0 to 1e15"));
}

TEST(ExecutorFileTest, AFileOfNothingIsNoExecutor) {
  for (const char *content : {"", "\n", "# nothing but a comment\n", "---\n"})
    EXPECT_THAT(errorOf(content), HasSubstr("no executor")) << content;
}

TEST(ModelConfigTest, ErrorsSayWhatIsWrong) {
  auto errorOf = [](const char *content) {
    auto config = parseModelConfig(content, "c.json");
    return config ? std::string() : toString(config.takeError());
  };
  EXPECT_THAT(errorOf("[]"), HasSubstr("c.json: expected a JSON object"));
  for (const char *content : {"{", "", "\n", "// nothing\n"})
    EXPECT_THAT(errorOf(content), HasSubstr("c.json: ")) << content;
  EXPECT_EQ(errorOf(R"({"model_type": "bert"})"),
            "c.json: model_type is 'bert', expected llama, gpt2 or mpt");
  EXPECT_THAT(errorOf(R"({"model_type": "gpt2", "n_embd": -4})"),
              HasSubstr("c.json: 'n_embd' is no number from 1 to"));
}
