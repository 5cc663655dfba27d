//===- GroupTest.cpp - Groups of ranks, given by digits -------------------===//

#include "amsp/Runtime/Group.h"

#include "gtest/gtest.h"

using namespace amsp::runtime;

TEST(GroupTest, NoDigitsIsTheRankAlone) {
  Group group = groupOf(5, {});
  EXPECT_EQ(group.members, std::vector<int64_t>{5});
  EXPECT_EQ(group.index, 0);
}

TEST(GroupTest, StrideGivesNeighboursOfTheOuterLevel) {
  Group group = groupOf(5, {{4, 2}}); // levels=4x2: rank 5 is gpu 1 of node 1
  EXPECT_EQ(group.members, (std::vector<int64_t>{1, 5}));
  EXPECT_EQ(group.index, 1);
}

TEST(GroupTest, DigitsAreMostSignificantFirst) {
  // The inner level is more significant here: index = gpu * 2 + node.
  Digits digits = {{1, 2}, {2, 2}};
  EXPECT_EQ(groupOf(0, digits).members, (std::vector<int64_t>{0, 2, 1, 3}));
  for (int64_t rank = 0; rank < 4; ++rank) {
    Group group = groupOf(rank, digits);
    EXPECT_EQ(group.members[group.index], rank);
    EXPECT_EQ(group.index, indexInGroup(rank, digits));
  }
}

TEST(GroupTest, PartOfALevel) {
  // A level of 6 as 2 x 3: digits of stride 1 and 2.
  Group group = groupOf(5, {{2, 3}});
  EXPECT_EQ(group.members, (std::vector<int64_t>{1, 3, 5}));
  EXPECT_EQ(group.index, 2);
}

TEST(GroupTest, ChecksDigits) {
  EXPECT_EQ(checkDigits({{1, 2}, {2, 3}}, 6), "");
  EXPECT_EQ(checkDigits({{3, 1}, {1, 6}}, 6), ""); // size 1 is no digit
  EXPECT_EQ(checkDigits({{1, 4}}, 6),
            "digit [1, 4] does not fit a world of 6 ranks");
  EXPECT_EQ(checkDigits({{2, 4}}, 4),
            "digit [2, 4] does not fit a world of 4 ranks");
  EXPECT_EQ(checkDigits({{1, 4}, {2, 2}}, 8),
            "digit [2, 2] overlaps another digit of its group");
  EXPECT_NE(checkDigits({{0, 2}}, 4), "");
  EXPECT_NE(checkDigits({{INT64_MAX, INT64_MAX}}, 4), "");
}

TEST(GroupTest, PieceExtents) {
  auto extent = [](int64_t full, int64_t piece, int64_t index) {
    PieceExtent result = extentOfPiece(full, piece, index);
    return std::make_pair(result.begin, result.length);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(extent(5, 2, 0), Pair(0, 2));
  EXPECT_EQ(extent(5, 2, 2), Pair(4, 1));
  EXPECT_EQ(extent(5, 2, 3), Pair(5, 0));
  EXPECT_EQ(extent(0, 0, 3), Pair(0, 0));
  // Sizes beyond 32 bits.
  int64_t large = int64_t{1} << 40;
  EXPECT_EQ(extent(4 * large, large, 3), Pair(3 * large, large));
}
