//===- PlanArena.cpp - Gives every buffer a place in one arena ------------===//

#include "AdjacentBuffers.h"
#include "BufferAliases.h"
#include "BufferLifetimes.h"
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Target/CPU/Passes.h"

namespace amsp {
#define GEN_PASS_DEF_PLANARENA
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

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

/// The tensors of an all_reduce behind each other: a row of its sources and one
/// of its destinations.
static SmallVector<SmallVector<ArenaRow>>
findRows(func::FuncOp function, const DenseMap<Operation *, size_t> &numbers) {
  SmallVector<SmallVector<ArenaRow>> wishes;
  for (ArrayRef<memref::AllocOp> allocs : findAdjacentBuffers(function)) {
    SmallVector<ArenaRow> &rows = wishes.emplace_back(2);
    for (auto [index, alloc] : llvm::enumerate(allocs))
      rows[index < allocs.size() / 2 ? 0 : 1].push_back(numbers.lookup(alloc));
  }
  return wishes;
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
    BufferOverwrites overwrites(function->getParentOfType<ModuleOp>());
    SmallVector<memref::AllocOp> allocs;
    SmallVector<LiveBuffer> buffers;
    DenseMap<Operation *, size_t> numbers;
    function.walk([&](memref::AllocOp alloc) {
      LiveBuffer buffer = getLifetime(alloc, order, overwrites);
      if (buffer.end < 0) // never touched
        return;
      numbers[alloc] = allocs.size();
      allocs.push_back(alloc);
      buffers.push_back(buffer);
      bytesBuffers += buffer.bytes;
    });
    ArenaPlan plan = planArena(buffers, findRows(function, numbers));
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
    function.walk(
        [&](CollectiveStartOp op) { numContiguous += isContiguous(op); });
  }
};
} // namespace
