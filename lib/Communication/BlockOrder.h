//===- BlockOrder.h - The order of a block that changes ---------*- C++ -*-===//

#ifndef AMSP_LIB_COMMUNICATION_BLOCKORDER_H
#define AMSP_LIB_COMMUNICATION_BLOCKORDER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace amsp {

/// Tells which of two ops of a block comes first, while ops move in it. What
/// isBeforeInBlock tells too, but that numbers the whole block anew after each
/// move of a few. All that moves, comes or goes has to be said here.
class BlockOrder {
public:
  explicit BlockOrder(mlir::Block &block);

  /// Both are of the block.
  bool isBefore(mlir::Operation *lhs, mlir::Operation *rhs) const;

  /// Moves the ops, in their order, in front of `place`, which is none of them.
  void moveBefore(mlir::ArrayRef<mlir::Operation *> ops,
                  mlir::Operation *place);

  /// The ops from `first` on, up to `place` and without it, are new.
  void insert(mlir::Operation *first, mlir::Operation *place);

  /// Erases an op.
  void erase(mlir::Operation *op);

private:
  void number();

  mlir::Block &block;
  /// Numbers that grow along the block, with room between two.
  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
};

} // namespace amsp

#endif // AMSP_LIB_COMMUNICATION_BLOCKORDER_H
