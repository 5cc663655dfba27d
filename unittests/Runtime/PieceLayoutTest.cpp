//===- PieceLayoutTest.cpp - Cuts values into pieces and back -------------===//

#include "amsp/Run/PieceLayout.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace amsp;
using namespace amsp::run;

static Value makeValue(std::vector<int64_t> shape,
                       std::vector<int64_t> localShape, Placement placement) {
  Value value;
  value.id = "arg0";
  value.dtype = AMSP_I8;
  value.shape = std::move(shape);
  value.localShape = std::move(localShape);
  value.placement = std::move(placement);
  return value;
}

static Placement flat(int64_t keep, int64_t piece, runtime::Digits digits) {
  return {Placement::Kind::Flat, 0, keep, piece, std::move(digits)};
}

static Placement split(int64_t dim, runtime::Digits digits) {
  return {Placement::Kind::Split, dim, 0, 0, std::move(digits)};
}

/// The local buffers of the value 0, 1, 2, … with -1 as padding.
static std::vector<std::vector<char>> cutAll(const PieceLayout &layout,
                                             int64_t world) {
  std::vector<char> global(layout.globalBytes());
  std::iota(global.begin(), global.end(), 0);
  std::vector<std::vector<char>> pieces;
  for (int64_t rank = 0; rank < world; ++rank) {
    pieces.emplace_back(layout.localBytes(), -1);
    layout.cut(rank, global, pieces.back());
  }
  return pieces;
}

static void expectRoundTrip(const Value &value, int64_t world) {
  auto layout = PieceLayout::of(value);
  ASSERT_TRUE(bool(layout)) << toString(layout.takeError());
  auto pieces = cutAll(*layout, world);
  std::vector<char> expected(layout->globalBytes()), back(expected.size(), -7);
  std::iota(expected.begin(), expected.end(), 0);
  for (int64_t rank : layout->owners(world))
    layout->paste(rank, pieces[rank], back);
  EXPECT_EQ(back, expected);
}

TEST(PieceLayoutTest, FlatPiecesOrderByTheMostSignificantDigit) {
  // On 2x2 with the inner level most significant: ranks 0, 2, 1, 3.
  auto layout =
      PieceLayout::of(makeValue({7}, {2}, flat(0, 2, {{1, 2}, {2, 2}})));
  ASSERT_TRUE(bool(layout));
  auto pieces = cutAll(*layout, 4);
  EXPECT_EQ(pieces[0], (std::vector<char>{0, 1}));
  EXPECT_EQ(pieces[2], (std::vector<char>{2, 3}));
  EXPECT_EQ(pieces[1], (std::vector<char>{4, 5}));
  EXPECT_EQ(pieces[3], (std::vector<char>{6, -1}));
}

TEST(PieceLayoutTest, KeptDimensionsAreRows) {
  auto layout =
      PieceLayout::of(makeValue({2, 3}, {2, 2}, flat(1, 2, {{1, 2}})));
  ASSERT_TRUE(bool(layout));
  auto pieces = cutAll(*layout, 2);
  EXPECT_EQ(pieces[0], (std::vector<char>{0, 1, 3, 4}));
  EXPECT_EQ(pieces[1], (std::vector<char>{2, -1, 5, -1}));
}

TEST(PieceLayoutTest, SplitAlongAnInnerDimension) {
  auto layout =
      PieceLayout::of(makeValue({2, 4, 2}, {2, 2, 2}, split(1, {{1, 2}})));
  ASSERT_TRUE(bool(layout));
  EXPECT_EQ(cutAll(*layout, 2)[1],
            (std::vector<char>{4, 5, 6, 7, 12, 13, 14, 15}));
}

TEST(PieceLayoutTest, RoundTrips) {
  for (int64_t elements : {0, 1, 5, 7, 12})
    for (int64_t piece : {3, 4}) // four ranks hold 12
      expectRoundTrip(
          makeValue({elements}, {piece}, flat(0, piece, {{2, 2}, {1, 2}})), 4);
  expectRoundTrip(makeValue({3, 5}, {3, 1}, flat(1, 1, {{1, 2}, {2, 3}})), 6);
  expectRoundTrip(makeValue({6, 5}, {2, 5}, split(0, {{2, 3}})), 6);
  expectRoundTrip(makeValue({2, 6}, {2, 2}, split(1, {{1, 3}})), 6);
  expectRoundTrip(makeValue({3, 2}, {3, 2}, {}), 4);
  expectRoundTrip(makeValue({}, {}, {}), 4);
  expectRoundTrip(makeValue({}, {1}, flat(0, 1, {{1, 4}})), 4);
}

TEST(PieceLayoutTest, PoisonsOnlyPadding) {
  auto layout =
      PieceLayout::of(makeValue({2, 3}, {2, 2}, flat(1, 2, {{1, 2}})));
  ASSERT_TRUE(bool(layout));
  std::vector<char> local(4, 1);
  layout->poisonPadding(0, local);
  EXPECT_EQ(local, (std::vector<char>{1, 1, 1, 1}));
  layout->poisonPadding(1, local);
  EXPECT_EQ(local, (std::vector<char>{1, -1, 1, -1}));
}

TEST(PieceLayoutTest, RefusesPlacementsThatDoNotFit) {
  auto errorOf = [](const Value &value) {
    auto layout = PieceLayout::of(value);
    return layout ? "none" : toString(layout.takeError());
  };
  EXPECT_EQ(errorOf(makeValue({5}, {2}, split(0, {{1, 2}}))),
            "arg0 of shape (5,): cannot be split along dimension 0 over 2 "
            "ranks");
  EXPECT_EQ(errorOf(makeValue({5}, {2}, flat(0, 2, {{1, 2}}))),
            "arg0 of shape (5,): 2 pieces of 2 elements do not hold it");
  EXPECT_EQ(errorOf(makeValue({4}, {3}, split(0, {{1, 2}}))),
            "arg0 of shape (4,): its local shape should be (2,), not (3,)");
}
