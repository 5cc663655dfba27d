//===- CollectiveModelTest.cpp - Times of collectives ---------------------===//

#include "amsp/Planner/CollectiveModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace amsp;

static constexpr CollectiveKind kKinds[] = {CollectiveKind::AllGather,
                                            CollectiveKind::ReduceScatter,
                                            CollectiveKind::AllReduce};

static CollectiveModel load(llvm::StringRef file) {
  llvm::Expected<Cluster> cluster =
      parseCluster((llvm::StringRef(AMSP_CLUSTERS) + file).str());
  if (!cluster)
    llvm::report_fatal_error(cluster.takeError());
  llvm::Expected<CollectiveModel> model = CollectiveModel::create(*cluster);
  if (!model)
    llvm::report_fatal_error(model.takeError());
  return *model;
}

/// Two levels of sizes 4 and 8 with round numbers.
static Cluster makeCluster(double outerBandwidth = 10e9) {
  Cluster cluster;
  cluster.levels.resize(2);
  cluster.levels[0] = {"gpu", 4, 100e9, 1e-6, std::nullopt};
  cluster.levels[1] = {"node", 8, outerBandwidth, 1e-5, 0.1};
  return cluster;
}

TEST(GroupShapeTest, SplitsDigitsByLevel) {
  EXPECT_EQ(getGroupShape({{1, 8}}, {4, 2}), (GroupShape{4, 2}));
  EXPECT_EQ(getGroupShape({{2, 2}}, {4, 2}), (GroupShape{2, 1}));
  EXPECT_EQ(getGroupShape({{4, 2}, {1, 2}}, {4, 2}), (GroupShape{2, 2}));
  EXPECT_EQ(getGroupShape({{2, 4}}, {4, 2}), (GroupShape{2, 2}));
  EXPECT_EQ(getGroupShape({}, {4, 2}), (GroupShape{1, 1}));
}

TEST(CollectiveModelTest, RingOverTwoLevels) {
  CollectiveModel model(makeCluster(), CollectiveTable());
  auto gather = [&](double bytes, const GroupShape &group) {
    return model.getSeconds(CollectiveKind::AllGather, bytes, group);
  };
  EXPECT_EQ(gather(1e9, {1, 1}), 0);
  EXPECT_DOUBLE_EQ(gather(1e9, {4, 1}), 0.75 * 1e9 / 100e9 + 3e-6);
  // 8 ranks in 2 nodes: 6 hops inside nodes and one between them.
  EXPECT_DOUBLE_EQ(gather(1e9, {4, 2}), 0.875 * 1e9 * 1.1 / 10e9 + 6e-6 + 1e-5);
  // One rank a node: four sibling groups share the node's cards.
  EXPECT_DOUBLE_EQ(gather(1e9, {1, 2}), 0.5 * 1e9 * 4 * 1.1 / 10e9 + 1e-5);
  EXPECT_DOUBLE_EQ(model.getSeconds(CollectiveKind::AllReduce, 1e9, {4, 2}),
                   2 * 0.875 * 1e9 * 1.1 / 10e9 + 4e-6 + 2e-5);
}

TEST(CollectiveModelTest, WhatIsExchangedCrossesTheLinksOfAllLevels) {
  CollectiveModel model(makeCluster(), CollectiveTable());
  auto exchange = [&](double bytes, const GroupShape &group) {
    return model.getSeconds(CollectiveKind::AllToAll, bytes, group);
  };
  // Within a level, as a gather.
  EXPECT_DOUBLE_EQ(exchange(1e9, {4, 1}), 0.75 * 1e9 / 100e9 + 3e-6);
  EXPECT_DOUBLE_EQ(exchange(1e9, {1, 2}), 0.5 * 1e9 * 4 * 1.1 / 10e9 + 1e-5);
  // Four ranks of each node send half of their bytes to the other one.
  EXPECT_DOUBLE_EQ(exchange(1e9, {4, 2}),
                   4 * 0.5 * 1e9 * 1.1 / 10e9 + 6e-6 + 1e-5);
  // A table without it: what a reduction takes.
  CollectiveModel measured = load("a800-80gb-800g.yaml");
  EXPECT_DOUBLE_EQ(
      measured.getSeconds(CollectiveKind::AllToAll, 67108864, {8, 1}),
      measured.getSeconds(CollectiveKind::ReduceScatter, 67108864, {8, 1}));
}

