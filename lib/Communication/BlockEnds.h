//===- BlockEnds.h - What a block has nothing to hide behind ----*- C++ -*-===//

#ifndef AMSP_LIB_COMMUNICATION_BLOCKENDS_H
#define AMSP_LIB_COMMUNICATION_BLOCKENDS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace amsp {

/// True for ops that take no time to speak of on pieces or scalars.
bool isCheap(mlir::Operation *op);

/// Computation hides communication from a block's first contraction to its
/// last. A block without contractions, or with loops of them at its ends (which
/// overlap with nothing around them), has no ends in this sense.
class BlockEnds {
public:
  explicit BlockEnds(mlir::Block &block);

  /// True if what the op makes is needed, through cheap ops, by the block's
  /// first contraction or before.
  bool isNeededAtBegin(mlir::Operation *op) const;
  /// True if what the op reads is made, through cheap ops, by the block's last
  /// contraction or behind.
  bool isMadeAtEnd(mlir::Operation *op) const;

  /// The position of the first op that is not cheap and needs, through cheap
  /// ones, what the op makes. Positions and uses are those at the time at which
  /// this object was made, and ops those of that time.
  int64_t getFirstUse(mlir::Operation *op) const;
  /// The position of the last op that is not cheap and makes, through cheap
  /// ones, what the op reads; -1 if there is none.
  int64_t getLastSource(mlir::Operation *op) const;

private:
  struct Entry {
    int64_t position, firstUse, lastSource;
    bool isPassedThrough;
  };

  void findSources(mlir::Block &block);
  void findUses(mlir::Block &block);

  /// The positions of the first and the last contraction.
  std::optional<int64_t> first, last;
  llvm::DenseMap<mlir::Operation *, Entry> entries;
};

} // namespace amsp

#endif // AMSP_LIB_COMMUNICATION_BLOCKENDS_H
