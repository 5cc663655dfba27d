//===- PrepareDestinations.cpp - A destination of its own for every op ----===//

#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace amsp {
#define GEN_PASS_DEF_PREPAREDESTINATIONS
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// Replaces a constant of one value by a fill before each of its users.
static void expandSplat(arith::ConstantOp constant, IRRewriter &rewriter) {
  auto type = dyn_cast<RankedTensorType>(constant.getType());
  auto value = dyn_cast<SplatElementsAttr>(constant.getValue());
  if (!type || !value || type.getRank() == 0)
    return;
  for (OpOperand &use :
       llvm::make_early_inc_range(constant->getResult(0).getUses())) {
    rewriter.setInsertionPoint(use.getOwner());
    Location loc = constant.getLoc();
    Value scalar = arith::ConstantOp::create(
        rewriter, loc, cast<TypedAttr>(value.getSplatValue<Attribute>()));
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    use.set(linalg::FillOp::create(rewriter, loc, scalar, empty).getResult(0));
  }
}

/// Gives each use but the first a clone of `op`, just before the user.
static void cloneForEachUse(Operation *op, IRRewriter &rewriter) {
  Value value = op->getResult(0);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  for (OpOperand *use : ArrayRef(uses).drop_back(uses.empty() ? 0 : 1)) {
    rewriter.setInsertionPoint(use->getOwner());
    use->set(rewriter.clone(*op)->getResult(0));
  }
}

/// Moves scalars and constants of one value into the bodies that read them. The
/// reshape of an empty tensor becomes an empty tensor, which each use can have
/// of its own.
static LogicalResult foldScalarsAndEmpties(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseOpsFusionPatterns(
      patterns, [](OpOperand *) { return false; });
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}

/// Puts an empty tensor that slices are inserted into at the start of its
/// block: then the slices can be computed in it from their first op on, and
/// nothing needs to be moved for that.
static void hoistAssembled(tensor::InsertSliceOp op) {
  auto empty = op.getDest().getDefiningOp<tensor::EmptyOp>();
  if (empty && empty->getNumOperands() == 0)
    empty->moveBefore(empty->getBlock(), empty->getBlock()->begin());
}

namespace {
struct PrepareDestinations
    : amsp::impl::PrepareDestinationsBase<PrepareDestinations> {
  using PrepareDestinationsBase::PrepareDestinationsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (failed(foldScalarsAndEmpties(function)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    function.walk(
        [&](arith::ConstantOp constant) { expandSplat(constant, rewriter); });
    // Fills first: a cloned fill is one more user of its tensor.empty.
    SmallVector<Operation *> fills, empties;
    function.walk([&](linalg::FillOp op) { fills.push_back(op); });
    for (Operation *op : fills)
      cloneForEachUse(op, rewriter);
    function.walk([&](tensor::EmptyOp op) { empties.push_back(op); });
    for (Operation *op : empties)
      cloneForEachUse(op, rewriter);
    function.walk(hoistAssembled);
  }
};
} // namespace
