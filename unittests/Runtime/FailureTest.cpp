//===- FailureTest.cpp - Failures end a run in bounded time ---------------===//

#include "TestWorld.h"

#include <atomic>
#include <thread>

using namespace amsp::runtime;
using std::chrono::milliseconds;

/// Of a run in which no rank stalls, on a machine however busy.
static constexpr milliseconds kNoStall = std::chrono::minutes(1);

static double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

namespace {
/// On 2x2: a gather inside each node, then a reduction across the nodes.
struct FailureTest : testing::Test {
  Description gather{AMSP_ALL_GATHER, AMSP_SUM,     AMSP_F32, {{1, 2}},
                     {{1, 2, 1}},     "gather.w,0", 0};
  Description reduce{AMSP_ALL_REDUCE, AMSP_SUM,    AMSP_F32, {{2, 2}},
                     {{1, 1, 1}},     "reduce.g1", 1};
  float pieces[4] = {}, full[4][2] = {}, sums[4] = {};

  void runBoth(amsp_rank *rank) {
    int64_t number = amsp_rank_number(rank);
    const void *piece = &pieces[number], *sumSource = &sums[number];
    void *whole = full[number], *sum = &sums[number];
    amsp_collective_start(rank, gather.get(), &piece, &whole);
    amsp_collective_await(rank, gather.get());
    amsp_collective_start(rank, reduce.get(), &sumSource, &sum);
    amsp_collective_await(rank, reduce.get());
  }

  std::optional<RunError> run(std::vector<Fault> faults, int steps = 1,
                              milliseconds stallLimit = milliseconds(300)) {
    WorldOptions options;
    options.stallLimit = stallLimit;
    options.faults = std::move(faults);
    return runOnRanks(
        4, [&](amsp_rank *rank) { runBoth(rank); }, options, steps);
  }
};
} // namespace

TEST_F(FailureTest, AFailingRankEndsTheOthersAtOnce) {
  auto begin = std::chrono::steady_clock::now();
  auto error = run({{2, "reduce.g1", Fault::Kind::Fail}}, 1, kNoStall);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->str(), "rank 2, collective 'reduce.g1' (id 1), step 1: "
                          "injected failure");
  EXPECT_TRUE(error->stuckRanks.empty());
  EXPECT_LT(secondsSince(begin), 30);
}

TEST_F(FailureTest, AStalledRankIsNamedByThoseWhoWait) {
  auto begin = std::chrono::steady_clock::now();
  auto error = run({{3, "1", Fault::Kind::Stall}});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rank, 3);
  EXPECT_EQ(error->collective, "reduce.g1");
  EXPECT_NE(error->message.find("rank 1 waited 0.3 s"), std::string::npos)
      << error->str();
  EXPECT_TRUE(error->stuckRanks.empty());
  EXPECT_LT(secondsSince(begin), 10);
}

TEST_F(FailureTest, AStallIsFoundThroughRanksThatWaitThemselves) {
  // Rank 2 stalls in the gather, so rank 3 waits for it there, and rank 1
  // waits for rank 3 in the reduction. Whoever gives up first must not blame
  // rank 3.
  for (int repeat = 0; repeat < 5; ++repeat) {
    auto error = run({{2, "gather.w,0", Fault::Kind::Stall}});
    ASSERT_TRUE(error);
    EXPECT_EQ(error->rank, 2) << error->str();
    EXPECT_EQ(error->collective, "gather.w,0") << error->str();
  }
}

TEST_F(FailureTest, AnAllToAllWithoutOneOfItsMembersNamesIt) {
  // Of two groups, that of ranks 1 and 3; the other one ends well.
  Description exchange{AMSP_ALL_TO_ALL, AMSP_SUM,   AMSP_I8, {{2, 2}},
                       {{1, 2, 1}},     "exchange", 0};
  char sources[4][2] = {{0, 1}, {10, 11}, {20, 21}, {30, 31}},
       results[4][2] = {};
  for (Fault::Kind kind : {Fault::Kind::Stall, Fault::Kind::Fail}) {
    WorldOptions options;
    options.stallLimit = milliseconds(300);
    options.faults = {{3, "exchange", kind}};
    auto error = runOnRanks(
        4,
        [&](amsp_rank *rank) {
          int64_t number = amsp_rank_number(rank);
          runCollective(rank, exchange.get(), {sources[number]},
                        {results[number]});
        },
        options);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->rank, 3);
    EXPECT_EQ(error->collective, "exchange");
  }
  EXPECT_EQ(results[0][1], 20);
  EXPECT_EQ(results[2][0], 1);
}

