//===- BufferLifetimes.cpp - When buffers are in use ----------------------===//

#include "BufferLifetimes.h"
#include "BufferAliases.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace amsp;

void ProgramOrder::number(Operation *op) {
  int64_t begin = next++;
  for (Region &region : op->getRegions())
    for (Operation &nested : region.getOps())
      number(&nested);
  spans[op] = {begin, next++};
}

namespace {
/// When what a buffer holds is read again, found backwards through the ops that
/// touch it and the ops around these.
class BufferLiveness {
public:
  BufferLiveness(Operation *maker, const ProgramOrder &order,
                 BufferOverwrites &overwrites);

  LiveBuffer getLifetime();

private:
  bool visitBlock(Block &block, bool isLive, bool isFinal);
  bool visitOp(Operation *op, bool isLive, bool isFinal);
  bool visitRegion(Region &region, bool isLive, bool isFinal);
  bool visitLoop(scf::ForOp loop, bool isLive, bool isFinal);
  void add(int64_t begin, int64_t end) {
    if (begin <= end)
      spans.push_back({begin, end});
  }

  Operation *maker;
  const ProgramOrder &order;
  /// True where an op leaves nothing of what was in the buffer unread.
  llvm::SmallMapVector<Operation *, bool, 8> accesses;
  /// By block, in program order: the ops that touch the buffer, or hold some
  /// that do.
  DenseMap<Block *, SmallVector<Operation *>> touching;
  /// Of the final visits, descending.
  SmallVector<LiveSpan> spans;
};
} // namespace

BufferLiveness::BufferLiveness(Operation *maker, const ProgramOrder &order,
                               BufferOverwrites &overwrites)
    : maker(maker), order(order) {
  forEachAccess(maker->getResult(0), [&](OpOperand &use) {
    bool isNew = overwrites.overwrites(use);
    auto [it, isFirst] = accesses.try_emplace(use.getOwner(), isNew);
    if (!isFirst)
      it->second &= isNew;
  });
  SmallVector<Operation *> ops(llvm::make_first_range(accesses));
  llvm::sort(ops, [&](Operation *lhs, Operation *rhs) {
    return order.getBegin(lhs) < order.getBegin(rhs);
  });
  llvm::DenseSet<Operation *> seen;
  for (Operation *access : ops)
    for (Operation *op = access; seen.insert(op).second;
         op = op->getParentOp()) {
      touching[op->getBlock()].push_back(op);
      if (op->getBlock() == maker->getBlock())
        break;
    }
}

/// Returns whether the buffer is live before the block, if it is behind it.
bool BufferLiveness::visitBlock(Block &block, bool isLive, bool isFinal) {
  int64_t last = order.getEnd(&block.back());
  auto it = touching.find(&block);
  if (it != touching.end())
    for (Operation *op : llvm::reverse(it->second)) {
      if (isLive && isFinal)
        add(order.getEnd(op) + 1, last);
      isLive = visitOp(op, isLive, isFinal);
      last = order.getBegin(op) - 1;
    }
  if (isLive && isFinal)
    add(order.getBegin(&block.front()), last);
  return isLive;
}

bool BufferLiveness::visitRegion(Region &region, bool isLive, bool isFinal) {
  return region.empty() ? isLive : visitBlock(region.front(), isLive, isFinal);
}

/// What the last iteration leaves may be read, and what each leaves for the
/// next.
bool BufferLiveness::visitLoop(scf::ForOp loop, bool isLive, bool isFinal) {
  bool isLiveAfter = isLive || visitBlock(*loop.getBody(), isLive, false);
  bool isLiveBefore = visitBlock(*loop.getBody(), isLiveAfter, isFinal);
  std::optional<APInt> trips = loop.getStaticTripCount();
  return isLiveBefore || (isLive && !(trips && trips->ugt(0)));
}

bool BufferLiveness::visitOp(Operation *op, bool isLive, bool isFinal) {
  int64_t begin = order.getBegin(op), end = order.getEnd(op);
  if (auto *it = accesses.find(op); it != accesses.end()) {
    if (isFinal)
      add(begin, end);
    return !it->second;
  }
  bool isLiveBefore = false;
  if (isLive && isFinal)
    add(end, end);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    isLiveBefore = visitLoop(loop, isLive, isFinal);
  else if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
    for (Region &region : op->getRegions())
      isLiveBefore |= visitRegion(region, isLive, isFinal);
  else {
    if (isFinal)
      add(begin, end);
    return true;
  }
  if (isLiveBefore && isFinal)
    add(begin, begin);
  return isLiveBefore;
}

LiveBuffer BufferLiveness::getLifetime() {
  Value made = maker->getResult(0);
  LiveBuffer buffer{getBufferBytes(cast<MemRefType>(made.getType())),
                    std::numeric_limits<int64_t>::max(), -1};
  auto it = touching.find(maker->getBlock());
  if (it == touching.end())
    return buffer;
  visitBlock(*maker->getBlock(), /*isLive=*/false, /*isFinal=*/true);
  llvm::sort(spans, [](const LiveSpan &lhs, const LiveSpan &rhs) {
    return lhs.begin < rhs.begin;
  });
  // Before its first access it holds nothing.
  int64_t next = order.getBegin(it->second.front());
  for (const LiveSpan &span : spans) {
    if (span.end < next)
      continue;
    if (buffer.end < 0)
      buffer.begin = std::max(next, span.begin);
    else if (span.begin > next)
      buffer.holes.push_back({next, span.begin - 1});
    buffer.end = span.end;
    next = span.end + 1;
  }
  return buffer;
}

LiveBuffer amsp::getLifetime(Operation *maker, const ProgramOrder &order,
                             BufferOverwrites &overwrites) {
  return BufferLiveness(maker, order, overwrites).getLifetime();
}
