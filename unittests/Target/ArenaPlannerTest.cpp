//===- ArenaPlannerTest.cpp - Offsets in one arena ------------------------===//

#include "amsp/Target/CPU/ArenaPlanner.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <numeric>
#include <random>

using namespace amsp;

static std::vector<LiveBuffer> makeRandom(unsigned seed, size_t count,
                                          int64_t maxBytes) {
  std::mt19937 random(seed);
  std::vector<LiveBuffer> buffers;
  for (size_t i = 0; i < count; ++i) {
    int64_t begin = random() % 40;
    int64_t end = begin + random() % 12;
    buffers.push_back(
        {1 + static_cast<int64_t>(random() % maxBytes), begin, end});
  }
  return buffers;
}

static void expectApart(const std::vector<LiveBuffer> &buffers,
                        const ArenaPlan &plan) {
  ASSERT_EQ(plan.offsets.size(), buffers.size());
  int64_t highest = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_GE(plan.offsets[i], 0);
    highest = std::max(highest, plan.offsets[i] + buffers[i].bytes);
    for (size_t j = 0; j < i; ++j) {
      bool areApart = plan.offsets[i] + buffers[i].bytes <= plan.offsets[j] ||
                      plan.offsets[j] + buffers[j].bytes <= plan.offsets[i];
      EXPECT_TRUE(areApart || !buffers[i].isLiveWith(buffers[j]))
          << "buffers " << i << " and " << j;
    }
  }
  EXPECT_EQ(plan.bytes, highest);
  EXPECT_GE(plan.bytes, getPeakLiveBytes(buffers));
}

static void expectValid(const std::vector<LiveBuffer> &buffers,
                        const ArenaPlan &plan, int64_t alignment) {
  expectApart(buffers, plan);
  for (int64_t offset : plan.offsets)
    EXPECT_EQ(offset % alignment, 0);
}

/// The smallest arena that placing in any order, each as low as possible,
/// gives: one of these orders is optimal.
static int64_t findOptimum(const std::vector<LiveBuffer> &buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = std::numeric_limits<int64_t>::max();
  do {
    std::vector<int64_t> offsets(buffers.size(), -1);
    int64_t bytes = 0;
    for (size_t index : order) {
      int64_t offset = 0;
      bool moved = true;
      while (moved) {
        moved = false;
        for (size_t other = 0; other < buffers.size(); ++other)
          if (offsets[other] >= 0 &&
              buffers[index].isLiveWith(buffers[other]) &&
              offset < offsets[other] + buffers[other].bytes &&
              offsets[other] < offset + buffers[index].bytes) {
            offset = offsets[other] + buffers[other].bytes;
            moved = true;
          }
      }
      offsets[index] = offset;
      bytes = std::max(bytes, offset + buffers[index].bytes);
    }
    best = std::min(best, bytes);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(ArenaPlannerTest, OthersLieInHoles) {
  LiveBuffer carried{1024, 0, 9, {{2, 3}, {6, 8}}};
  LiveBuffer early{1024, 2, 3}, late{1024, 6, 8}, through{1024, 3, 4};
  EXPECT_FALSE(carried.isLiveWith(early) || early.isLiveWith(carried));
  EXPECT_FALSE(carried.isLiveWith(late) || late.isLiveWith(carried));
  EXPECT_TRUE(carried.isLiveWith(through) && through.isLiveWith(carried));
  // Live in each other's holes.
  LiveBuffer other{1024, 2, 8, {{4, 5}}};
  EXPECT_FALSE(carried.isLiveWith(other) || other.isLiveWith(carried));
  std::vector<LiveBuffer> buffers = {carried, other};
  EXPECT_EQ(getPeakLiveBytes(buffers), 1024);
  EXPECT_EQ(planArena(buffers).bytes, 1024);
  // In a row a buffer's holes are not used.
  ArenaPlan rows = planArena(buffers, {{ArenaRow{0, 1}}});
  EXPECT_EQ(rows.bytes, 1024);
}

TEST(ArenaPlannerTest, NothingNeedsNothing) {
  ArenaPlan plan = planArena({});
  EXPECT_EQ(plan.bytes, 0);
  EXPECT_TRUE(plan.offsets.empty());
}

TEST(ArenaPlannerTest, DisjointLifetimesShare) {
  ArenaPlan plan = planArena({{100, 0, 1}, {100, 2, 3}, {100, 4, 4}});
  EXPECT_EQ(plan.bytes, 100);
}

TEST(ArenaPlannerTest, TouchingLifetimesDoNotShare) {
  // An op reads one and writes the other.
  ArenaPlan plan = planArena({{100, 0, 2}, {100, 2, 3}});
  EXPECT_EQ(plan.bytes, 228);
}

TEST(ArenaPlannerTest, BuffersNeverOverlapWhileLive) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::vector<LiveBuffer> buffers = makeRandom(seed, 60, 5000);
    expectValid(buffers, planArena(buffers), 64);
    expectValid(buffers, planArena(buffers, 1), 1);
  }
}

