//===- NormalizeLoops.cpp - Loop order and fusion of linalg ops -----------===//

#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

namespace amsp {
#define GEN_PASS_DEF_NORMALIZELOOPS
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// Copies that are no plain block of bytes become loops; the host program does
/// the others. A slice that was put back where it lies is no copy at all: it
/// would write what a collective in flight reads.
static void expandStridedCopies(func::FuncOp function, IRRewriter &rewriter) {
  SmallVector<memref::CopyOp> copies;
  function.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies) {
    if (copy.getSource() == copy.getTarget()) {
      rewriter.eraseOp(copy);
      continue;
    }
    auto source = cast<MemRefType>(copy.getSource().getType());
    auto target = cast<MemRefType>(copy.getTarget().getType());
    bool isHostLevel = copy->getParentOp() == function.getOperation();
    if (isHostLevel && memref::isStaticShapeAndContiguousRowMajor(source) &&
        memref::isStaticShapeAndContiguousRowMajor(target))
      continue;
    rewriter.setInsertionPoint(copy);
    linalg::CopyOp::create(rewriter, copy.getLoc(), copy.getSource(),
                           copy.getTarget());
    rewriter.eraseOp(copy);
  }
}

/// How far a step of each loop moves in memory, summed over the operands; the
/// result counts twice, a write costs more than a read.
static SmallVector<int64_t> getLoopStrides(linalg::GenericOp op) {
  SmallVector<int64_t> sums(op.getNumLoops(), 0);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type || failed(type.getStridesAndOffset(strides, offset)))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    int64_t weight = op.isDpsInit(&operand) ? 2 : 1;
    for (auto [position, expr] : llvm::enumerate(map.getResults()))
      for (unsigned loop = 0; loop < sums.size(); ++loop)
        if (expr.isFunctionOfDim(loop) &&
            strides[position] != ShapedType::kDynamic)
          sums[loop] += weight * std::abs(strides[position]);
  }
  return sums;
}

/// Puts loops with large strides outside. Loops that nothing depends on stay
/// out.
static FailureOr<linalg::GenericOp> orderLoops(linalg::GenericOp op,
                                               IRRewriter &rewriter) {
  SmallVector<int64_t> strides = getLoopStrides(op);
  SmallVector<unsigned> order(op.getNumLoops());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-strides[a], a) < std::pair(-strides[b], b);
  });
  if (llvm::is_sorted(order))
    return op;
  return linalg::interchangeGenericOp(rewriter, op, order);
}

/// True if the operands can be seen as if the adjacent loops `outer` and
/// `outer + 1` were one.
static bool canJoin(linalg::GenericOp op, ReassociationIndices group) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  if (iterators[group[group.size() - 2]] != iterators[group.back()] ||
      !linalg::areDimSequencesPreserved(op.getIndexingMapsArray(), {group}))
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<ReassociationIndices> reassociation;
    for (unsigned position = 0; position < map.getNumResults();) {
      ReassociationIndices indices{static_cast<int64_t>(position)};
      if (map.getDimPosition(position) == group.front())
        for (size_t i = 1; i < group.size(); ++i)
          indices.push_back(position + i);
      position += indices.size();
      reassociation.push_back(indices);
    }
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(type, reassociation))
      return false;
  }
  return true;
}

/// Joins neighbouring loops wherever all operands allow it.
static LogicalResult joinLoops(linalg::GenericOp op, IRRewriter &rewriter) {
  if (op.hasIndexSemantics() || op.getNumLoops() < 2 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return success();
  SmallVector<ReassociationIndices> groups;
  for (int64_t loop = 0, e = op.getNumLoops(); loop < e; ++loop) {
    if (!groups.empty()) {
      ReassociationIndices extended = groups.back();
      extended.push_back(loop);
      if (canJoin(op, extended)) {
        groups.back() = extended;
        continue;
      }
    }
    groups.push_back({loop});
  }
  if (groups.size() == op.getNumLoops())
    return success();
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(op, groups, rewriter);
  if (failed(collapsed))
    return op.emitOpError("loops cannot be joined");
  rewriter.eraseOp(op);
  return success();
}

namespace {
struct NormalizeLoops : amsp::impl::NormalizeLoopsBase<NormalizeLoops> {
  using NormalizeLoopsBase::NormalizeLoopsBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    expandStridedCopies(getOperation(), rewriter);
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        FailureOr<linalg::GenericOp> generalized =
            linalg::generalizeNamedOp(rewriter, op);
        if (failed(generalized)) {
          op.emitOpError("has no form as loops");
          return signalPassFailure();
        }
        generic = *generalized;
      }
      rewriter.setInsertionPoint(generic);
      FailureOr<linalg::GenericOp> ordered = orderLoops(generic, rewriter);
      if (failed(ordered) || failed(joinLoops(*ordered, rewriter)))
        return signalPassFailure();
    }
  }
};
} // namespace
