//===- FuseElementwise.cpp - Elementwise work in few loop nests -----------===//

#include "FusionHeuristics.h"
#include "amsp/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/CSE.h"
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

namespace {

/// A parallel op that reads the fill it writes to, as a reduction over
/// dimensions of size 1 does, reads the scalar instead: only then may it be
/// fused into others.
struct ReadScalarOfFilledInit : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumParallelLoops() != op.getNumLoops())
      return failure();
    bool changed = false;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      auto fill = init.get().getDefiningOp<linalg::FillOp>();
      BlockArgument argument = op.getMatchingBlockArgument(&init);
      if (!fill || argument.use_empty())
        continue;
      rewriter.replaceAllUsesWith(argument, fill.getInputs()[0]);
      rewriter.modifyOpInPlace(op, [&] { init.set(fill.getDpsInits()[0]); });
      changed = true;
    }
    return success(changed);
  }
};

} // namespace

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
  patterns.add<ReadScalarOfFilledInit>(context);
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
  if (failed(applyPatternsGreedily(root, std::move(patterns), config)))
    return failure();
  // Fusion may have copied a producer's body several times into one op.
  IRRewriter rewriter(context);
  DominanceInfo dominance(root);
  root->walk([&](linalg::GenericOp op) {
    eliminateCommonSubExpressions(rewriter, dominance, op);
  });
  return success();
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

static Value createFill(RewriterBase &rewriter, Location loc, Value scalar,
                        RankedTensorType type) {
  Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                        type.getElementType());
  return linalg::FillOp::create(rewriter, loc, scalar, empty).getResult(0);
}

/// Gives each use of a fill, and of a splat constant that is left as a whole
/// tensor, a fill of its own: a use that overwrites a shared one has to copy it
/// first, and constants would be stored in the program.
static void separateFills(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    auto type = op->getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                    : RankedTensorType();
    SplatElementsAttr splat;
    bool isLargeSplat = type && type.getNumElements() > 1 &&
                        matchPattern(op, m_Constant(&splat));
    if (isa<linalg::FillOp>(op) || isLargeSplat)
      ops.push_back(op);
  });
  IRRewriter rewriter(root->getContext());
  for (Operation *op : ops) {
    auto fill = dyn_cast<linalg::FillOp>(op);
    if (fill && (fill->hasOneUse() ||
                 !fill.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>()))
      continue;
    rewriter.setInsertionPoint(op);
    Value scalar =
        fill ? fill.getInputs()[0]
             : arith::ConstantOp::create(
                   rewriter, op->getLoc(),
                   cast<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue())
                       .getSplatValue<TypedAttr>());
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      rewriter.setInsertionPoint(use.getOwner());
      Value own = createFill(rewriter, op->getLoc(), scalar, type);
      rewriter.modifyOpInPlace(use.getOwner(), [&] { use.set(own); });
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
    separateFills(root);
  }
};

} // namespace