TEST(ArenaPlannerTest, IsCloseToTheOptimumOnSmallInstances) {
  int64_t planned = 0, optimal = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::vector<LiveBuffer> buffers = makeRandom(seed, 6, 20);
    // More overlap than among many buffers.
    for (LiveBuffer &buffer : buffers) {
      buffer.begin /= 5;
      buffer.end /= 5;
    }
    int64_t bytes = planArena(buffers, 1).bytes;
    int64_t best = findOptimum(buffers);
    EXPECT_GE(bytes, best);
    EXPECT_LE(bytes * 4, best * 5) << "seed " << seed;
    planned += bytes;
    optimal += best;
  }
  EXPECT_LE(planned * 100, optimal * 103);
}

TEST(ArenaPlannerTest, IsDeterministic) {
  std::vector<LiveBuffer> buffers = makeRandom(7, 200, 3); // many equal sizes
  ArenaPlan first = planArena(buffers), second = planArena(buffers);
  EXPECT_EQ(first.offsets, second.offsets);
  EXPECT_EQ(first.bytes, second.bytes);
}

TEST(ArenaPlannerTest, PeakLiveBytesCountsOverlap) {
  EXPECT_EQ(getPeakLiveBytes({{10, 0, 2}, {20, 2, 3}, {5, 3, 9}}), 30);
}

TEST(ArenaPlannerTest, RowsLieBehindEachOther) {
  // A large buffer that outlives both pairs.
  std::vector<LiveBuffer> buffers = {
      {4, 0, 5}, {1000, 0, 9}, {100, 1, 5}, {4, 2, 6}, {100, 2, 7}};
  ArenaPlan plan = planArena(buffers, {{{0, 2}, {4, 3}}});
  expectApart(buffers, plan);
  EXPECT_EQ(plan.offsets[0] % 64, 0);
  EXPECT_EQ(plan.offsets[2], plan.offsets[0] + 4);
  EXPECT_EQ(plan.offsets[4] % 64, 0);
  EXPECT_EQ(plan.offsets[3], plan.offsets[4] + 100);
  EXPECT_LE(plan.bytes, planArena(buffers).bytes);
}

TEST(ArenaPlannerTest, RowsThatCostMemoryAreNotGranted) {
  // Joined, the first buffer would live until the second one is done with, and
  // the third needs its memory.
  std::vector<LiveBuffer> buffers = {{1024, 0, 2}, {1024, 2, 9}, {1024, 3, 9}};
  ArenaPlan plan = planArena(buffers, {{{0, 1}}});
  EXPECT_EQ(plan.bytes, 2048);
  EXPECT_EQ(plan.offsets, planArena(buffers).offsets);
  // The other wish is granted alone.
  buffers.push_back({8, 20, 21});
  buffers.push_back({8, 20, 21});
  plan = planArena(buffers, {{{0, 1}}, {{4, 3}}});
  EXPECT_EQ(plan.bytes, 2048);
  EXPECT_EQ(plan.offsets[3], plan.offsets[4] + 8);
}

static bool isRow(const ArenaRow &row, llvm::ArrayRef<LiveBuffer> buffers,
                  const ArenaPlan &plan) {
  for (size_t i = 1; i < row.size(); ++i)
    if (plan.offsets[row[i]] !=
        plan.offsets[row[i - 1]] + buffers[row[i - 1]].bytes)
      return false;
  return true;
}

TEST(ArenaPlannerTest, RowsNeverMakeAnArenaLarger) {
  int some = 0; // programs with wishes that are granted, though not all are
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::vector<LiveBuffer> buffers = makeRandom(seed, 30, 1000);
    llvm::SmallVector<llvm::SmallVector<ArenaRow>> wishes;
    for (size_t i = 0; i < 24; i += 6)
      wishes.push_back({{i, i + 1, i + 2}, {i + 3, i + 4, i + 5}});
    ArenaPlan plan = planArena(buffers, wishes);
    expectApart(buffers, plan);
    EXPECT_LE(plan.bytes, planArena(buffers).bytes);
    auto granted = llvm::count_if(wishes, [&](const auto &rows) {
      return isRow(rows[0], buffers, plan) && isRow(rows[1], buffers, plan);
    });
    some += granted > 0 && granted < 4;
  }
  EXPECT_GT(some, 0);
}

/// The buffers of a deep model: what the forward pass of each layer keeps for
/// its backward pass, and what lives inside either.
static std::vector<LiveBuffer> makeLayers(int64_t count) {
  std::vector<LiveBuffer> buffers;
  int64_t end = 40 * count;
  for (int64_t layer = 0; layer < count; ++layer) {
    int64_t forward = 20 * layer, backward = end - forward - 20;
    for (int64_t i = 0; i < 5; ++i) {
      buffers.push_back({1000 + 300 * i, forward + 2 * i, backward + 9 - i});
      for (int64_t begin : {forward, backward})
        for (int64_t length : {1, 3})
          buffers.push_back(
              {700 * i + 64, begin + 3 * i, begin + 3 * i + length});
    }
  }
  return buffers;
}

TEST(ArenaPlannerTest, WorkGrowsWithTheBuffersOnly) {
  auto countVisited = [](int64_t layers) {
    std::vector<LiveBuffer> buffers = makeLayers(layers);
    ArenaPlan plan = planArena(buffers);
    expectApart(buffers, plan);
    return plan.numVisited;
  };
  int64_t once = countVisited(50), twice = countVisited(100);
  // The depth of a tree over the times grows by one.
  EXPECT_LT(twice * 10, once * 25) << once << " and " << twice;
}
