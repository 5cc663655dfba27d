//===- DigitsTest.cpp - Arithmetic on lists of digits ---------------------===//

#include "amsp/Placement/Digits.h"
#include "gtest/gtest.h"

using namespace amsp;

using Digits = llvm::SmallVector<Digit>;

TEST(DigitsTest, SplitAtLevelsKeepsTheIndex) {
  EXPECT_EQ(splitAtLevels({{1, 32}}, {8, 4}), (Digits{{8, 4}, {1, 8}}));
  EXPECT_EQ(splitAtLevels({{4, 4}}, {8, 4}), (Digits{{8, 2}, {4, 2}}));
  EXPECT_EQ(splitAtLevels({{1, 12}}, {2, 1, 3, 2}),
            (Digits{{6, 2}, {2, 3}, {1, 2}}));
  EXPECT_EQ(splitAtLevels({{1, 2}, {8, 4}, {2, 1}}, {8, 4}),
            (Digits{{1, 2}, {8, 4}}));
  EXPECT_EQ(splitAtLevels({}, {8}), Digits{});
}

TEST(DigitsTest, SortByRankIsOneListForASet) {
  Digits world = {{1, 32}};
  EXPECT_EQ(sortByRank({{1, 32}}), world);
  EXPECT_EQ(sortByRank({{1, 8}, {8, 4}}), world);
  EXPECT_EQ(sortByRank({{1, 2}, {8, 4}, {2, 4}}), world);
  EXPECT_EQ(sortByRank({{1, 2}, {8, 4}}), (Digits{{8, 4}, {1, 2}}));
  EXPECT_EQ(sortByRank({{4, 1}}), Digits{});
}

TEST(DigitsTest, RemoveDigitsLeavesTheOthers) {
  Digits none;
  EXPECT_EQ(removeDigits({{1, 32}}, {{1, 8}}), (Digits{{8, 4}}));
  EXPECT_EQ(removeDigits({{1, 32}}, {{2, 4}}), (Digits{{8, 4}, {1, 2}}));
  EXPECT_EQ(removeDigits({{1, 2}, {2, 2}}, {{2, 2}, {1, 2}}), none);
  EXPECT_EQ(removeDigits({{1, 4}, {8, 2}}, {}), (Digits{{8, 2}, {1, 4}}));
  EXPECT_EQ(removeDigits({{1, 4}}, {{1, 8}}), std::nullopt);
  EXPECT_EQ(removeDigits({{2, 2}}, {{1, 2}}), std::nullopt);
  EXPECT_EQ(removeDigits({{1, 6}}, {{1, 4}}), std::nullopt);
}
