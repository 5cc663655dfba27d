//===- Block.h - Strided memory -----------------------------------*- C++
//-*-===//

#ifndef AMSP_RUNTIME_HOST_BLOCK_H
#define AMSP_RUNTIME_HOST_BLOCK_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace amsp::runtime {

/// `rows` rows of `rowBytes` bytes, `strideBytes` apart.
struct Block {
  const std::byte *data = nullptr;
  int64_t rows = 0;
  int64_t rowBytes = 0;
  int64_t strideBytes = 0;

  const std::byte *row(int64_t index) const {
    return data + index * strideBytes;
  }
  /// Blocks are read-only in messages; a destination is this rank's own.
  std::byte *writableRow(int64_t index) const {
    return const_cast<std::byte *>(row(index));
  }
  bool isDense() const { return rows == 1 || strideBytes == rowBytes; }
  int64_t bytes() const { return rows * rowBytes; }
};

int64_t bytesOf(const std::vector<Block> &blocks);

/// Copies between blocks of one shape; nothing where they are the same memory.
void copyBlock(const Block &from, const Block &to);

/// Cuts blocks into lists of at most `limit` bytes, without empty blocks; there
/// is at least one list. Blocks of the same shapes are cut alike. Cuts lie at
/// multiples of `alignment` bytes, so `limit` must be at least that.
std::vector<std::vector<Block>> cutBlocks(const std::vector<Block> &blocks,
                                          int64_t limit, int64_t alignment);

/// The same shapes, one after the other in dense memory.
std::vector<Block> packedAt(std::byte *memory,
                            const std::vector<Block> &blocks);

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_BLOCK_H
