//===- Slices.cpp - Slices, pads, concatenations --------------------------===//

#include "Patterns.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace amsp;

static SmallVector<OpFoldResult> toIndices(OpBuilder &b,
                                           ArrayRef<int64_t> values) {
  return getAsIndexOpFoldResult(b.getContext(), values);
}

namespace {

struct ConvertSlice : OpConversionPattern<stablehlo::SliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::SliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (type.getNumElements() == 0) {
      // It may begin behind the last element.
      ImplicitLocOpBuilder b(op.getLoc(), rewriter);
      rewriter.replaceOp(op, createEmpty(b, type));
      return success();
    }
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, type, adaptor.getOperand(),
        toIndices(rewriter, op.getStartIndices()),
        toIndices(rewriter, type.getShape()),
        toIndices(rewriter, op.getStrides()));
    return success();
  }
};

/// A result filled with the padding, into which the operand is inserted with a
/// stride; what negative padding cuts off is left out.
struct ConvertPad : OpConversionPattern<stablehlo::PadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::PadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    auto operandType = cast<RankedTensorType>(adaptor.getOperand().getType());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value result =
        createFill(b, type, extractScalar(b, adaptor.getPaddingValue()));
    SmallVector<int64_t> firsts, sizes, offsets, strides;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      int64_t stride = op.getInteriorPadding()[dim] + 1;
      int64_t low = op.getEdgePaddingLow()[dim];
      // Element i lands at low + i * stride.
      int64_t first = low < 0 ? llvm::divideCeil(-low, stride) : 0;
      int64_t end =
          std::min(operandType.getDimSize(dim),
                   llvm::divideCeilSigned(type.getDimSize(dim) - low, stride));
      firsts.push_back(first);
      sizes.push_back(std::max<int64_t>(0, end - first));
      offsets.push_back(low + first * stride);
      strides.push_back(stride);
    }
    if (!llvm::is_contained(sizes, 0)) {
      Value kept = adaptor.getOperand();
      SmallVector<OpFoldResult> ones(type.getRank(), b.getIndexAttr(1));
      if (ArrayRef(sizes) != operandType.getShape())
        kept = tensor::ExtractSliceOp::create(b, kept, toIndices(b, firsts),
                                              toIndices(b, sizes), ones);
      result = tensor::InsertSliceOp::create(
          b, kept, result, toIndices(b, offsets), toIndices(b, sizes),
          toIndices(b, strides));
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ConvertConcatenate : OpConversionPattern<stablehlo::ConcatenateOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ConcatenateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value result = createEmpty(b, type);
    SmallVector<OpFoldResult> ones(type.getRank(), b.getIndexAttr(1));
    SmallVector<int64_t> offsets(type.getRank(), 0);
    int64_t dim = op.getDimension();
    for (Value input : adaptor.getInputs()) {
      auto inputType = cast<RankedTensorType>(input.getType());
      if (inputType.getNumElements() != 0)
        result = tensor::InsertSliceOp::create(
            b, input, result, toIndices(b, offsets),
            toIndices(b, inputType.getShape()), ones);
      offsets[dim] += inputType.getDimSize(dim);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

/// The start of a dynamic slice as indices, clamped so that the slice lies
/// inside. `types` say whether the starts are signed.
static SmallVector<OpFoldResult> clampStarts(ImplicitLocOpBuilder &b,
                                             ValueRange starts, TypeRange types,
                                             RankedTensorType operand,
                                             ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> clamped;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    int64_t last = operand.getDimSize(dim) - sizes[dim];
    if (last == 0) {
      clamped.push_back(b.getIndexAttr(0));
      continue;
    }
    Value scalar = extractScalar(b, start);
    Value limit = arith::ConstantIndexOp::create(b, last);
    if (getElementTypeOrSelf(types[dim]).isUnsignedInteger()) {
      Value index = arith::IndexCastUIOp::create(b, b.getIndexType(), scalar);
      clamped.push_back(b.createOrFold<arith::MinUIOp>(index, limit));
      continue;
    }
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value index = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), scalar);
    index = b.createOrFold<arith::MaxSIOp>(index, zero);
    index = b.createOrFold<arith::MinSIOp>(index, limit);
    clamped.push_back(getAsOpFoldResult(index));
  }
  return clamped;
}

namespace {

struct ConvertDynamicSlice : OpConversionPattern<stablehlo::DynamicSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::DynamicSliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<OpFoldResult> starts = clampStarts(
        b, adaptor.getStartIndices(), op.getStartIndices().getTypes(),
        cast<RankedTensorType>(adaptor.getOperand().getType()),
        op.getSliceSizes());
    SmallVector<OpFoldResult> ones(type.getRank(), b.getIndexAttr(1));
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, type, adaptor.getOperand(), starts, toIndices(b, type.getShape()),
        ones);
    return success();
  }
};

struct ConvertDynamicUpdateSlice
    : OpConversionPattern<stablehlo::DynamicUpdateSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::DynamicUpdateSliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto updateType = cast<RankedTensorType>(adaptor.getUpdate().getType());
    if (updateType.getNumElements() == 0) {
      rewriter.replaceOp(op, adaptor.getOperand());
      return success();
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<OpFoldResult> starts = clampStarts(
        b, adaptor.getStartIndices(), op.getStartIndices().getTypes(),
        cast<RankedTensorType>(adaptor.getOperand().getType()),
        updateType.getShape());
    SmallVector<OpFoldResult> ones(updateType.getRank(), b.getIndexAttr(1));
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
        op, adaptor.getUpdate(), adaptor.getOperand(), starts,
        toIndices(b, updateType.getShape()), ones);
    return success();
  }
};

} // namespace

void amsp::populateSlicePatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns) {
  patterns.add<ConvertSlice, ConvertPad, ConvertConcatenate,
               ConvertDynamicSlice, ConvertDynamicUpdateSlice>(
      converter, patterns.getContext());
}
