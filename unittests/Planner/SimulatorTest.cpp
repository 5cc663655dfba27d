//===- SimulatorTest.cpp - Compute and communication of a step ------------===//

#include "amsp/Planner/Simulator.h"
#include "llvm/ADT/STLExtras.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <chrono>
#include <numeric>
#include <random>

using namespace amsp;
using testing::ElementsAre;

namespace {
/// A schedule with two channels and one level.
class SimulatorTest : public testing::Test {
protected:
  SimulatorTest() {
    gather = schedule.addChannel("gather");
    reduce = schedule.addChannel("reduce");
    label = schedule.addLabel("compute");
  }

  /// A transfer and a slot for it, which have the same number.
  unsigned add(double seconds, unsigned channel = 0, double load = 1) {
    ScheduledTransfer transfer;
    transfer.seconds = seconds;
    transfer.channel = channel;
    transfer.loads = {load};
    schedule.addSlot();
    return schedule.addTransfer(transfer);
  }
  void start(unsigned transfer, unsigned block = 0) {
    schedule.start(block, transfer, transfer);
  }
  SimulatedStep run(double interference = 0, int64_t warmUp = 0,
                    bool timeline = false) {
    SimulationOptions options;
    options.interference = interference;
    options.warmUp = warmUp;
    options.timeline = timeline;
    options.slowest = slowest;
    SimulatedStep step = simulate(schedule, options);
    EXPECT_NEAR(step.seconds,
                step.computeSeconds + step.spreadSeconds +
                    step.interferenceSeconds + step.exposedSeconds,
                1e-9 * (1 + step.seconds));
    EXPECT_NEAR(std::accumulate(step.exposed.begin(), step.exposed.end(), 0.0),
                step.exposedSeconds, 1e-9 * (1 + step.seconds));
    return step;
  }

  Schedule schedule;
  unsigned gather, reduce, label;
  double slowest = 1;
};
} // namespace

TEST_F(SimulatorTest, WhatEndsBeforeItIsAwaitedIsHidden) {
  unsigned transfer = add(3);
  start(transfer);
  schedule.compute(0, 10, label);
  schedule.await(0, transfer);
  SimulatedStep step = run();
  EXPECT_DOUBLE_EQ(step.seconds, 10);
  EXPECT_DOUBLE_EQ(step.exposedSeconds, 0);
  EXPECT_THAT(step.busy, ElementsAre(3));
}

TEST_F(SimulatorTest, TheRestIsExposed) {
  unsigned transfer = add(7);
  start(transfer);
  schedule.compute(0, 5, label);
  schedule.await(0, transfer);
  schedule.compute(0, 1, label);
  SimulatedStep step = run();
  EXPECT_DOUBLE_EQ(step.seconds, 8);
  EXPECT_THAT(step.exposed, ElementsAre(2));
}

TEST_F(SimulatorTest, AStepEndsWithItsTransfers) {
  start(add(7));
  schedule.compute(0, 5, label);
  EXPECT_DOUBLE_EQ(run().seconds, 7);
}

TEST_F(SimulatorTest, ATransferWaitsForThoseBeforeItOnItsChannel) {
  unsigned first = add(4), second = add(2);
  start(first);
  start(second);
  schedule.compute(0, 1, label);
  schedule.await(0, second);
  // Exposed is what the channel moves meanwhile.
  EXPECT_THAT(run().exposed, ElementsAre(3, 2));
}

TEST_F(SimulatorTest, ComputeSlowsDownWhileATransferRuns) {
  unsigned transfer = add(3);
  start(transfer);
  schedule.compute(0, 10, label);
  schedule.await(0, transfer);
  // In 3 s at two thirds of the speed, 2 s of work are done.
  SimulatedStep step = run(/*interference=*/0.5);
  EXPECT_DOUBLE_EQ(step.seconds, 11);
  EXPECT_DOUBLE_EQ(step.interferenceSeconds, 1);
}

TEST_F(SimulatorTest, AllWaitForTheSlowestDevice) {
  schedule.compute(0, 10, label);
  slowest = 1.25;
  SimulatedStep step = run(0.5);
  EXPECT_DOUBLE_EQ(step.seconds, 12.5);
  EXPECT_DOUBLE_EQ(step.spreadSeconds, 2.5);
  EXPECT_DOUBLE_EQ(step.interferenceSeconds, 0);
}

TEST(SlowestComputeTest, IsTheExpectedMaximumOfTheNodes) {
  Cluster cluster;
  cluster.levels.resize(2);
  cluster.spread = 0.01;
  auto getMaximum = [&](int64_t nodes) {
    cluster.levels[0].size = 8;
    cluster.levels[1].size = nodes;
    return (getSlowestCompute(cluster) - 1) / cluster.spread;
  };
  EXPECT_EQ(getMaximum(1), 0);
  EXPECT_NEAR(getMaximum(2), 1 / std::sqrt(std::acos(-1.0)), 1e-5);
  EXPECT_NEAR(getMaximum(16), 1.76599, 1e-4); // of a table
  EXPECT_GT(getMaximum(128), getMaximum(127));
}

