//===- GridTest.cpp - Digits and pieces -----------------------------------===//

#include "amsp/Placement/Grid.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace amsp;
using testing::ElementsAre;
using testing::IsEmpty;

namespace amsp {
static std::ostream &operator<<(std::ostream &os, const Digit &digit) {
  return os << digit.stride << ":" << digit.size;
}
} // namespace amsp

/// A rank's index in its group.
static int64_t getIndex(int64_t rank, llvm::ArrayRef<Digit> digits) {
  int64_t index = 0;
  for (const Digit &digit : digits)
    index = index * digit.size + rank / digit.stride % digit.size;
  return index;
}

TEST(Grid, digitsByFamily) {
  // 4 GPUs x 2 nodes; P on pairs of GPUs, G on the node, OS everywhere.
  Grid grid({4, 2}, {{2, 1}, {4, 1}, {4, 2}});
  EXPECT_EQ(grid.getWorldSize(), 8);
  EXPECT_THAT(grid.getDigits(ModelState::P), ElementsAre(Digit{1, 2}));
  EXPECT_THAT(grid.getDigits(ModelState::G),
              ElementsAre(Digit{1, 2}, Digit{2, 2}));
  EXPECT_THAT(grid.getDigits(ModelState::OS),
              ElementsAre(Digit{1, 2}, Digit{2, 2}, Digit{4, 2}));
  EXPECT_THAT(grid.getDigitsBetween(ModelState::P, ModelState::OS),
              ElementsAre(Digit{2, 2}, Digit{4, 2}));
  EXPECT_THAT(grid.getReplicaDigits(ModelState::G), ElementsAre(Digit{4, 2}));
  EXPECT_THAT(grid.getReplicaDigits(ModelState::OS), IsEmpty());
}

TEST(Grid, replicasAreTheRest) {
  Grid grid({3, 2}, {{1, 1}, {1, 1}, {3, 1}});
  EXPECT_THAT(grid.getDigits(ModelState::P), IsEmpty());
  EXPECT_THAT(grid.getDigits(ModelState::OS), ElementsAre(Digit{1, 3}));
  EXPECT_THAT(grid.getReplicaDigits(ModelState::OS), ElementsAre(Digit{3, 2}));
  EXPECT_THAT(grid.getReplicaDigits(ModelState::G),
              ElementsAre(Digit{1, 3}, Digit{3, 2}));
}

TEST(Grid, piecesNest) {
  // On every grid, a rank's piece of OS lies in its piece of G, and that in its
  // piece of P.
  for (auto &[levels, strategy] :
       std::vector<std::pair<std::vector<int64_t>, Strategy>>{
           {{4, 2}, {{2, 1}, {2, 2}, {4, 2}}},
           {{2, 3, 2}, {{1, 3, 1}, {2, 3, 1}, {2, 3, 2}}},
           {{6}, {{2}, {6}, {6}}}}) {
    Grid grid(levels, strategy);
    constexpr int64_t elements = 7;
    auto begin = [&](int64_t rank, ModelState state) {
      return getIndex(rank, grid.getDigits(state)) *
             grid.getPieceElements(elements, state);
    };
    auto end = [&](int64_t rank, ModelState state) {
      return begin(rank, state) + grid.getPieceElements(elements, state);
    };
    for (int64_t rank = 0; rank < grid.getWorldSize(); ++rank) {
      EXPECT_GE(begin(rank, ModelState::OS), begin(rank, ModelState::G));
      EXPECT_LE(end(rank, ModelState::OS), end(rank, ModelState::G));
      EXPECT_GE(begin(rank, ModelState::G), begin(rank, ModelState::P));
      EXPECT_LE(end(rank, ModelState::G), end(rank, ModelState::P));
    }
  }
}

TEST(Grid, fewerElementsThanRanks) {
  Grid grid({2, 2}, {{2, 1}, {2, 1}, {2, 2}});
  for (int64_t elements : {1, 5, 7}) {
    EXPECT_EQ(grid.getPaddedElements(elements) % 4, 0);
    EXPECT_GE(grid.getPaddedElements(elements), elements);
    EXPECT_LT(grid.getPaddedElements(elements), elements + 4);
    EXPECT_EQ(grid.getPieceElements(elements, ModelState::OS) * 2,
              grid.getPieceElements(elements, ModelState::P));
  }
  EXPECT_EQ(grid.getPieceElements(0, ModelState::OS), 0);
}

TEST(Grid, oneRank) {
  Grid grid({1}, {{1}, {1}, {1}});
  EXPECT_EQ(grid.getWorldSize(), 1);
  EXPECT_THAT(grid.getWorldDigits(), IsEmpty());
  EXPECT_EQ(grid.getPieceElements(5, ModelState::OS), 5);
}
