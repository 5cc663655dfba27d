//===- DecompositionTest.cpp - A collective as several, by level ----------===//

#include "amsp/Planner/Decomposition.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <numeric>

using namespace amsp;

static constexpr CollectiveKind kGather = CollectiveKind::AllGather;
static constexpr CollectiveKind kScatter = CollectiveKind::ReduceScatter;
static constexpr CollectiveKind kReduce = CollectiveKind::AllReduce;

using Digits = llvm::SmallVector<Digit>;

namespace amsp {
static std::ostream &operator<<(std::ostream &stream, const Digit &digit) {
  return stream << digit.stride << ":" << digit.size;
}
static std::ostream &operator<<(std::ostream &stream,
                                const CollectiveStage &stage) {
  return stream << stringifyCollectiveKind(stage.kind).str()
                << testing::PrintToString(stage.digits);
}
} // namespace amsp

/// Nodes of 8 ranks: slow latency and thin links between them.
static CollectiveModel makeModel(double outerLatency = 1e-4,
                                 double outerBandwidth = 100e9) {
  Cluster cluster;
  cluster.levels.resize(2);
  cluster.levels[0] = {"gpu", 8, 200e9, 1e-6, std::nullopt};
  cluster.levels[1] = {"node", 4, outerBandwidth, outerLatency, std::nullopt};
  return {cluster, CollectiveTable()};
}

TEST(DecompositionTest, ReducesInsideTheNodeFirst) {
  // Siblings share a node's cards, so the bytes between the nodes are the same
  // either way; the latency is not: 3 hops between nodes, not 24 in nodes too.
  CollectiveModel model = makeModel(1e-6, 25e9);
  Digits digits = {{1, 8}, {8, 4}};
  Decomposition scatter = decompose(kScatter, digits, 1 << 10, 4, model);
  EXPECT_THAT(scatter.stages,
              testing::ElementsAre(CollectiveStage{kScatter, {{1, 8}}},
                                   CollectiveStage{kScatter, {{8, 4}}}));
  Decomposition gather = decompose(kGather, digits, 1 << 10, 4, model);
  EXPECT_THAT(gather.stages,
              testing::ElementsAre(CollectiveStage{kGather, {{8, 4}}},
                                   CollectiveStage{kGather, {{1, 8}}}));
  EXPECT_DOUBLE_EQ(gather.seconds, scatter.seconds);
}

TEST(DecompositionTest, OneStaysOneWhereItIsFaster) {
  CollectiveModel model = makeModel(1e-6, 200e9);
  for (CollectiveKind kind : {kGather, kScatter}) {
    Decomposition whole = decompose(kind, {{1, 8}, {8, 4}}, 1 << 30, 4, model);
    EXPECT_THAT(whole.stages,
                testing::ElementsAre(CollectiveStage{kind, {{1, 8}, {8, 4}}}));
  }
  // The outer level most significant: a scatter over it first would carry the
  // whole buffer of each of eight siblings.
  Decomposition rows = decompose(kScatter, {{1, 32}}, 1 << 30, 4, model);
  EXPECT_EQ(rows.stages.size(), 1u);
}

TEST(DecompositionTest, OneLevelHasNothingToCut) {
  CollectiveModel model = makeModel();
  for (CollectiveKind kind : {kGather, kScatter}) {
    Decomposition one = decompose(kind, {{1, 8}}, 1 << 20, 4, model);
    EXPECT_THAT(one.stages,
                testing::ElementsAre(CollectiveStage{kind, {{1, 8}}}));
  }
  Decomposition none = decompose(kReduce, {}, 7, 4, model);
  EXPECT_EQ(none.stages.size(), 1u);
  EXPECT_EQ(none.seconds, 0);
}

TEST(DecompositionTest, AllReduceScattersInTheNodeAndGathersAgain) {
  CollectiveModel model = makeModel(1e-6, 5e9);
  double bytes = 4.0 * (1 << 28);
  // However its digits are listed: an all_reduce has no order.
  for (const Digits &digits : {Digits{{1, 32}}, Digits{{8, 4}, {1, 8}},
                               Digits{{1, 2}, {2, 4}, {8, 4}}}) {
    Decomposition found = decompose(kReduce, digits, 1 << 28, 4, model);
    EXPECT_THAT(found.stages,
                testing::ElementsAre(CollectiveStage{kScatter, {{1, 8}}},
                                     CollectiveStage{kReduce, {{8, 4}}},
                                     CollectiveStage{kGather, {{1, 8}}}));
    // Eight siblings with an eighth of the bytes each share the cards.
    double inner = 7.0 / 8 * bytes / 200e9 + 7e-6;
    double outer = 2 * 3.0 / 4 * bytes / 5e9 + 4e-6;
    EXPECT_DOUBLE_EQ(found.seconds, 2 * inner + outer);
  }
}

