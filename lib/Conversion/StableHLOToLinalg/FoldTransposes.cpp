//===- FoldTransposes.cpp - Transposes into contractions ------------------===//

#include "amsp/Conversion/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace amsp {
#define GEN_PASS_DEF_FOLDTRANSPOSESINTOCONTRACTIONS
#include "amsp/Conversion/Passes.h.inc"
} // namespace amsp

using namespace mlir;

/// The loop that the last dimension of an operand follows.
static unsigned getInnermostLoop(AffineMap map) {
  return map.getDimPosition(map.getNumResults() - 1);
}

/// Whether a loop is a batch loop: in both inputs and the output.
static bool isBatchLoop(ArrayRef<AffineMap> maps, unsigned loop) {
  return llvm::all_of(maps,
                      [&](AffineMap map) { return map.isFunctionOfDim(loop); });
}

/// `map` for a tensor whose dimension i was dimension permutation[i].
static AffineMap permuteBack(AffineMap map, ArrayRef<int64_t> permutation) {
  SmallVector<AffineExpr> results(map.getNumResults());
  for (auto [dim, source] : llvm::enumerate(permutation))
    results[source] = map.getResult(dim);
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

namespace {

/// contract(transpose(x)) reads x through another map, unless a batch dimension
/// would come last: BLAS wants a row or a column contiguous.
struct FoldTransposeOfInput : OpRewritePattern<linalg::ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::ContractOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (OpOperand *input : op.getDpsInputOperands()) {
      auto transpose = input->get().getDefiningOp<linalg::TransposeOp>();
      if (!transpose)
        continue;
      unsigned number = input->getOperandNumber();
      AffineMap map = permuteBack(maps[number], transpose.getPermutation());
      if (isBatchLoop(maps, getInnermostLoop(map)))
        continue;
      maps[number] = map;
      rewriter.modifyOpInPlace(op, [&] {
        input->set(transpose.getInput());
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return failure();
  }
};

/// transpose(contract) with no other use of the contraction: it writes the
/// transposed result.
struct FoldTransposeOfResult : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto contract = op.getInput().getDefiningOp<linalg::ContractOp>();
    if (!contract || !contract->hasOneUse())
      return failure();
    auto fill = contract.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    if (!fill || !fill.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>())
      return failure();
    SmallVector<AffineMap> maps = contract.getIndexingMapsArray();
    SmallVector<AffineExpr> results;
    for (int64_t source : op.getPermutation())
      results.push_back(maps[2].getResult(source));
    AffineMap map =
        AffineMap::get(maps[2].getNumDims(), 0, results, rewriter.getContext());
    if (isBatchLoop(maps, getInnermostLoop(map)))
      return failure();
    maps[2] = map;

    rewriter.setInsertionPoint(contract);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value empty = tensor::EmptyOp::create(
        rewriter, op.getLoc(), type.getShape(), type.getElementType());
    Value init = linalg::FillOp::create(rewriter, op.getLoc(),
                                        fill.getInputs()[0], empty)
                     .getResult(0);
    auto transposed = linalg::ContractOp::create(
        rewriter, contract.getLoc(), type, contract.getInputs(), init,
        rewriter.getAffineMapArrayAttr(maps));
    rewriter.replaceOp(op, transposed);
    rewriter.eraseOp(contract);
    return success();
  }
};

struct FoldTransposesIntoContractionsPass
    : amsp::impl::FoldTransposesIntoContractionsBase<
          FoldTransposesIntoContractionsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldTransposeOfInput, FoldTransposeOfResult>(&getContext());
    // transpose(transpose(x)) meets on the way.
    linalg::TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
