//===- FuseElementwise.cpp - Elementwise work in few loop nests -----------===//

#include "FusionHeuristics.h"
#include "amsp/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace amsp {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "amsp/Conversion/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

static void generalizeTransposes(Operation *root) {
  SmallVector<linalg::TransposeOp> transposes;
  root->walk([&](linalg::TransposeOp op) { transposes.push_back(op); });
  IRRewriter rewriter(root->getContext());
  for (linalg::TransposeOp op : transposes) {
    rewriter.setInsertionPoint(op);
    // Cannot fail for a named op on tensors.
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

/// Unlike upstream's pass, destinations that are read stay destinations: a
/// scatter updates its window in place.
static LogicalResult dropUnitDimensions(Operation *root) {
  MLIRContext *context = root->getContext();
  linalg::ControlDropUnitDims options;
  {
    RewritePatternSet patterns(context);
    linalg::populateFoldUnitExtentDimsPatterns(patterns, options);
    walkAndApplyPatterns(root, std::move(patterns));
  }
  RewritePatternSet patterns(context);
  linalg::populateFoldUnitExtentDimsCanonicalizationPatterns(patterns, options);
  return applyPatternsGreedily(root, std::move(patterns));
}

static bool isReshapeBetweenElementwise(OpOperand *operand) {
  Operation *producer = operand->get().getDefiningOp();
  Operation *consumer = operand->getOwner();
  auto isGeneric = [](Operation *op) {
    return isa_and_nonnull<linalg::GenericOp>(op);
  };
  // The pattern matches at the reshape (its source is the operand) or at the
  // generic op (the operand is the reshape).
  if (isGeneric(producer))
    return producer->hasOneUse() &&
           llvm::all_of(consumer->getUsers(), isGeneric);
  return producer && producer->hasOneUse() &&
         isGeneric(producer->getOperand(0).getDefiningOp());
}

static LogicalResult fuseElementwise(Operation *root) {
  MLIRContext *context = root->getContext();
  RewritePatternSet patterns(context);
  linalg::populateElementwiseOpsFusionPatterns(patterns, isFusionProfitable);
  linalg::populateFoldReshapeOpsByExpansionPatterns(
      patterns, isReshapeBetweenElementwise);
  linalg::populateConstantFoldLinalgOperations(patterns, isFusionProfitable);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExtractOp::getCanonicalizationPatterns(patterns, context);
  context->getLoadedDialect<linalg::LinalgDialect>()
      ->getCanonicalizationPatterns(patterns);
  GreedyRewriteConfig config;
  // Producers first: then a chain is fused into its end, whole.
  config.setUseTopDownTraversal(true);
  return applyPatternsGreedily(root, std::move(patterns), config);
}

static unsigned fuseMultiResult(Operation *root) {
  unsigned count = 0;
  IRRewriter rewriter(root->getContext());
  root->walk([&](Operation *op) {
    if (isa<linalg::LinalgOp>(op))
      return;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        count += fuseIntoMultiResultOps(rewriter, block);
  });
  return count;
}

/// Splat constants still there as whole tensors would be stored as such.
static void replaceSplatsByFills(Operation *root) {
  SmallVector<arith::ConstantOp> splats;
  root->walk([&](arith::ConstantOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (type && type.getNumElements() > 1 && isa<SplatElementsAttr>(op.getValue()))
      splats.push_back(op);
  });
  IRRewriter rewriter(root->getContext());
  for (arith::ConstantOp op : splats) {
    auto type = cast<RankedTensorType>(op.getType());
    rewriter.setInsertionPoint(op);
    Value scalar = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        cast<SplatElementsAttr>(op.getValue()).getSplatValue<TypedAttr>());
    // One for each use: a shared one would have to be copied before a use that
    // overwrites it.
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      rewriter.setInsertionPoint(use.getOwner());
      Value empty = tensor::EmptyOp::create(
          rewriter, op.getLoc(), type.getShape(), type.getElementType());
      Value fill =
          linalg::FillOp::create(rewriter, op.getLoc(), scalar, empty)
              .getResult(0);
      rewriter.modifyOpInPlace(use.getOwner(), [&] { use.set(fill); });
    }
    rewriter.eraseOp(op);
  }
}

namespace {

struct FuseElementwisePass
    : amsp::impl::FuseElementwiseBase<FuseElementwisePass> {
  using FuseElementwiseBase::FuseElementwiseBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    generalizeTransposes(root);
    if (failed(dropUnitDimensions(root)) || failed(fuseElementwise(root)))
      return signalPassFailure();
    if (multiResult) {
      numMultiResult += fuseMultiResult(root);
      // Results that nobody uses any more go.
      if (failed(fuseElementwise(root)))
        return signalPassFailure();
    }
    if (collapse && failed(collapseContiguousLoops(root)))
      return signalPassFailure();
    replaceSplatsByFills(root);
  }
};

} // namespace