TEST(DecompositionTest, AllReduceOfFewElementsIsPadded) {
  // 3 elements over 8 ranks are pieces of one.
  CollectiveModel model = makeModel(1e-6, 1);
  Decomposition found = decompose(kReduce, {{1, 32}}, 3, 4, model);
  EXPECT_EQ(found.stages.size(), 1u);
  found = decompose(kReduce, {{1, 32}}, 1 << 10, 4, model);
  EXPECT_EQ(found.stages.size(), 3u);
}

/// Whether the stages move pieces as the whole does: each digit once on the way
/// down and, for all_reduce, once up again.
static void expectComplete(CollectiveKind kind, const Digits &digits,
                           const Decomposition &found,
                           llvm::ArrayRef<int64_t> levels) {
  Digits down, up;
  for (const CollectiveStage &stage : found.stages) {
    if (stage.kind == kGather)
      up.insert(up.begin(), stage.digits.begin(), stage.digits.end());
    else
      down.append(stage.digits.begin(), stage.digits.end());
  }
  Digits all = splitAtLevels(digits, levels);
  auto split = [&](const Digits &list) { return splitAtLevels(list, levels); };
  if (kind == kScatter) {
    EXPECT_EQ(split(down), all);
    EXPECT_TRUE(up.empty());
  } else if (kind == kGather) {
    EXPECT_EQ(split(up), all);
    EXPECT_TRUE(down.empty());
  } else {
    EXPECT_EQ(sortByRank(down), sortByRank(all));
    size_t scattered = 0;
    for (const CollectiveStage &stage : found.stages)
      if (stage.kind == kScatter)
        scattered += split(Digits(stage.digits)).size();
    EXPECT_EQ(split(up).size(), scattered);
  }
}

TEST(DecompositionTest, EveryDecompositionIsTheCollective) {
  Cluster cluster;
  cluster.levels.resize(3);
  cluster.levels[0] = {"gpu", 4, 200e9, 1e-6, std::nullopt};
  cluster.levels[1] = {"node", 2, 20e9, 1e-5, 0.1};
  cluster.levels[2] = {"pod", 3, 10e9, 1e-4, std::nullopt};
  CollectiveModel model(cluster, CollectiveTable());
  llvm::SmallVector<int64_t> levels = cluster.getSizes();
  std::vector<Digits> groups = {
      {{1, 24}},        {{1, 4}, {4, 2}, {8, 3}},
      {{8, 3}, {1, 4}}, {{1, 2}, {4, 2}, {2, 2}, {8, 3}},
      {{2, 2}, {4, 2}}, {{4, 6}},
      {{8, 3}, {4, 2}}, {}};
  for (CollectiveKind kind : {kGather, kScatter, kReduce})
    for (const Digits &digits : groups)
      for (int64_t pieces : {0, 1, 1000, 1 << 24}) {
        int64_t elements = pieces * getGroupSize(digits);
        Decomposition found = decompose(kind, digits, elements, 4, model);
        expectComplete(kind, digits, found, levels);
        double whole = model.getSeconds(kind, static_cast<double>(elements * 4),
                                        getGroupShape(digits, levels));
        EXPECT_LE(found.seconds, whole);
        if (found.stages.size() > 1)
          EXPECT_LT(found.seconds, 0.99 * whole);
      }
}

TEST(DecompositionTest, MeasuredRingsOverTwoLevelsAreFasterThanTheirParts) {
  llvm::Expected<Cluster> cluster =
      parseCluster(std::string(AMSP_CLUSTERS) + "a800-80gb-800g.yaml");
  ASSERT_TRUE(static_cast<bool>(cluster));
  llvm::Expected<CollectiveModel> model = CollectiveModel::create(*cluster);
  ASSERT_TRUE(static_cast<bool>(model));
  for (CollectiveKind kind : {kGather, kScatter, kReduce})
    for (int64_t elements : {1 << 10, 1 << 20, 1 << 28})
      EXPECT_EQ(
          decompose(kind, {{1, 8}, {8, 8}}, elements, 2, *model).stages.size(),
          1u);
}
