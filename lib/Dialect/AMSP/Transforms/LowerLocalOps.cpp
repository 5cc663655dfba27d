//===- LowerLocalOps.cpp - Slices and masks by the group index ------------===//

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace amsp {
#define GEN_PASS_DEF_LOWERLOCALOPS
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

namespace {
/// Builds StableHLO ops at one place.
struct HloBuilder {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value) {
    auto type = RankedTensorType::get({}, builder.getI32Type());
    return stablehlo::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, static_cast<int32_t>(value)));
  }
  Value zeros(RankedTensorType type) {
    return stablehlo::ConstantOp::create(
        builder, loc, cast<ElementsAttr>(builder.getZeroAttr(type)));
  }
  Value groupIndex(GroupAttr group) {
    auto type = RankedTensorType::get({}, builder.getI32Type());
    return GroupIndexOp::create(builder, loc, type, group);
  }
  Value multiply(Value lhs, int64_t factor) {
    return stablehlo::MulOp::create(builder, loc, lhs, constant(factor));
  }
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    auto type =
        RankedTensorType::get(shape, getTensorType(value).getElementType());
    if (value.getType() == type)
      return value;
    return stablehlo::ReshapeOp::create(builder, loc, type, value);
  }
  Value broadcast(Value scalar, ArrayRef<int64_t> shape) {
    auto type =
        RankedTensorType::get(shape, getTensorType(scalar).getElementType());
    return stablehlo::BroadcastInDimOp::create(builder, loc, type, scalar,
                                               ArrayRef<int64_t>{});
  }
  /// Extends the last dimension to `size`; what is there is of no matter.
  Value padLast(Value value, int64_t size) {
    RankedTensorType type = getTensorType(value);
    int64_t missing = size - type.getShape().back();
    if (missing == 0)
      return value;
    SmallVector<int64_t> shape(type.getShape()), none(shape.size(), 0);
    shape.back() = size;
    SmallVector<int64_t> high = none;
    high.back() = missing;
    Type element = type.getElementType();
    return stablehlo::PadOp::create(
        builder, loc, RankedTensorType::get(shape, element), value,
        zeros(RankedTensorType::get({}, element)), none, high, none);
  }
  /// Cuts the last dimension down to `size`.
  Value truncateLast(Value value, int64_t size) {
    RankedTensorType type = getTensorType(value);
    if (type.getShape().back() == size)
      return value;
    SmallVector<int64_t> limits(type.getShape()), starts(limits.size(), 0),
        strides(limits.size(), 1);
    limits.back() = size;
    return stablehlo::SliceOp::create(
        builder, loc, RankedTensorType::get(limits, type.getElementType()),
        value, starts, limits, strides);
  }
};

/// The shape of a value with all but the leading `keep` dimensions flattened.
SmallVector<int64_t> flattenShape(RankedTensorType type, int64_t keep) {
  SmallVector<int64_t> shape(type.getShape().take_front(keep));
  shape.push_back(ShapedType::getNumElements(type.getShape().drop_front(keep)));
  return shape;
}

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
    RankedTensorType full = getTensorType(op.getResult());
    SmallVector<int64_t> flat = flattenShape(full, op.getKeep());
    Value value = hlo.truncateLast(op.getOperand(), flat.back());
    rewriter.replaceOp(op, hlo.reshape(value, full.getShape()));
    return success();
  }
};

struct LowerMaskPadding : OpRewritePattern<MaskPaddingOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MaskPaddingOp op,
                                PatternRewriter &rewriter) const override {
    HloBuilder hlo = {rewriter, op.getLoc()};
    RankedTensorType type = getTensorType(op.getOperand());
    int64_t last = type.getRank() - 1;
    int64_t piece = type.getDimSize(last);
    auto indexType =
        RankedTensorType::get(type.getShape(), rewriter.getI32Type());
    Value position =
        stablehlo::IotaOp::create(rewriter, op.getLoc(), indexType,
                                  rewriter.getI64IntegerAttr(last));
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
