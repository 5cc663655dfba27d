//===- OverlapPlanTest.cpp - Starts, awaits, and bytes in flight ----------===//

#include "amsp/Communication/OverlapPlan.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace amsp;

namespace {
/// Where a plan starts and awaits each collective, checked on the way.
struct Checked {
  std::vector<int64_t> starts, awaits;
};
} // namespace

/// Replays a plan and checks all that planOverlap promises.
static Checked check(const OverlapProblem &problem, int64_t bound) {
  OverlapPlan plan = planOverlap(problem, bound);
  size_t count = problem.collectives.size();
  Checked found{std::vector<int64_t>(count, -1),
                std::vector<int64_t>(count, -1)};
  int64_t bytes = 0, peak = 0, last = problem.seconds.size();
  size_t next = 0;
  for (int64_t position = 0; position <= last; ++position) {
    for (; next < plan.events.size() && plan.events[next].position == position;
         ++next) {
      unsigned index = plan.events[next].collective;
      const OverlapCollective &collective = problem.collectives[index];
      if (!plan.events[next].isStart) {
        EXPECT_NE(found.starts[index], -1) << "awaited before its start";
        EXPECT_EQ(found.awaits[index], -1) << "awaited twice";
        EXPECT_LE(position, collective.deadline);
        found.awaits[index] = position;
        bytes -= collective.bytes;
        continue;
      }
      EXPECT_EQ(found.starts[index], -1) << "started twice";
      EXPECT_GE(position, collective.ready);
      for (unsigned producer : collective.after)
        EXPECT_NE(found.awaits[producer], -1) << "reads what is in flight";
      found.starts[index] = position;
      bytes += collective.bytes;
      peak = std::max(peak, bytes);
    }
    if (position == last)
      break;
    EXPECT_EQ(bytes, plan.bytesOver[position]);
    if (problem.nestedBytes[position] > 0) {
      EXPECT_LE(bytes + problem.nestedBytes[position], bound);
    }
  }
  EXPECT_EQ(next, plan.events.size());
  EXPECT_FALSE(llvm::is_contained(found.awaits, -1));
  EXPECT_LE(peak, bound);
  EXPECT_EQ(peak, plan.peakBytes);
  return found;
}

static OverlapCollective makeGather(int64_t bytes, double seconds,
                                    int64_t ready, int64_t deadline) {
  OverlapCollective collective;
  collective.isGather = true;
  collective.bytes = bytes;
  collective.seconds = seconds;
  collective.ready = ready;
  collective.deadline = deadline;
  return collective;
}

static OverlapCollective makeReduction(int64_t bytes, double seconds,
                                       int64_t ready, int64_t deadline) {
  OverlapCollective collective = makeGather(bytes, seconds, ready, deadline);
  collective.isGather = false;
  return collective;
}

static OverlapProblem makeProblem(size_t numOps, double seconds) {
  OverlapProblem problem;
  problem.seconds.assign(numOps, seconds);
  problem.nestedBytes.assign(numOps, 0);
  return problem;
}

TEST(OverlapPlanTest, NoCollectives) {
  OverlapProblem problem = makeProblem(3, 1);
  EXPECT_EQ(getLeastBytesInFlight(problem), 0);
  check(problem, 0);
}

// Gathers that could all start at once do not pile up: of 32 equal layers, one
// is in flight while another is in use.
TEST(OverlapPlanTest, EqualLayersAtDepthOne) {
  for (bool isEager : {false, true}) {
    OverlapProblem problem = makeProblem(32, 1);
    problem.isEager = isEager;
    for (int64_t layer = 0; layer < 32; ++layer)
      problem.collectives.push_back(makeGather(100, 0.4, 0, layer));
    EXPECT_EQ(getLeastBytesInFlight(problem), 100);
    Checked found = check(problem, 100);
    for (int64_t layer = 1; layer < 32; ++layer)
      EXPECT_EQ(found.starts[layer], layer - 1);
  }
}