TEST(CollectiveModelTest, AMeasuredExchangeIsUsed) {
  CollectiveTable table;
  ASSERT_FALSE(errorToBool(table.addCsv("collective,ranks,bytes,seconds\n"
                                        "reduce_scatter,4,1000,1\n"
                                        "all_to_all,2,1000,3\n"
                                        "all_to_all,2,2000,5\n"
                                        "all_to_all,4,1000,7\n",
                                        "measured")));
  CollectiveModel model(makeCluster(), table);
  auto exchange = [&](double bytes, const GroupShape &group) {
    return model.getSeconds(CollectiveKind::AllToAll, bytes, group);
  };
  EXPECT_DOUBLE_EQ(exchange(1000, {4, 1}), 7);
  EXPECT_DOUBLE_EQ(exchange(1500, {2, 1}), 4);
  // Beyond the measured groups the time grows on.
  EXPECT_DOUBLE_EQ(exchange(1000, {4, 2}), 15);
}

TEST(CollectiveModelTest, BroadcastPassesAllBytesAlongTheRing) {
  CollectiveModel model(makeCluster(), CollectiveTable());
  EXPECT_DOUBLE_EQ(model.getSeconds(TransferKind::Broadcast, 1e9, {4, 2}),
                   1e9 * 1.1 / 10e9 + 6e-6 + 1e-5);
  EXPECT_DOUBLE_EQ(load("a800-80gb-800g.yaml")
                       .getSeconds(TransferKind::Broadcast, 67108864, {8, 2}),
                   0.000892682);
}

TEST(CollectiveModelTest, LoadsAreSharesOfTheTimeOnTheLinks) {
  CollectiveModel model(makeCluster(), CollectiveTable());
  auto loads = [&](const GroupShape &group) {
    return model.getLoads(TransferKind::AllGather, 1e9, group);
  };
  EXPECT_THAT(loads({4, 1}), testing::ElementsAre(1, 0));
  EXPECT_THAT(loads({1, 8}), testing::ElementsAre(0, 1));
  double seconds =
      model.getSeconds(TransferKind::AllGather, 1e9, GroupShape{4, 2});
  EXPECT_THAT(loads({4, 2}),
              testing::ElementsAre(
                  testing::DoubleEq(0.875 * 1e9 / 100e9 / seconds), 1));
}

TEST(CollectiveModelTest, MoreBandwidthIsNeverSlower) {
  CollectiveModel slow(makeCluster(10e9), CollectiveTable());
  CollectiveModel fast(makeCluster(11e9), CollectiveTable());
  for (CollectiveKind kind : kKinds)
    for (double bytes : {1e3, 1e6, 1e9})
      for (const GroupShape &group : {GroupShape{4, 1}, {4, 8}, {1, 8}, {2, 4}})
        EXPECT_LE(fast.getSeconds(kind, bytes, group),
                  slow.getSeconds(kind, bytes, group));
}

TEST(CollectiveModelTest, MeasuredTimesAreReturned) {
  CollectiveModel model = load("a800-80gb-800g.yaml");
  // Of the latency table.
  EXPECT_DOUBLE_EQ(
      model.getSeconds(CollectiveKind::AllGather, 67108864, {8, 1}),
      0.000445743);
  // Both tables have 64 ranks; the latency table is listed first.
  EXPECT_DOUBLE_EQ(
      model.getSeconds(CollectiveKind::AllReduce, 67108864, {8, 8}),
      0.00184533);
  // Only the bandwidth table has 512 ranks.
  EXPECT_DOUBLE_EQ(
      model.getSeconds(CollectiveKind::AllGather, 67108864, {8, 64}),
      67108864 * 8.0 * 511 / 512 / 137e9);
  // The bandwidth table extends the latency table beyond 4 GiB.
  EXPECT_DOUBLE_EQ(
      model.getSeconds(CollectiveKind::AllReduce, 17179869184, {8, 8}),
      17179869184 * 8.0 * 2 * 63 / 64 / 765e9);
  // An outlier of the table: 512 KiB cannot take longer than 1 MiB.
  EXPECT_DOUBLE_EQ(model.getSeconds(CollectiveKind::AllGather, 524288, {8, 2}),
                   9.26896e-05);
}

