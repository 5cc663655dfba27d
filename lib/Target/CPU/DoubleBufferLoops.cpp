//===- DoubleBufferLoops.cpp - Two iterations where a carry needs two buffers //

#include "DestinationRoots.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace amsp {
#define GEN_PASS_DEF_DOUBLEBUFFERLOOPS
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

static bool isView(Operation *op) {
  return isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp>(op);
}

namespace {
/// How one value that a loop carries is used in an iteration.
class CarryUse {
public:
  CarryUse(BlockArgument carry, Value next)
      : body(carry.getOwner()), next(next) {
    addAccesses(carry);
  }

  bool needsTwoBuffers() const {
    Operation *write = findFirstWrite();
    return write && last && write->isBeforeInBlock(last) &&
           (isMoved || isa<CollectiveOpInterface>(write));
  }

private:
  void addAccesses(Value tensor);
  Operation *findFirstWrite() const;

  Block *body;
  Value next;
  /// The op of the body that reads the old value last, an await if that is when
  /// a collective has read it.
  Operation *last = nullptr;
  /// True if a collective of the body reads the old value.
  bool isMoved = false;
};
} // namespace

void CarryUse::addAccesses(Value tensor) {
  for (Operation *user : tensor.getUsers()) {
    if (isView(user)) {
      addAccesses(user->getResult(0));
      continue;
    }
    Operation *access = body->findAncestorOpInBlock(*user);
    if (auto collective = dyn_cast<CollectiveOpInterface>(user)) {
      isMoved |= access == user;
      if (access == user && collective.isStart() && collective.getAwait())
        access = collective.getAwait();
    }
    if (access != body->getTerminator() &&
        (!last || last->isBeforeInBlock(access)))
      last = access;
  }
}

/// The op of the body from which on the next value's buffer is written: a
/// collective when it starts, else the first one that writes more than an
/// initial value. Null if the buffer is not made in the body.
Operation *CarryUse::findFirstWrite() const {
  Operation *first = nullptr;
  for (Value tensor = next;;) {
    Operation *op = tensor.getDefiningOp();
    if (!op || op->getBlock() != body)
      return nullptr;
    if (isa<tensor::EmptyOp>(op))
      return first;
    if (isa<CollectiveOpInterface>(op))
      return op;
    if (auto await = dyn_cast<AwaitOp>(op))
      return await.getStart();
    if (isView(op)) {
      tensor = op->getOperand(0);
      continue;
    }
    auto written = dyn_cast<DestinationStyleOpInterface>(op);
    if (!written)
      return first;
    if (!isa<linalg::FillOp>(op) || !first)
      first = op;
    tensor = written.getTiedOpOperand(cast<OpResult>(tensor))->get();
  }
}

static bool needsTwoBuffers(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  return llvm::any_of(
      llvm::zip_equal(loop.getRegionIterArgs(), yield.getOperands()),
      [&](auto pair) {
        auto [carry, next] = pair;
        return isa<RankedTensorType>(carry.getType()) &&
               CarryUse(cast<BlockArgument>(carry), next).needsTwoBuffers();
      });
}

namespace {
struct DoubleBufferLoops
    : amsp::impl::DoubleBufferLoopsBase<DoubleBufferLoops> {
  using DoubleBufferLoopsBase::DoubleBufferLoopsBase;

  void runOnOperation() override {
    // Inner loops first: an outer one is unrolled with what it holds.
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      std::optional<APInt> trips = loop.getStaticTripCount();
      if (trips && trips->ugt(1) && needsTwoBuffers(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      if (failed(loopUnrollByFactor(loop, 2))) {
        loop.emitError("cannot be unrolled");
        return signalPassFailure();
      }
      ++numLoops;
    }
  }
};
} // namespace
