//===- FusionLimitTest.cpp - How much one collective should move ----------===//

#include "amsp/Communication/FusionLimit.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace amsp;

static constexpr CollectiveKind kGather = CollectiveKind::AllGather;

static CollectiveModel makeModel(double latency) {
  Cluster cluster;
  cluster.levels.resize(2);
  cluster.levels[0] = {"gpu", 5, 1e9, latency, std::nullopt};
  cluster.levels[1] = {"node", 2, 1e9, latency, std::nullopt};
  return {cluster, CollectiveTable()};
}

TEST(FusionLimitTest, SaturatingBytesAreAHundredTimesTheLatency) {
  // Four hops of 10 us, and 4/5 of the bytes at 1 GB/s: at 5 MB the latency is
  // 1 % of the transfer.
  EXPECT_EQ(getSaturatingBytes(kGather, {{1, 5}}, makeModel(1e-5)), 1 << 23);
  EXPECT_EQ(getSaturatingBytes(kGather, {{1, 5}}, makeModel(2e-5)), 1 << 24);
  // Without latency, and with nobody to talk to, all sizes are as good.
  EXPECT_EQ(getSaturatingBytes(kGather, {{1, 5}}, makeModel(0)), 1 << 20);
  EXPECT_EQ(getSaturatingBytes(kGather, {}, makeModel(1e-5)), 1 << 20);
}

TEST(FusionLimitTest, TheSmallerLimitCounts) {
  mlir::MLIRContext context;
  context.loadDialect<AMSPDialect>();
  auto group = GroupAttr::get(&context, {{1, 8}});
  int64_t huge = 1'000'000'000'000'000'000;
  llvm::Expected<FusionLimit> free = FusionLimit::create("", huge);
  ASSERT_TRUE(static_cast<bool>(free));
  EXPECT_EQ(free->getBytes(kGather, group), huge);
  std::string cluster = std::string(AMSP_CLUSTERS) + "a100-80gb-800g.yaml";
  llvm::Expected<FusionLimit> ofLinks = FusionLimit::create(cluster, huge);
  ASSERT_TRUE(static_cast<bool>(ofLinks));
  // 14 us of latency and 7/8 of the bytes at 240 GB/s.
  EXPECT_EQ(ofLinks->getBytes(kGather, group), int64_t(1) << 29);
  EXPECT_EQ(ofLinks->getBytes(kGather, group), int64_t(1) << 29);
  llvm::Expected<FusionLimit> given = FusionLimit::create(cluster, 1000);
  ASSERT_TRUE(static_cast<bool>(given));
  EXPECT_EQ(given->getBytes(kGather, group), 1000);
}

// Where nothing hides a unit: a quarter of it, within two limits.
TEST(FusionLimitTest, EndsTakeAQuarter) {
  mlir::MLIRContext context;
  context.loadDialect<AMSPDialect>();
  auto group = GroupAttr::get(&context, {{1, 8}});
  llvm::Expected<FusionLimit> free = FusionLimit::create("", 100 << 20);
  ASSERT_TRUE(static_cast<bool>(free));
  EXPECT_EQ(free->getEndBytes(kGather, group, 40 << 20), 10 << 20);
  EXPECT_EQ(free->getEndBytes(kGather, group, 2 << 20), 1 << 20);
  EXPECT_EQ(free->getEndBytes(kGather, group, int64_t(1) << 40), 100 << 20);
  std::string cluster = std::string(AMSP_CLUSTERS) + "a100-80gb-800g.yaml";
  llvm::Expected<FusionLimit> ofLinks =
      FusionLimit::create(cluster, int64_t(1) << 40);
  ASSERT_TRUE(static_cast<bool>(ofLinks));
  // The latency of 14 us is 10 % of 37 MB.
  EXPECT_EQ(ofLinks->getEndBytes(kGather, group, 80 << 20), int64_t(1) << 26);
  EXPECT_EQ(ofLinks->getEndBytes(kGather, group, int64_t(1) << 30), int64_t(1)
                                                                        << 28);
  EXPECT_EQ(ofLinks->getEndBytes(kGather, group, int64_t(1) << 34), int64_t(1)
                                                                        << 29);
}

TEST(FusionLimitTest, ClustersWithoutLinksAreErrors) {
  llvm::Expected<FusionLimit> limit = FusionLimit::create("levels=4", 1);
  ASSERT_FALSE(static_cast<bool>(limit));
  EXPECT_NE(llvm::toString(limit.takeError()).find("cannot be planned for"),
            std::string::npos);
}