TEST(CollectiveModelTest, SiblingGroupsShareTheCards) {
  CollectiveModel model = load("a800-80gb-800g.yaml");
  // Eight groups of one rank in each of 2 nodes: as much traffic as a group
  // of 16 that gathers 8 x (1/2) / (15/16) of the bytes.
  double alone = model.getSeconds(CollectiveKind::AllGather,
                                  1e8 * 8 * 0.5 / (15.0 / 16), {8, 2});
  EXPECT_DOUBLE_EQ(model.getSeconds(CollectiveKind::AllGather, 1e8, {1, 2}),
                   alone);
}

TEST(CollectiveModelTest, NeverFallsWithBytes) {
  CollectiveModel model = load("a800-80gb-800g.yaml");
  for (CollectiveKind kind : kKinds)
    for (GroupShape group : {GroupShape{2, 1},
                             {8, 1},
                             {8, 2},
                             {8, 16},
                             {8, 32},
                             {8, 128},
                             {2, 8}}) {
      double last = 0;
      for (double bytes = 1; bytes < 1e12; bytes *= 1.07) {
        double seconds = model.getSeconds(kind, bytes, group);
        EXPECT_GE(seconds, last) << bytes << " " << group[0] << "x" << group[1];
        last = seconds;
      }
    }
}

TEST(CollectiveModelTest, ExtrapolatesInRanks) {
  CollectiveModel model = load("a800-80gb-800g.yaml");
  auto seconds = [&](CollectiveKind kind, int64_t nodes) {
    return model.getSeconds(kind, 67108864, {8, nodes});
  };
  // 1024 ranks: grows as from 256 to 512.
  double at256 = seconds(CollectiveKind::AllGather, 32);
  double at512 = seconds(CollectiveKind::AllGather, 64);
  EXPECT_NEAR(seconds(CollectiveKind::AllGather, 128),
              at512 + 2 * (at512 - at256), 1e-9);
  // reduce_scatter is measured up to 128 ranks, all_gather further.
  EXPECT_DOUBLE_EQ(seconds(CollectiveKind::ReduceScatter, 64), at512);
}

TEST(CollectiveTableTest, ErrorsNameFileAndLine) {
  auto errorOf = [](llvm::StringRef content) {
    CollectiveTable table;
    return toString(table.addCsv(content, "t.csv"));
  };
  std::string header = "collective,ranks,bytes,seconds\n";
  EXPECT_EQ(errorOf(header + "all_gather,2,1024,1e-5\n"), "");
  EXPECT_EQ(errorOf(""), "t.csv:1: expected the columns "
                         "collective,ranks,bytes,seconds or "
                         "collective,ranks,bytes,busbw_gbit_per_s");
  EXPECT_EQ(errorOf(header + "all_gather,2,1024\n"),
            "t.csv:2: expected 4 columns");
  EXPECT_EQ(errorOf(header + "all_gather,2,1024,1e-5\ngather,2,1024,1\n"),
            "t.csv:3: unknown collective 'gather'");
  EXPECT_EQ(errorOf(header + "all_gather,1,1024,1\n"),
            "t.csv:2: '1' is no number of ranks");
  EXPECT_EQ(errorOf(header + "all_gather,2,-5,1\n"),
            "t.csv:2: '-5' is no number of bytes");
  EXPECT_EQ(errorOf(header + "all_gather,2,1024,0\n"),
            "t.csv:2: '0' is no time");
  EXPECT_EQ(errorOf(header + "all_gather,2,1024,nan\n"),
            "t.csv:2: 'nan' is no time");
}

TEST(ClusterFilesTest, AllAreComplete) {
  std::error_code failed;
  unsigned checked = 0;
  for (llvm::sys::fs::directory_iterator each(AMSP_CLUSTERS, failed), end;
       each != end && !failed; each.increment(failed)) {
    llvm::StringRef file = llvm::sys::path::filename(each->path());
    if (!file.consume_back(".yaml"))
      continue;
    llvm::Expected<Cluster> cluster = parseCluster(each->path());
    ASSERT_TRUE(static_cast<bool>(cluster)) << toString(cluster.takeError());
    EXPECT_EQ(toString(verifyForPlanning(*cluster)), "") << file.str();
    EXPECT_EQ(cluster->name, file.str());
    ++checked;
  }
  EXPECT_FALSE(failed) << failed.message();
  EXPECT_GE(checked, 10u);
}
