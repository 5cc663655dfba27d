//===- PlanArena.cpp - Gives every buffer a place in one arena ------------===//

#include "BufferAliases.h"
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Target/CPU/ArenaPlanner.h"
#include "amsp/Target/CPU/Passes.h"

namespace amsp {
#define GEN_PASS_DEF_PLANARENA
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {
/// Numbers the ops of a function in program order: an op with regions spans the
/// numbers of all ops in it.
class ProgramOrder {
public:
  explicit ProgramOrder(func::FuncOp function) { number(function); }
  int64_t getBegin(Operation *op) const { return spans.lookup(op).first; }
  int64_t getEnd(Operation *op) const { return spans.lookup(op).second; }

private:
  void number(Operation *op) {
    int64_t begin = next++;
    for (Region &region : op->getRegions())
      for (Operation &nested : region.getOps())
        number(&nested);
    spans[op] = {begin, next++};
  }

  int64_t next = 0;
  DenseMap<Operation *, std::pair<int64_t, int64_t>> spans;
};
} // namespace

/// A buffer lives from its first to its last access, seen from the block that
/// makes it: a loop in that block which touches it keeps it for all iterations.
static LiveBuffer getLifetime(memref::AllocOp alloc,
                              const ProgramOrder &order) {
  LiveBuffer buffer{getBufferBytes(alloc.getType()),
                    std::numeric_limits<int64_t>::max(), -1};
  forEachAccess(alloc, [&](OpOperand &use) {
    Operation *top = alloc->getBlock()->findAncestorOpInBlock(*use.getOwner());
    buffer.begin = std::min(buffer.begin, order.getBegin(top));
    buffer.end = std::max(buffer.end, order.getEnd(top));
  });
  return buffer;
}

/// Every buffer must be known at compile time: no op or loop may choose one.
static LogicalResult verifyBuffersAreStatic(func::FuncOp function) {
  WalkResult walk = function.walk([&](Operation *op) {
    bool makesBuffer =
        getViewSource(op) ||
        isa<memref::AllocOp, memref::GetGlobalOp, ArenaViewOp>(op);
    if (!makesBuffer &&
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<MemRefType>)) {
      op->emitOpError(
          "chooses a buffer at run time, which the memory plan does "
          "not support");
      return WalkResult::interrupt();
    }
    auto alloc = dyn_cast<memref::AllocOp>(op);
    if (alloc && !alloc.getType().hasStaticShape()) {
      op->emitOpError("has a dynamic shape");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

namespace {
struct PlanArena : amsp::impl::PlanArenaBase<PlanArena> {
  using PlanArenaBase::PlanArenaBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isPrivate()) // kernels allocate nothing
      return;
    if (failed(verifyBuffersAreStatic(function)))
      return signalPassFailure();
    ProgramOrder order(function);
    SmallVector<memref::AllocOp> allocs;
    SmallVector<LiveBuffer> buffers;
    function.walk([&](memref::AllocOp alloc) {
      LiveBuffer buffer = getLifetime(alloc, order);
      if (buffer.end < 0) // never touched
        return;
      allocs.push_back(alloc);
      buffers.push_back(buffer);
      bytesBuffers += buffer.bytes;
    });
    ArenaPlan plan = planArena(buffers);
    for (auto [alloc, offset] : llvm::zip_equal(allocs, plan.offsets)) {
      OpBuilder builder(alloc);
      auto view =
          ArenaViewOp::create(builder, alloc.getLoc(), alloc.getType(), offset);
      alloc.replaceAllUsesWith(view.getResult());
      alloc.erase();
    }
    function->setAttr(kArenaBytesAttr,
                      Builder(&getContext()).getI64IntegerAttr(plan.bytes));
    numBuffers = buffers.size();
    bytesArena = plan.bytes;
    bytesLive = getPeakLiveBytes(buffers);
  }
};
} // namespace
