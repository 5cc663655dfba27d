//===- LinkModelTest.cpp - Links slowed to a stated speed -----------------===//

#include "TestWorld.h"

#include <cmath>
#include <ctime>

using namespace amsp::runtime;
using std::chrono::milliseconds;

static LinkModel parse(const std::string &text,
                       const std::vector<int64_t> &sizes) {
  std::string error;
  std::optional<LinkModel> model = LinkModel::parse(text, sizes, error);
  EXPECT_TRUE(model) << error;
  return model.value_or(LinkModel());
}

static std::string errorOf(const std::string &text) {
  std::string error;
  return LinkModel::parse(text, {2, 2}, error) ? "none" : error;
}

TEST(LinkModelTest, Parses) {
  LinkModel model = parse("bandwidth=1e9,latency=1e-4;bandwidth=5e8", {4, 2});
  ASSERT_EQ(model.levels.size(), 2U);
  EXPECT_EQ(model.levels[0].size, 4);
  EXPECT_EQ(model.levels[0].bandwidth, 1e9);
  EXPECT_EQ(model.levels[0].latency, 1e-4);
  EXPECT_EQ(model.levels[1].bandwidth, 5e8);
  EXPECT_EQ(model.levels[1].latency, 0);
  EXPECT_FALSE(model.isShared);
  // One item speaks for all levels.
  LinkModel shared = parse("bandwidth=1e9;shared", {4, 2, 3});
  EXPECT_EQ(shared.levels.size(), 3U);
  EXPECT_EQ(shared.levels[2].size, 3);
  EXPECT_TRUE(shared.isShared);
}

TEST(LinkModelTest, RefusesAbsurdLinks) {
  for (const char *bandwidth : {"0", "-1", "1e16", "nan", "inf", "fast", ""})
    EXPECT_EQ(errorOf(std::string("bandwidth=") + bandwidth),
              std::string("bandwidth '") + bandwidth +
                  "' is not between 1 and 1e15 bytes/s");
  for (const char *latency : {"-1e-9", "61", "nan", "1ms"})
    EXPECT_EQ(errorOf(std::string("bandwidth=1,latency=") + latency),
              std::string("latency '") + latency +
                  "' is not between 0 and 60 s");
  EXPECT_EQ(errorOf(""), "no bandwidth in ''");
  EXPECT_EQ(errorOf("latency=1"), "no bandwidth in 'latency=1'");
  EXPECT_EQ(errorOf("shared"), "gives 0 levels, the step has 2");
  EXPECT_EQ(errorOf("speed=1"),
            "unknown key 'speed', expected bandwidth, latency or shared");
  EXPECT_EQ(errorOf("bandwidth=1;bandwidth=1;bandwidth=1"),
            "gives 3 levels, the step has 2");
}

TEST(LinkModelTest, SecondsAreThoseOfARingOverThePaddedBuffer) {
  LinkModel model =
      parse("bandwidth=1e9,latency=1e-3;bandwidth=1e8,latency=2e-3", {2, 2});
  // 2x2 ranks: 2 hops inside the nodes, 1 between them; 4 * 300 floats.
  Description gather(AMSP_ALL_GATHER, AMSP_SUM, AMSP_F32, {{2, 2}, {1, 2}},
                     {{1, 1199, 300}});
  EXPECT_DOUBLE_EQ(model.seconds(*gather.get()),
                   4800 * 0.75 / 1e8 + 2e-3 + 2e-3);
  Description inside(AMSP_ALL_GATHER, AMSP_SUM, AMSP_F32, {{1, 2}},
                     {{1, 1200, 600}});
  EXPECT_DOUBLE_EQ(model.seconds(*inside.get()), 4800 * 0.5 / 1e9 + 1e-3);
  // Both ranks of a node reduce across the nodes: they share its link.
  Description across(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_F32, {{2, 2}},
                     {{1, 1200, 1200}});
  EXPECT_DOUBLE_EQ(model.seconds(*across.get()), 4800 * 2 / 1e8 + 4e-3);
  // Each rank of a node sends half of its floats to the other one.
  Description exchange(AMSP_ALL_TO_ALL, AMSP_SUM, AMSP_F32, {{2, 2}, {1, 2}},
                       {{1, 1200, 300}});
  EXPECT_DOUBLE_EQ(model.seconds(*exchange.get()), 4800 / 1e8 + 2e-3 + 2e-3);
  Description alone(AMSP_ALL_GATHER, AMSP_SUM, AMSP_F32, {}, {{1, 9, 9}});
  EXPECT_EQ(model.seconds(*alone.get()), 0);
}

TEST(LinkModelTest, CountsMoreThanTwoToThe31Elements) {
  Description gather(AMSP_ALL_GATHER, AMSP_SUM, AMSP_F32, {{1, 4}},
                     {{3, int64_t{1} << 32, int64_t{1} << 30}});
  EXPECT_EQ(paddedBytes(*gather.get()), (int64_t{3} << 32) * 4);
}

namespace {
/// An all_gather and an all_reduce of 2 ranks whose links take 40 ms each.
struct SlowLinksTest : testing::Test {
  Description gather{AMSP_ALL_GATHER,   AMSP_SUM, AMSP_F32, {{1, 2}},
                     {{1, 2000, 1000}}, "gather", 0};
  Description reduce{AMSP_ALL_REDUCE,   AMSP_SUM, AMSP_F32, {{1, 2}},
                     {{1, 1000, 1000}}, "reduce", 1};
  std::vector<float> pieces[2], full[2], sums[2];

