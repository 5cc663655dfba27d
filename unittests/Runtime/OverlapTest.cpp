//===- OverlapTest.cpp - Collectives in flight, and their order -----------===//

#include "TestWorld.h"

#include <sstream>

using namespace amsp::runtime;

/// Numbers whose sum depends on the order of the additions.
static float unevenValue(int64_t rank, int64_t element) {
  return static_cast<float>((rank * 7919 + element * 104729) % 1000003) *
         (rank % 2 ? 1e-6F : 1e3F);
}

TEST(OverlapTest, SameBitsWhateverTheTiming) {
  constexpr int64_t world = 4;
  constexpr int64_t count = 5000;
  Description reduce(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_F32, {{1, 4}},
                     {{1, count, count}}, "sum");
  Description scatter(AMSP_REDUCE_SCATTER, AMSP_SUM, AMSP_F32, {{1, 2}, {2, 2}},
                      {{1, count, count / 4}}, "scatter", 1);
  auto run = [&](int delayedRank, Fault::Kind kind = Fault::Kind::Delay) {
    WorldOptions options;
    if (delayedRank >= 0)
      for (const char *name : {"sum", "scatter"})
        options.faults.push_back(
            {delayedRank, name, kind, std::chrono::milliseconds(3)});
    std::vector<std::vector<float>> results(world);
    std::vector<std::vector<float>> inputs(world);
    for (int64_t rank = 0; rank < world; ++rank) {
      results[rank].resize(count + count / 4);
      for (int64_t i = 0; i < count; ++i)
        inputs[rank].push_back(unevenValue(rank, i));
    }
    auto error = runOnRanks(
        world,
        [&](amsp_rank *rank) {
          int64_t number = amsp_rank_number(rank);
          const void *source = inputs[number].data();
          void *sum = results[number].data();
          void *piece = results[number].data() + count;
          amsp_collective_start(rank, reduce.get(), &source, &sum);
          amsp_collective_start(rank, scatter.get(), &source, &piece);
          amsp_collective_await(rank, scatter.get());
          amsp_collective_await(rank, reduce.get());
        },
        options);
    EXPECT_FALSE(error);
    return results;
  };
  std::vector<std::vector<float>> first = run(-1);
  for (int64_t rank = 1; rank < world; ++rank)
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(first[rank][i], first[0][i]) << "members disagree";
  for (int repeat = 0; repeat < 20; ++repeat)
    ASSERT_EQ(
        run(repeat % 4, repeat % 8 < 4 ? Fault::Kind::Delay : Fault::Kind::Lag),
        first)
        << "repeat " << repeat;
}

TEST(OverlapTest, TwoChannelsForAThousandSteps) {
  // On 2x2: a gather inside the nodes and an all_reduce across all are in
  // flight at once, and the channels complete in either order.
  constexpr int64_t count = 300;
  Description gather(AMSP_ALL_GATHER, AMSP_SUM, AMSP_I32, {{1, 2}},
                     {{1, 2 * count, count}}, "gather", 0);
  Description reduce(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_I32, {{1, 2}, {2, 2}},
                     {{1, count, count}}, "reduce", 1);
  struct RankData {
    std::vector<int32_t> piece = std::vector<int32_t>(count);
    std::vector<int32_t> full = std::vector<int32_t>(2 * count);
    std::vector<int32_t> sum = std::vector<int32_t>(count);
    int32_t step = 0;
    int64_t mistakes = 0;
  };
  std::vector<RankData> data(4);
  auto error = runOnRanks(
      4,
      [&](amsp_rank *rank) {
        int64_t number = amsp_rank_number(rank);
        RankData &own = data[number];
        int32_t step = ++own.step;
        for (int32_t i = 0; i < count; ++i) {
          own.piece[i] = step + i + 1000 * static_cast<int32_t>(number);
          own.sum[i] = step * static_cast<int32_t>(number + 1) + i;
        }
        const void *piece = own.piece.data();
        void *full = own.full.data();
        void *sum = own.sum.data();
        const void *sumSource = sum;
        amsp_collective_start(rank, gather.get(), &piece, &full);
        amsp_collective_start(rank, reduce.get(), &sumSource, &sum);
        const amsp_collective *order[] = {gather.get(), reduce.get()};
        amsp_collective_await(rank, order[step % 2]);
        amsp_collective_await(rank, order[1 - step % 2]);
        int32_t firstOfNode = static_cast<int32_t>(number / 2 * 2);
        for (int32_t i = 0; i < count; ++i) {
          own.mistakes += own.full[i] != step + i + 1000 * firstOfNode;
          own.mistakes +=
              own.full[count + i] != step + i + 1000 * (firstOfNode + 1);
          own.mistakes += own.sum[i] != 10 * step + 4 * i;
        }
      },
      {}, 1000);
  ASSERT_FALSE(error) << error->str();
  for (const RankData &rank : data) {
    EXPECT_EQ(rank.step, 1000);
    EXPECT_EQ(rank.mistakes, 0);
  }
}