TEST_F(FailureTest, ADelayChangesNothing) {
  EXPECT_FALSE(run({{2, "1", Fault::Kind::Delay}}, 3, kNoStall));
}

TEST_F(FailureTest, ALagMovesTheDataLate) {
  auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(run({{2, "1", Fault::Kind::Lag}}, 3, kNoStall));
  EXPECT_GT(secondsSince(begin), 3 * 0.05);
}

TEST_F(FailureTest, AFailedWorldRunsNoMore) {
  std::string message;
  WorldOptions options;
  options.faults = {{0, "1", Fault::Kind::Fail}};
  auto world = World::create(
      std::vector<RankProgram>(4, {&bodyStep, {"h", {}}, 0}), options, message);
  RankBody body = [&](amsp_rank *rank) { runBoth(rank); };
  std::vector<RankBuffers> buffers(4, {{&body}, {}});
  ASSERT_TRUE(world->runStep(buffers));
  auto again = world->runStep(buffers);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->message, "injected failure");
}

TEST_F(FailureTest, CompiledCodeThatNeverReturnsIsGivenUp) {
  static std::atomic<bool> release{false}; // outlives the stuck thread
  static std::atomic<bool> released{false};
  WorldOptions options;
  options.stallLimit = milliseconds(200);
  static Description reduce(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_F32, {{1, 2}},
                            {{1, 1, 1}}, "late");
  static float values[2];
  static RankBody body = [](amsp_rank *rank) {
    int64_t number = amsp_rank_number(rank);
    while (number == 1 && !release)
      std::this_thread::sleep_for(milliseconds(1));
    released = number == 1;
    const void *source = &values[number];
    void *destination = &values[number];
    amsp_collective_start(rank, reduce.get(), &source, &destination);
    amsp_collective_await(rank, reduce.get());
  };
  auto error = runOnRanks(2, body, options);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rank, 1);
  EXPECT_EQ(error->collective, "late");
  EXPECT_EQ(error->stuckRanks, std::vector<int64_t>{1});
  release = true;
  while (!released)
    std::this_thread::yield();
}

TEST_F(FailureTest, DifferentProgramsAreRefused) {
  std::string message;
  bool ran = false;
  auto world = World::create({{&bodyStep, {"aaaa", {}}, 0},
                              {&bodyStep, {"aaaa", {}}, 0},
                              {&bodyStep, {"bbbb", {}}, 0},
                              {&bodyStep, {"cccc", {}}, 0}},
                             {}, message);
  ASSERT_TRUE(world) << message;
  RankBody body = [&](amsp_rank *) { ran = true; };
  auto error = world->runStep(std::vector<RankBuffers>(4, {{&body}, {}}));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->str(), "rank 2: runs another program than rank 0 (program "
                          "hash bbbb, rank 0 has aaaa)");
  EXPECT_FALSE(ran);
}

TEST(ProgramIdentityTest, NamesTheFirstDifference) {
  ProgramIdentity first{"aa", {"'x' (id 0)", "'y' (id 1)"}};
  auto explain = [&](const ProgramIdentity &other) {
    return explainDifference(other, first);
  };
  EXPECT_EQ(explain({"bb", {"'x' (id 0)", "'z' (id 1)", "'y' (id 2)"}}),
            "runs another program than rank 0: collective number 2 is 'z' (id "
            "1), on rank 0 'y' (id 1) (program hash bb, rank 0 has aa)");
  EXPECT_EQ(explain({"bb", {"'x' (id 0)"}}),
            "runs another program than rank 0: collective number 2 is none, on "
            "rank 0 'y' (id 1) (program hash bb, rank 0 has aa)");
  EXPECT_EQ(explain({"bb", {"'x' (id 0)", "'y' (id 1)", "'z' (id 2)"}}),
            "runs another program than rank 0: collective number 3 is 'z' (id "
            "2), on rank 0 none (program hash bb, rank 0 has aa)");
  EXPECT_EQ(explain({"bb", first.collectives}),
            "runs another program than rank 0, with the same collectives "
            "(program hash bb, rank 0 has aa)");
}

