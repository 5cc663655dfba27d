//===- LowerLocalOps.cpp - Slices and masks by the group index ------------===//

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/AMSP/Transforms/HloBuilder.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace amsp {
#define GEN_PASS_DEF_LOWERLOCALOPS
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {
struct LowerLocalSlice : OpRewritePattern<LocalSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LocalSliceOp op,
                                PatternRewriter &rewriter) const override {
    HloBuilder hlo = {rewriter, op.getLoc()};
    RankedTensorType piece = getTensorType(op.getResult());
    Value full = op.getOperand();
    int64_t dim = op.getDim().value_or(0);
    int64_t members = op.getGroup().getSize();
    if (!op.getDim()) {
      dim = op.getKeep();
      full = hlo.reshape(full, flattenShape(getTensorType(full), dim));
      full = hlo.padLast(full, piece.getShape().back() * members);
    }
    if (members == 1) {
      rewriter.replaceOp(op, hlo.reshape(full, piece.getShape()));
      return success();
    }
    SmallVector<Value> starts(piece.getRank(), hlo.constant(0));
    starts[dim] =
        hlo.multiply(hlo.groupIndex(op.getGroup()), piece.getDimSize(dim));
    rewriter.replaceOpWithNewOp<stablehlo::DynamicSliceOp>(
        op, piece, full, starts, piece.getShape());
    return success();
  }
};

/// Over one rank, gathering is a change of shape.
struct LowerTrivialGather : OpRewritePattern<AllGatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AllGatherOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getGroup().getSize() != 1)
      return failure();
    HloBuilder hlo = {rewriter, op.getLoc()};
    auto collective = cast<CollectiveOpInterface>(*op);
    SmallVector<Value> values;
    for (auto [index, piece] : llvm::enumerate(op.getOperands())) {
      RankedTensorType full = collective.getFullType(index);
      PartAttr part = collective.getPart(index);
      Value value = piece;
      if (!part.getDim())
        value =
            hlo.truncateLast(value, flattenShape(full, part.getKeep()).back());
      values.push_back(hlo.reshape(value, full.getShape()));
    }
    rewriter.replaceOp(op, values);
    return success();
  }
};

struct LowerMaskPadding : OpRewritePattern<MaskPaddingOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MaskPaddingOp op,
                                PatternRewriter &rewriter) const override {
    HloBuilder hlo = {rewriter, op.getLoc()};
    RankedTensorType type = getTensorType(op.getOperand());
    int64_t dim = op.getDim().value_or(type.getRank() - 1);
    int64_t piece = type.getDimSize(dim);
    auto indexType =
        RankedTensorType::get(type.getShape(), rewriter.getI32Type());
    Value position = stablehlo::IotaOp::create(rewriter, op.getLoc(), indexType,
                                               rewriter.getI64IntegerAttr(dim));
    // This rank's valid elements: those left of the group's after its turn.
    Value before = hlo.multiply(hlo.groupIndex(op.getGroup()), piece);
    Value valid = stablehlo::SubtractOp::create(
        rewriter, op.getLoc(), hlo.constant(op.getElements()), before);
    Value isValid = stablehlo::CompareOp::create(
        rewriter, op.getLoc(), position, hlo.broadcast(valid, type.getShape()),
        stablehlo::ComparisonDirection::LT,
        stablehlo::ComparisonTypeAttr::get(rewriter.getContext(),
                                           stablehlo::ComparisonType::SIGNED));
    rewriter.replaceOpWithNewOp<stablehlo::SelectOp>(
        op, isValid, op.getOperand(),
        hlo.broadcast(op.getValue(), type.getShape()));
    return success();
  }
};

struct LowerKeepOnFirst : OpRewritePattern<KeepOnFirstOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(KeepOnFirstOp op,
                                PatternRewriter &rewriter) const override {
    HloBuilder hlo = {rewriter, op.getLoc()};
    Value isFirst = stablehlo::CompareOp::create(
        rewriter, op.getLoc(), hlo.groupIndex(op.getGroup()), hlo.constant(0),
        stablehlo::ComparisonDirection::EQ,
        stablehlo::ComparisonTypeAttr::get(rewriter.getContext(),
                                           stablehlo::ComparisonType::SIGNED));
    rewriter.replaceOpWithNewOp<stablehlo::SelectOp>(
        op, isFirst, op.getOperand(),
        hlo.zeros(getTensorType(op.getOperand())));
    return success();
  }
};

struct LowerLocalOps : amsp::impl::LowerLocalOpsBase<LowerLocalOps> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerKeepOnFirst, LowerLocalSlice, LowerMaskPadding,
                 LowerTrivialGather>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