TEST_F(SimulatorTest, ChannelsShareTheLinksOfALevel) {
  unsigned first = add(4, gather), second = add(2, reduce);
  start(first);
  start(second);
  schedule.await(0, first);
  SimulatedStep step = run();
  // Both at half speed for 4 s, then the first alone.
  EXPECT_DOUBLE_EQ(step.seconds, 6);
  EXPECT_THAT(step.busy, ElementsAre(6, 4));
}

TEST_F(SimulatorTest, LoadsBelowOneAreNotSlowedDown) {
  start(add(4, gather, 0.5));
  start(add(4, reduce, 0.5));
  EXPECT_DOUBLE_EQ(run().seconds, 4);
  start(add(4, gather, 0.75));
  EXPECT_DOUBLE_EQ(run().seconds, 8);
}

TEST_F(SimulatorTest, TransfersMayReachIntoTheNextStep) {
  unsigned transfer = add(4);
  schedule.await(0, transfer); // what the step before has started
  schedule.compute(0, 1, label);
  start(transfer);
  EXPECT_DOUBLE_EQ(run(0, /*warmUp=*/0).seconds, 5);
  schedule.blocks[0].insert(schedule.blocks[0].begin(), Action());
  schedule.blocks[0].front().seconds = 3;
  // Compute 3 hides 3 of the 4.
  SimulatedStep step = run(0, /*warmUp=*/2);
  EXPECT_DOUBLE_EQ(step.seconds, 5);
  EXPECT_DOUBLE_EQ(step.exposedSeconds, 1);
}

TEST_F(SimulatorTest, ALoopOfPrefetchesIsPeriodic) {
  // Each iteration starts the next one's gather and awaits its own.
  unsigned current = add(1.5), next = add(1.5);
  unsigned body = schedule.addBlock();
  schedule.start(0, current, current);
  schedule.start(body, next, next);
  schedule.await(body, current);
  schedule.compute(body, 1, label);
  schedule.move(body, next, current);
  schedule.repeat(0, body, 1000000);
  SimulatedStep step = run();
  // The first gather is all exposed, and half a second of each later one; the
  // last one, too, but for 1 s.
  EXPECT_NEAR(step.seconds, 1.5 * 1000001, 1e-6);
  EXPECT_LT(step.events, 10);
  EXPECT_EQ(step.runs[next], 1000000);
}

TEST_F(SimulatorTest, CountedIterationsEqualSimulatedOnes) {
  std::mt19937 random(7);
  auto draw = [&](double most) {
    return std::uniform_real_distribution<double>(0, most)(random);
  };
  for (int trial = 0; trial < 50; ++trial) {
    schedule.blocks.assign(1, {});
    schedule.transfers.clear();
    schedule.numSlots = 0;
    unsigned outer = schedule.addBlock(), inner = schedule.addBlock();
    for (unsigned block : {inner, outer}) {
      for (int i = 0; i < 4; ++i) {
        unsigned transfer = add(draw(1), random() % 2, draw(1));
        start(transfer, block);
        schedule.compute(block, draw(1), label);
        schedule.await(block, random() % (transfer + 1));
      }
      if (block == inner)
        schedule.repeat(outer, inner, 20);
    }
    schedule.repeat(0, outer, 10);
    SimulatedStep counted = run(0.2), simulated = run(0.2, 0, true);
    EXPECT_NEAR(counted.seconds, simulated.seconds, 1e-6);
    EXPECT_LE(counted.events, simulated.events);
    for (auto [a, b] : llvm::zip(counted.exposed, simulated.exposed))
      EXPECT_NEAR(a, b, 1e-6);
    for (auto [a, b] : llvm::zip(counted.runs, simulated.runs))
      EXPECT_EQ(a, b);
  }
}

TEST_F(SimulatorTest, EventsOfAStreamDoNotOverlap) {
  for (int i = 0; i < 5; ++i) {
    unsigned transfer = add(1 + i, i % 2);
    start(transfer);
    schedule.compute(0, 1, schedule.addLabel("compute"));
    if (i % 3 == 0)
      schedule.await(0, transfer);
  }
  SimulatedStep step = run(0.1, 0, true);
  std::array<double, 3> ends{};
  for (const SimulatedEvent &event : step.timeline) {
    bool isTransfer = event.kind == SimulatedEvent::Kind::Transfer;
    double &end =
        ends[isTransfer ? 1 + schedule.transfers[event.index].channel : 0];
    EXPECT_GE(event.begin, end - 1e-9);
    EXPECT_GT(event.end, event.begin);
    EXPECT_LE(event.end, step.seconds + 1e-9);
    end = event.end;
  }
}

TEST_F(SimulatorTest, EightyLayersOf128MicrobatchesTakeLessThanASecond) {
  unsigned body = schedule.addBlock();
  for (int layer = 0; layer < 2 * 80; ++layer) {
    unsigned parameters = add(1e-3 * (1 + layer % 7), gather);
    unsigned gradient = add(1e-3 * (1 + layer % 5), reduce);
    start(parameters, body);
    for (int op = 0; op < 40; ++op)
      schedule.compute(body, 1e-4, schedule.addLabel(op % 2 ? "a" : "b"));
    schedule.await(body, parameters);
    start(gradient, body);
  }
  schedule.repeat(0, body, 128);
  auto begin = std::chrono::steady_clock::now();
  run(0.2);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 1);
}