TEST(OverlapPlanTest, EagerGathersFillTheBound) {
  OverlapProblem problem = makeProblem(32, 1);
  problem.isEager = true;
  for (int64_t layer = 0; layer < 32; ++layer)
    problem.collectives.push_back(makeGather(100, 0.4, 0, layer));
  Checked found = check(problem, 399);
  for (int64_t layer = 3; layer < 32; ++layer)
    EXPECT_EQ(found.starts[layer], layer - 3);
}

// With times, no earlier than it takes to hide a gather (and as much again).
TEST(OverlapPlanTest, GathersStartJustInTime) {
  OverlapProblem problem = makeProblem(32, 1);
  problem.collectives.push_back(makeGather(100, 2, 0, 20));
  problem.collectives.push_back(makeGather(100, 2, 0, 30));
  Checked found = check(problem, 1'000'000);
  EXPECT_EQ(found.starts[0], 16);
  EXPECT_EQ(found.starts[1], 26);
}

// Gathers of one channel run one after the other.
TEST(OverlapPlanTest, GathersMakeRoomForTheNext) {
  OverlapProblem problem = makeProblem(32, 1);
  problem.collectives.push_back(makeGather(100, 2, 0, 20));
  problem.collectives.push_back(makeGather(100, 4, 0, 21));
  Checked found = check(problem, 1'000'000);
  EXPECT_EQ(found.starts[0], 9);
  EXPECT_EQ(found.starts[1], 13);
}

// Reductions start when they can and are awaited when they must, or when the
// next one needs their bytes.
TEST(OverlapPlanTest, ReductionsAreAwaitedLate) {
  OverlapProblem problem = makeProblem(10, 1);
  for (int64_t i = 0; i < 4; ++i)
    problem.collectives.push_back(makeReduction(100, 0.5, 2 * i, 9));
  Checked found = check(problem, 400);
  EXPECT_EQ(found.starts, (std::vector<int64_t>{0, 2, 4, 6}));
  EXPECT_EQ(found.awaits, (std::vector<int64_t>{9, 9, 9, 9}));
  found = check(problem, 200);
  EXPECT_EQ(found.starts, (std::vector<int64_t>{0, 2, 4, 6}));
  EXPECT_EQ(found.awaits, (std::vector<int64_t>{4, 6, 9, 9}));
}

// Channels may share links: what is needed first starts first.
TEST(OverlapPlanTest, UrgentOnesFirst) {
  OverlapProblem problem = makeProblem(4, 1);
  problem.isEager = true;
  problem.collectives.push_back(makeReduction(100, 1, 0, 4));
  problem.collectives.push_back(makeGather(100, 1, 0, 2));
  EXPECT_EQ(planOverlap(problem, 200).events.front().collective, 1u);
  problem.collectives[0].deadline = 1;
  EXPECT_EQ(planOverlap(problem, 200).events.front().collective, 0u);
}

// The second half of a reduction in two levels starts when the first is done.
TEST(OverlapPlanTest, ChainsDoNotBlock) {
  OverlapProblem problem = makeProblem(10, 1);
  problem.collectives.push_back(makeReduction(100, 2, 1, 10));
  problem.collectives.push_back(makeReduction(50, 1, 0, 10));
  problem.collectives.back().after = {0};
  Checked found = check(problem, 200);
  EXPECT_EQ(found.awaits[0], 3);
  EXPECT_EQ(found.starts[1], 3);
  EXPECT_EQ(found.awaits[1], 10);
}

// Of what one collective reads, nothing is awaited before all could be done.
TEST(OverlapPlanTest, ReaderOfSeveralStopsNothing) {
  OverlapProblem problem = makeProblem(10, 1);
  for (int64_t ready : {1, 3, 5})
    problem.collectives.push_back(makeReduction(100, 0.5, ready, 10));
  problem.collectives.push_back(makeReduction(4, 0.1, 0, 10));
  problem.collectives.back().after = {0, 1, 2};
  Checked found = check(problem, 400);
  EXPECT_EQ(found.awaits, (std::vector<int64_t>{6, 6, 6, 10}));
  EXPECT_EQ(found.starts[3], 6);
}

