//===- FuseElementwise.cpp - Elementwise work in few loop nests -----------===//

#include "FusionHeuristics.h"
#include "amsp/Conversion/Passes.h"
#include "amsp/Dialect/StableHLO/IR/IterationBoundary.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/CSE.h"
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
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return applyPatternsGreedily(root, std::move(patterns), config);
}

/// Contractions are none of the two: expanded, they would become loops.
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
  return isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
             producer) &&
         producer->hasOneUse() && isGeneric(consumer) &&
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
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
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

/// A fill or a splat constant whose users get fills of their own.
static bool isSharedFill(Operation *op) {
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return !fill->hasOneUse() &&
           fill.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>();
  SplatElementsAttr splat;
  return matchPattern(op, m_Constant(&splat)) && splat.getNumElements() > 1;
}

static Value getFillValue(RewriterBase &rewriter, Operation *op) {
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return fill.getInputs()[0];
  auto constant = cast<arith::ConstantOp>(op);
  rewriter.setInsertionPoint(op);
  return arith::ConstantOp::create(
      rewriter, op->getLoc(),
      cast<SplatElementsAttr>(constant.getValue()).getSplatValue<TypedAttr>());
}

/// Gives each user of a fill, of a splat constant or of an empty tensor one of
/// its own, right before it. A user that writes to a shared one has to copy it
/// first, and splats would be stored in the program as whole tensors.
static void separateDestinations(Operation *root) {
  IRRewriter rewriter(root->getContext());
  SmallVector<Operation *> fills, empties;
  root->walk([&](Operation *op) {
    if (isSharedFill(op))
      fills.push_back(op);
  });
  auto replaceUses = [&](Operation *op, auto create) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      rewriter.setInsertionPoint(use.getOwner());
      Value own = create(tensor::EmptyOp::create(
          rewriter, op->getLoc(), type.getShape(), type.getElementType()));
      rewriter.modifyOpInPlace(use.getOwner(), [&] { use.set(own); });
    }
    rewriter.eraseOp(op);
  };
  for (Operation *op : fills) {
    Value scalar = getFillValue(rewriter, op);
    replaceUses(op, [&](Value empty) {
      return linalg::FillOp::create(rewriter, op->getLoc(), scalar, empty)
          .getResult(0);
    });
  }
  root->walk([&](tensor::EmptyOp op) { empties.push_back(op); });
  for (Operation *op : empties)
    replaceUses(op, [](Value empty) { return empty; });
}

/// What iterations written out of a loop were kept apart by.
static void eraseIterationBoundaries(Operation *root) {
  root->walk([](stablehlo::OptimizationBarrierOp op) {
    op.replaceAllUsesWith(op.getOperands());
    op.erase();
  });
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
    eraseIterationBoundaries(root);
    separateDestinations(root);
  }
};

} // namespace