  SlowLinksTest() {
    for (int rank : {0, 1}) {
      pieces[rank].assign(1000, static_cast<float>(1 + rank));
      full[rank].resize(2000);
      sums[rank].assign(1000, static_cast<float>(1 + rank));
    }
  }

  /// Returns the seconds until the sum is there.
  double runBoth(amsp_rank *rank) { return runBoth(rank, gather); }

  double runBoth(amsp_rank *rank, const Description &gather) {
    auto begin = std::chrono::steady_clock::now();
    int64_t number = amsp_rank_number(rank);
    const void *piece = pieces[number].data(), *addend = sums[number].data();
    void *whole = full[number].data(), *sum = sums[number].data();
    amsp_collective_start(rank, gather.get(), &piece, &whole);
    amsp_collective_start(rank, reduce.get(), &addend, &sum);
    amsp_collective_await(rank, reduce.get());
    std::chrono::duration<double> duration =
        std::chrono::steady_clock::now() - begin;
    amsp_collective_await(rank, gather.get());
    return duration.count();
  }

  double secondsOf(const std::string &links, std::vector<Fault> faults = {}) {
    WorldOptions options;
    options.links = parse(links, {2});
    options.faults = std::move(faults);
    auto begin = std::chrono::steady_clock::now();
    auto error =
        runOnRanks(2, [&](amsp_rank *rank) { runBoth(rank); }, options);
    std::chrono::duration<double> duration =
        std::chrono::steady_clock::now() - begin;
    EXPECT_FALSE(error) << error->str();
    EXPECT_EQ(full[0], full[1]);
    EXPECT_EQ(full[0][1999], 2);
    EXPECT_EQ(sums[0][999], 3);
    return duration.count();
  }
};
} // namespace

TEST_F(SlowLinksTest, ChannelsDoNotSlowEachOther) {
  // The gather began first and takes 1 s, 8 MB * 1/2; the sum takes 1 ms.
  Description large(AMSP_ALL_GATHER, AMSP_SUM, AMSP_F32, {{1, 2}},
                    {{1, 2'000'000, 1'000'000}}, "gather", 0);
  WorldOptions options;
  options.links = parse("bandwidth=4e6", {2});
  double seconds[2];
  for (int rank : {0, 1}) {
    pieces[rank].resize(1'000'000);
    full[rank].resize(2'000'000);
  }
  ASSERT_FALSE(runOnRanks(
      2,
      [&](amsp_rank *rank) { seconds[amsp_rank_number(rank)] = runBoth(rank); },
      options));
  EXPECT_LT(seconds[0], 1);
  EXPECT_LT(seconds[1], 1);
}

TEST_F(SlowLinksTest, TransfersTakeTheirTime) {
  // all_gather: 8000 * 1/2; all_reduce: 4000 * 2 * 1/2.
  EXPECT_GE(secondsOf("bandwidth=2e4"), 0.2);
}

TEST_F(SlowLinksTest, SharedLinksServeOneCollectiveAfterTheOther) {
  EXPECT_GE(secondsOf("bandwidth=1e5;shared"), 0.08);
}

TEST_F(SlowLinksTest, ACollectiveBeginsWithItsLastMember) {
  EXPECT_GE(secondsOf("bandwidth=1e5",
                      {{1, "gather", Fault::Kind::Delay, milliseconds(50)}}),
            0.09);
}

TEST_F(SlowLinksTest, SlowLinksTakeNoCore) {
  std::clock_t begin = std::clock(); // of all threads
  secondsOf("bandwidth=2e4");        // 200 ms
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 0.05);
}

TEST_F(SlowLinksTest, TheTraceShowsTheLinks) {
  WorldOptions options;
  options.links = parse("bandwidth=1e6", {2});
  options.trace = true;
  std::string error;
  auto world = World::create(
      {{&bodyStep, {"h", {}}, 0}, {&bodyStep, {"h", {}}, 0}}, options, error);
  ASSERT_TRUE(world) << error;
  RankBody body = [&](amsp_rank *rank) { runBoth(rank); };
  ASSERT_FALSE(world->runStep({{{&body}, {}}, {{&body}, {}}}));
  std::string events = world->traceEvents();
  EXPECT_NE(events.find(R"("link_us": 4000.000)"), std::string::npos) << events;
}

TEST_F(SlowLinksTest, RefusesWhatWouldStall) {
  WorldOptions options;
  options.links = parse("bandwidth=100", {2});
  auto error = runOnRanks(2, [&](amsp_rank *rank) { runBoth(rank); }, options);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->collective, "gather");
  EXPECT_EQ(error->message, "takes 40 s over links as slow as these, longer "
                            "than the stall limit of 8 s");
}

TEST_F(SlowLinksTest, RefusesLinksOfAnotherWorld) {
  WorldOptions options;
  options.links = parse("bandwidth=100", {4});
  std::string error;
  EXPECT_FALSE(World::create(
      std::vector<RankProgram>(2, {&bodyStep, {"h", {}}, 0}), options, error));
  EXPECT_EQ(error, "links are described for 4 ranks, not 2");
}
