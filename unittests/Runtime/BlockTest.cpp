//===- BlockTest.cpp - Strided memory, and messages cut to a limit --------===//

#include "Block.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <numeric>

using namespace amsp::runtime;

namespace {
struct BlockTest : testing::Test {
  std::vector<std::byte> memory = std::vector<std::byte>(1000);

  Block block(int64_t offset, int64_t rows, int64_t rowBytes,
              int64_t strideBytes) {
    return {memory.data() + offset, rows, rowBytes, strideBytes};
  }
  /// The offsets of all bytes, in order.
  std::vector<int64_t> offsets(const std::vector<Block> &blocks) {
    std::vector<int64_t> result;
    for (const Block &block : blocks)
      for (int64_t row = 0; row < block.rows; ++row)
        for (int64_t i = 0; i < block.rowBytes; ++i)
          result.push_back(block.row(row) + i - memory.data());
    return result;
  }
};
} // namespace

TEST_F(BlockTest, CutsKeepAllBytesInOrder) {
  std::vector<Block> blocks = {block(0, 1, 100, 100), block(100, 7, 12, 20),
                               block(300, 3, 0, 8), block(400, 2, 200, 250)};
  for (int64_t limit : {4, 8, 13, 64, 100, 150, 1000}) {
    auto lists = cutBlocks(blocks, limit, 4);
    std::vector<int64_t> all;
    for (size_t i = 0; i < lists.size(); ++i) {
      EXPECT_LE(bytesOf(lists[i]), limit);
      if (i + 1 < lists.size()) {
        EXPECT_EQ(bytesOf(lists[i]) % 4, 0);
        EXPECT_LE(bytesOf(lists[i + 1]), bytesOf(lists.front()));
      }
      for (int64_t offset : offsets(lists[i]))
        all.push_back(offset);
    }
    EXPECT_EQ(all, offsets(blocks)) << "limit " << limit;
  }
}

TEST_F(BlockTest, ShapesAloneDecideWhereToCut) {
  // A piece alone is dense; the same piece within its tensor is not.
  std::vector<Block> alone = {block(0, 5, 12, 12)};
  std::vector<Block> within = {block(0, 5, 12, 40)};
  auto first = cutBlocks(alone, 28, 4), second = cutBlocks(within, 28, 4);
  ASSERT_EQ(first.size(), second.size());
  for (size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first[i].size(), second[i].size());
    for (size_t j = 0; j < first[i].size(); ++j) {
      EXPECT_EQ(first[i][j].rows, second[i][j].rows);
      EXPECT_EQ(first[i][j].rowBytes, second[i][j].rowBytes);
    }
  }
}

TEST_F(BlockTest, NothingIsOneEmptyMessage) {
  // It tells a peer that its sender has come so far.
  EXPECT_THAT(cutBlocks({block(0, 4, 0, 8)}, 100, 4),
              testing::ElementsAre(testing::IsEmpty()));
}

TEST_F(BlockTest, CopiesBetweenStrides) {
  std::vector<std::byte> packed(36);
  for (size_t i = 0; i < memory.size(); ++i)
    memory[i] = static_cast<std::byte>(i);
  std::vector<Block> from = {block(10, 3, 12, 100)};
  std::vector<Block> to = packedAt(packed.data(), from);
  copyBlock(from[0], to[0]);
  for (int row = 0; row < 3; ++row)
    for (int i = 0; i < 12; ++i)
      EXPECT_EQ(packed[row * 12 + i],
                static_cast<std::byte>(10 + row * 100 + i));
}