// Without times, a chain's next link starts behind the start of another chain.
TEST(OverlapPlanTest, ChainsWithoutTimes) {
  OverlapProblem problem = makeProblem(10, 1);
  problem.isEager = true;
  for (unsigned i = 0; i < 3; ++i) {
    problem.collectives.push_back(makeReduction(100, 0.1, 1 + 3 * i, 10));
    problem.collectives.push_back(makeReduction(50, 0.1, 0, 10));
    problem.collectives.back().after = {2 * i};
  }
  Checked found = check(problem, 1'000);
  EXPECT_EQ(found.starts, (std::vector<int64_t>{1, 4, 4, 7, 7, 10}));
  EXPECT_EQ(found.awaits, (std::vector<int64_t>{4, 10, 7, 10, 10, 10}));
}

// The two halves of a gather, each hidden.
TEST(OverlapPlanTest, ChainsOfGathers) {
  OverlapProblem problem = makeProblem(20, 1);
  problem.collectives.push_back(makeGather(50, 1, 0, 20));
  problem.collectives.push_back(makeGather(100, 2, 0, 15));
  problem.collectives.back().after = {0};
  Checked found = check(problem, 200);
  EXPECT_EQ(found.starts[1], 11);
  EXPECT_EQ(found.awaits[0], 11);
  EXPECT_EQ(found.starts[0], 9);
}

// A loop with gathers of its own leaves no room for those around it.
TEST(OverlapPlanTest, NestedCollectivesHaveTheirBytes) {
  OverlapProblem problem = makeProblem(10, 1);
  problem.nestedBytes[5] = 180;
  problem.collectives.push_back(makeGather(100, 3, 0, 7));
  problem.collectives.push_back(makeReduction(80, 3, 4, 9));
  EXPECT_EQ(getLeastBytesInFlight(problem), 180);
  Checked found = check(problem, 200);
  EXPECT_EQ(found.starts[0], 6);
  found = check(problem, 400);
  EXPECT_EQ(found.starts[0], 1);
}

// What is needed behind a loop that gathers for itself does not take its turn.
TEST(OverlapPlanTest, GathersStartBehindLoops) {
  for (bool isEager : {false, true}) {
    OverlapProblem problem = makeProblem(10, 1);
    problem.isEager = isEager;
    problem.nestedBytes[2] = problem.nestedBytes[5] = 100;
    problem.loops = {2, 5};
    // Done when needed; late by half its time, as it waits for the first; not
    // needed behind the second loop.
    problem.collectives.push_back(makeGather(10, 1, 0, 7));
    problem.collectives.push_back(makeGather(10, 2, 0, 8));
    problem.collectives.push_back(makeGather(10, 1, 0, 5));
    Checked found = check(problem, 1'000);
    EXPECT_EQ(found.starts, (std::vector<int64_t>{6, 6, 3}));
  }
}

// It does if it would be late by more than half its time: then right behind the
// loop before, or with times, in time to leave the links to the loop.
TEST(OverlapPlanTest, GathersNeededRightBehindALoopCrossIt) {
  for (bool isEager : {false, true}) {
    OverlapProblem problem = makeProblem(12, 1);
    problem.isEager = isEager;
    problem.nestedBytes[2] = problem.nestedBytes[9] = 100;
    problem.loops = {2, 9};
    problem.collectives.push_back(makeGather(10, 2, 0, 10));
    Checked found = check(problem, 1'000);
    EXPECT_EQ(found.starts[0], isEager ? 3 : 5);
  }
}

/// Two gathers that have little time, needed at 3 and 6.
static OverlapProblem makeHurriedGathers(bool isEager) {
  OverlapProblem problem = makeProblem(20, 1);
  problem.isEager = isEager;
  problem.collectives.push_back(makeGather(100, 2, 0, 3));
  problem.collectives.push_back(makeGather(100, 2, 0, 6));
  return problem;
}

// Channels may share links: what can wait lets gathers pass that it would
// delay.
TEST(OverlapPlanTest, ReductionsGiveWayToGathers) {
  for (bool isEager : {false, true}) {
    OverlapProblem problem = makeHurriedGathers(isEager);
    problem.collectives.push_back(makeReduction(100, 3, 0, 20));
    // A short one delays none of them, in the second's reserve.
    problem.collectives.push_back(makeReduction(100, 0.5, 0, 20));
    Checked found = check(problem, 1'000);
    EXPECT_EQ(found.starts[2], 4);
    EXPECT_EQ(found.starts[3], 0);
  }
}

// What has no time to wait does not, nor does what comes before such a one.
TEST(OverlapPlanTest, LateReductionsDoNotGiveWay) {
  OverlapProblem problem = makeHurriedGathers(/*isEager=*/false);
  problem.collectives.push_back(makeReduction(100, 3, 0, 8));
  EXPECT_EQ(check(problem, 1'000).starts[2], 0);
  problem.collectives.back().deadline = 20;
  problem.collectives.push_back(makeReduction(100, 7, 5, 20));
  EXPECT_EQ(check(problem, 1'000).starts[2], 0);
}

// Gradients that wait count as if they were in flight.
TEST(OverlapPlanTest, FewReductionsWait) {
  OverlapProblem problem = makeHurriedGathers(/*isEager=*/false);
  for (int i = 0; i < 3; ++i)
    problem.collectives.push_back(makeReduction(300, 1.5, 0, 20));
  Checked found = check(problem, 1'300); // 650 for reductions
  EXPECT_EQ(found.starts, (std::vector<int64_t>{0, 2, 2, 2, 0}));
}

TEST(OverlapPlanTest, RandomProblems) {
  std::mt19937 random(1);
  auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % limit);
  };
  for (int round = 0; round < 3000; ++round) {
    int64_t numOps = 1 + below(20);
    OverlapProblem problem = makeProblem(numOps, 0);
    problem.isEager = below(2) != 0;
    for (double &seconds : problem.seconds)
      seconds = static_cast<double>(below(4));
    std::vector<int64_t> ready;
    for (int64_t i = 0, e = below(12); i < e; ++i) {
      OverlapCollective collective =
          makeGather(below(100), static_cast<double>(below(5)), 0, 0);
      collective.isGather = below(2) != 0;
      collective.ready = below(numOps + 1);
      int64_t earliest = collective.ready;
      for (int64_t producer = 0; producer < i; ++producer)
        if (below(5) == 0) {
          collective.after.push_back(producer);
          earliest = std::max(earliest, ready[producer]);
        }
      ready.push_back(earliest);
      collective.deadline = earliest + below(numOps + 1 - earliest);
      problem.collectives.push_back(collective);
    }
    // What a reader needs, it does not need later than its own deadline.
    for (size_t i = problem.collectives.size(); i-- > 0;)
      for (unsigned producer : problem.collectives[i].after)
        problem.collectives[producer].deadline =
            std::min(problem.collectives[producer].deadline,
                     problem.collectives[i].deadline);
    for (size_t i = 0; i < problem.collectives.size(); ++i)
      problem.collectives[i].deadline =
          std::max(problem.collectives[i].deadline, ready[i]);
    for (int64_t &nested : problem.nestedBytes)
      nested = below(8) == 0 ? below(200) : 0;
    for (int64_t position = 0; position < numOps; ++position)
      if (problem.nestedBytes[position] > 0 && below(2) == 0)
        problem.loops.push_back(position);
    int64_t least = getLeastBytesInFlight(problem);
    for (int64_t bound :
         {least, least + below(50), 4 * least, int64_t(1) << 60})
      check(problem, bound);
    if (testing::Test::HasFailure())
      FAIL() << "in round " << round;
  }
}
