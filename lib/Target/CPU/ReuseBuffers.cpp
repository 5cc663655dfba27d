//===- ReuseBuffers.cpp - Elementwise results in operands that die --------===//

#include "BufferAliases.h"
#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace amsp {
#define GEN_PASS_DEF_REUSEBUFFERS
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// True if nothing before `op` touches `buffer` or makes a view of it.
static bool isFirstAccess(Operation *op, memref::AllocOp buffer) {
  return llvm::all_of(buffer->getUsers(), [&](Operation *user) {
    Operation *other = op->getBlock()->findAncestorOpInBlock(*user);
    return other && !other->isBeforeInBlock(op);
  });
}

static bool isLastAccess(Operation *op, memref::AllocOp buffer) {
  bool isLast = true;
  forEachAccess(buffer, [&](OpOperand &use) {
    Operation *other = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
    isLast &= other && !op->isBeforeInBlock(other);
  });
  return isLast;
}

/// True if `op` touches `buffer` only as operands with the map of its result,
/// so that an element is read before it is written and never after.
static bool readsOnlyInPlace(linalg::LinalgOp op, Value buffer, AffineMap map) {
  bool inPlace = true;
  forEachAccess(buffer, [&](OpOperand &use) {
    if (op->isProperAncestor(use.getOwner()))
      inPlace = false;
    if (use.getOwner() != op.getOperation())
      return;
    inPlace &= use.get() == buffer && op.getMatchingIndexingMap(&use) == map;
  });
  return inPlace;
}

/// An operand of `op` whose buffer may become the one of the result `init`.
static memref::AllocOp findDyingOperand(linalg::LinalgOp op, OpOperand *init) {
  auto result = init->get().getDefiningOp<memref::AllocOp>();
  AffineMap map = op.getMatchingIndexingMap(init);
  if (!result || result->getBlock() != op->getBlock() ||
      op.getNumParallelLoops() != op.getNumLoops() || !map.isPermutation() ||
      op.payloadUsesValueFromOperand(init) || !isFirstAccess(op, result))
    return {};
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto dying = input->get().getDefiningOp<memref::AllocOp>();
    if (dying && dying != result && dying.getType() == result.getType() &&
        dying->getBlock() == op->getBlock() &&
        op.getMatchingIndexingMap(input) == map && isLastAccess(op, dying) &&
        readsOnlyInPlace(op, dying, map) && readsOnlyInPlace(op, result, map))
      return dying;
  }
  return {};
}

namespace {
struct ReuseBuffers : amsp::impl::ReuseBuffersBase<ReuseBuffers> {
  using ReuseBuffersBase::ReuseBuffersBase;

  void runOnOperation() override {
    getOperation().walk([&](linalg::LinalgOp op) {
      for (OpOperand &init : op.getDpsInitsMutable()) {
        memref::AllocOp dying = findDyingOperand(op, &init);
        if (!dying)
          continue;
        auto result = init.get().getDefiningOp<memref::AllocOp>();
        ++numReused;
        bytesReused += getBufferBytes(result.getType());
        result.replaceAllUsesWith(dying.getResult());
        result.erase();
      }
    });
  }
};
} // namespace