TEST_F(FailureTest, TheFirstCollectiveThatDiffersIsNamed) {
  std::string message;
  std::vector<RankProgram> programs(3, {&bodyStep, {"aa", {"'x'", "'y'"}}, 0});
  programs[1].identity = {"bb", {"'x'", "'z'"}};
  auto world = World::create(programs, {}, message);
  ASSERT_TRUE(world) << message;
  RankBody body = [](amsp_rank *) {};
  auto error = world->runStep(std::vector<RankBuffers>(3, {{&body}, {}}));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->str(),
            "rank 1: runs another program than rank 0: collective number 2 is "
            "'z', on rank 0 'y' (program hash bb, rank 0 has aa)");
}

TEST_F(FailureTest, DifferentOrdersOfCollectivesAreFound) {
  Description first(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_F32, {{1, 2}}, {{1, 1, 1}},
                    "first", 0);
  Description second(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_F32, {{1, 2}}, {{1, 1, 1}},
                     "second", 1);
  auto error = runOnRanks(2, [&](amsp_rank *rank) {
    int64_t number = amsp_rank_number(rank);
    const amsp_collective *own = number ? second.get() : first.get();
    const void *source = &pieces[number];
    void *destination = &sums[number];
    amsp_collective_start(rank, own, &source, &destination);
    amsp_collective_await(rank, own);
  });
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("ranks disagree on the order of collectives"),
            std::string::npos);
}

TEST_F(FailureTest, StartsAndAwaitsMustPair) {
  auto errorOf = [](const RankBody &body) {
    auto error = runOnRanks(1, body);
    return error ? error->message : "none";
  };
  const void *source = &pieces[0];
  void *destination = &sums[0];
  Description copy(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_F32, {}, {{1, 1, 1}});
  EXPECT_EQ(errorOf([&](amsp_rank *rank) {
              amsp_collective_start(rank, copy.get(), &source, &destination);
            }),
            "the step ended before it was awaited");
  EXPECT_EQ(errorOf([&](amsp_rank *rank) {
              amsp_collective_start(rank, copy.get(), &source, &destination);
              amsp_collective_start(rank, copy.get(), &source, &destination);
            }),
            "started again before it was awaited");
  EXPECT_EQ(errorOf([&](amsp_rank *rank) {
              amsp_collective_await(rank, copy.get());
            }),
            "awaited, but not started");
}

TEST_F(FailureTest, RefusesStepsOfAnotherAbi) {
  amsp_step old = {AMSP_STEP_ABI_VERSION + 1, "", executeBody};
  std::string message;
  EXPECT_FALSE(World::create({{&old, {"h", {}}, 0}}, {}, message));
  EXPECT_EQ(message, "the step has ABI version " +
                         std::to_string(AMSP_STEP_ABI_VERSION + 1) +
                         ", this runtime runs version " +
                         std::to_string(AMSP_STEP_ABI_VERSION));
}

TEST(FaultTest, Parses) {
  std::string error;
  auto fault = Fault::parse("3,gather.w,0,stall", error);
  ASSERT_TRUE(fault) << error;
  EXPECT_EQ(fault->rank, 3);
  EXPECT_EQ(fault->collective, "gather.w,0");
  EXPECT_EQ(fault->kind, Fault::Kind::Stall);
  for (const char *text :
       {"", "1", "1,x", "a,x,fail", "1,x,explode", "-1,x,fail"})
    EXPECT_FALSE(Fault::parse(text, error)) << text;
}
