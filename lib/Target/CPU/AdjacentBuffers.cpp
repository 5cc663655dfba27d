//===- AdjacentBuffers.cpp - Buffers of one collective side by side -------===//

#include "AdjacentBuffers.h"
#include "BufferAliases.h"

using namespace mlir;
using namespace amsp;

static bool mayBeContiguous(CollectiveStartOp op) {
  return op.getInfo().getKind() == CollectiveKind::AllReduce &&
         op.getSources().size() > 1;
}

/// What makes the buffer that `memref` is the whole of; null if it is a part.
template <typename Maker> static Maker getWholeBuffer(Value memref) {
  auto maker = getRootBuffer(memref).getDefiningOp<Maker>();
  auto bytes = [](Value value) {
    return getBufferBytes(cast<MemRefType>(value.getType()));
  };
  return maker && bytes(maker) == bytes(memref) ? maker : Maker();
}

SmallVector<SmallVector<memref::AllocOp>>
amsp::findAdjacentBuffers(func::FuncOp function) {
  SmallVector<SmallVector<memref::AllocOp>> found;
  DenseSet<Operation *> taken;
  function.walk([&](CollectiveStartOp op) {
    if (!mayBeContiguous(op))
      return;
    SmallVector<memref::AllocOp> allocs;
    DenseSet<Operation *> own;
    for (Value memref : op.getOperands()) {
      auto alloc = getWholeBuffer<memref::AllocOp>(memref);
      if (!alloc || taken.contains(alloc) || !own.insert(alloc).second)
        return;
      allocs.push_back(alloc);
    }
    taken.insert(own.begin(), own.end());
    found.push_back(std::move(allocs));
  });
  return found;
}

static bool isRow(OperandRange memrefs) {
  std::optional<int64_t> next;
  for (Value memref : memrefs) {
    auto view = getWholeBuffer<ArenaViewOp>(memref);
    if (!view || (next && static_cast<int64_t>(view.getOffset()) != *next))
      return false;
    next = static_cast<int64_t>(view.getOffset()) +
           getBufferBytes(cast<MemRefType>(memref.getType()));
  }
  return true;
}

bool amsp::isContiguous(CollectiveStartOp op) {
  return mayBeContiguous(op) && isRow(op.getSources()) &&
         isRow(op.getDestinations());
}