TEST(OverlapTest, ChannelsProgressIndependently) {
  // Rank 1 runs the reduction before it starts the gather, rank 0 the other
  // way round: this completes only if neither channel waits for the other.
  Description gather(AMSP_ALL_GATHER, AMSP_SUM, AMSP_F32, {{1, 2}}, {{1, 2, 1}},
                     "gather", 0);
  Description reduce(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_F32, {{1, 2}}, {{1, 1, 1}},
                     "reduce", 1);
  float piece[2] = {1, 2}, full[2][2], sum[2] = {3, 4};
  auto error = runOnRanks(2, [&](amsp_rank *rank) {
    int64_t number = amsp_rank_number(rank);
    const void *pieceSource = &piece[number], *sumSource = &sum[number];
    void *fullResult = full[number], *sumResult = &sum[number];
    if (number == 0)
      amsp_collective_start(rank, gather.get(), &pieceSource, &fullResult);
    amsp_collective_start(rank, reduce.get(), &sumSource, &sumResult);
    amsp_collective_await(rank, reduce.get());
    if (number == 1)
      amsp_collective_start(rank, gather.get(), &pieceSource, &fullResult);
    amsp_collective_await(rank, gather.get());
  });
  ASSERT_FALSE(error) << error->str();
  EXPECT_EQ(sum[0], 7);
  EXPECT_EQ(full[0][1], 2);
  EXPECT_EQ(full[1][0], 1);
}

TEST(OverlapTest, TraceHoldsTheEventsOfEachRank) {
  Description reduce(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_F32, {{1, 2}}, {{1, 1, 1}},
                     "a \"name\"");
  std::vector<float> values = {1, 2};
  RankBody body = [&](amsp_rank *rank) {
    float *value = &values[amsp_rank_number(rank)];
    runCollective(rank, reduce.get(), {value}, {value});
  };
  WorldOptions options;
  options.trace = true;
  options.labels = {{"layer \"0\"", 1}};
  std::string error;
  auto world = World::create(
      {{&bodyStep, {"h", {}}, 0}, {&bodyStep, {"h", {}}, 0}}, options, error);
  ASSERT_TRUE(world);
  ASSERT_FALSE(world->runStep({{{&body}, {}}, {{&body}, {}}}));
  std::ostringstream trace;
  world->writeTrace(trace);
  std::string text = trace.str();
  for (const char *expected :
       {R"("name": "step", "cat": "step", "pid": 1, "tid": 0)",
        R"("name": "a \"name\"", "cat": "start", "pid": 0, "tid": 0)",
        R"("name": "a \"name\"", "cat": "await", "pid": 1, "tid": 0)",
        R"("name": "a \"name\"", "cat": "transfer", "pid": 0, "tid": 2)",
        R"("args": {"id": 0, "bytes": 4, "channel": "reduce", "level": 1, )"
        R"("unit": "layer \"0\""})"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << text;
}

TEST(OverlapTest, OneCommunicatorPerSetOfRanksAndChannel) {
  // Gathers and reductions of 80 layers, inside nodes and across all.
  const Digits groups[] = {{{1, 2}}, {{2, 2}, {1, 2}}};
  std::vector<std::unique_ptr<Description>> layers;
  for (int32_t id = 0; id < 80 * 4; ++id) {
    const Digits &digits = groups[id % 2];
    int64_t members = groupSize(digits);
    layers.push_back(std::make_unique<Description>(
        id / 2 % 2 ? AMSP_REDUCE_SCATTER : AMSP_ALL_GATHER, AMSP_SUM, AMSP_F32,
        digits, std::vector<amsp_collective_operand>{{1, members, 1}}, "layer",
        id));
  }
  float memory[4][8] = {};
  RankBody body = [&](amsp_rank *rank) {
    float *own = memory[amsp_rank_number(rank)];
    for (const std::unique_ptr<Description> &layer : layers)
      runCollective(rank, layer->get(), {own}, {own + 4});
  };
  std::string error;
  auto world = World::create(
      std::vector<RankProgram>(4, {&bodyStep, {"h", {}}, 0}), {}, error);
  ASSERT_TRUE(world) << error;
  std::vector<RankBuffers> buffers(4, {{&body}, {}});
  for (int step = 0; step < 2; ++step)
    ASSERT_FALSE(world->runStep(buffers));
  // The gather over all ranks compared the programs' hashes, too.
  EXPECT_EQ(world->numCommunicators(), 4);
}

TEST(OverlapTest, PoisonFillsTheArena) {
  WorldOptions options;
  options.poisonArena = true;
  std::string error;
  static std::vector<unsigned char> seen;
  amsp_step step = {AMSP_STEP_ABI_VERSION, "",
                    [](amsp_rank *, void *arena, void *const *, void *const *) {
                      auto *bytes = static_cast<unsigned char *>(arena);
                      seen.assign(bytes, bytes + 100);
                      std::fill_n(bytes, 100, 0);
                    }};
  auto world = World::create({{&step, {"h", {}}, 100}}, options, error);
  for (int i = 0; i < 2; ++i) {
    ASSERT_FALSE(world->runStep({{}}));
    EXPECT_EQ(seen, std::vector<unsigned char>(100, 0xFF));
  }
}
