//===- Block.cpp - Strided memory -----------------------------------------===//

#include "Block.h"

#include <algorithm>
#include <cstring>

using namespace amsp;
using namespace amsp::runtime;

int64_t runtime::bytesOf(const std::vector<Block> &blocks) {
  int64_t bytes = 0;
  for (const Block &block : blocks)
    bytes += block.bytes();
  return bytes;
}

void runtime::copyBlock(const Block &from, const Block &to) {
  if (from.rowBytes == 0)
    return;
  // A piece may already lie in its place (a gather into the buffer that holds
  // the resting piece, a message received there).
  if (from.data == to.data &&
      (from.rows == 1 || from.strideBytes == to.strideBytes))
    return;
  bool isDense =
      from.strideBytes == from.rowBytes && to.strideBytes == to.rowBytes;
  int64_t rows = isDense ? 1 : from.rows;
  int64_t bytes = isDense ? from.bytes() : from.rowBytes;
  for (int64_t row = 0; row < rows; ++row)
    std::memcpy(to.writableRow(row), from.row(row), bytes);
}

namespace {
/// Fills lists one after the other, each up to the limit.
class Cutter {
public:
  Cutter(int64_t limit, int64_t alignment)
      : limit(limit / alignment * alignment) {}

  void add(const Block &block);
  std::vector<std::vector<Block>> lists;

private:
  /// Bytes that still fit, at least one.
  int64_t room() {
    if (lists.empty() || used == limit) {
      lists.emplace_back();
      used = 0;
    }
    return limit - used;
  }
  void push(const Block &part) {
    lists.back().push_back(part);
    used += part.bytes();
  }

  const int64_t limit;
  int64_t used = 0; // bytes of the last list
};
} // namespace

void Cutter::add(const Block &block) {
  if (block.rowBytes == 0)
    return;
  int64_t row = 0;
  while (row < block.rows) {
    if (int64_t fitting = std::min(room() / block.rowBytes, block.rows - row)) {
      push({block.row(row), fitting, block.rowBytes, block.strideBytes});
      row += fitting;
      continue;
    }
    // A row that is cut ends before the next one begins.
    for (int64_t offset = 0; offset < block.rowBytes;) {
      int64_t bytes = std::min(room(), block.rowBytes - offset);
      push({block.row(row) + offset, 1, bytes, bytes});
      offset += bytes;
    }
    ++row;
  }
}

std::vector<std::vector<Block>>
runtime::cutBlocks(const std::vector<Block> &blocks, int64_t limit,
                   int64_t alignment) {
  Cutter cutter(limit, alignment);
  for (const Block &block : blocks)
    cutter.add(block);
  if (cutter.lists.empty())
    cutter.lists.emplace_back();
  return std::move(cutter.lists);
}

std::vector<Block> runtime::packedAt(std::byte *memory,
                                     const std::vector<Block> &blocks) {
  std::vector<Block> packed;
  int64_t offset = 0;
  for (const Block &block : blocks) {
    packed.push_back({memory ? memory + offset : nullptr, block.rows,
                      block.rowBytes, block.rowBytes});
    offset += block.bytes();
  }
  return packed;
}
