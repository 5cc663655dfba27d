//===- DataMovement.cpp - Constants, broadcasts, reshapes -----------------===//

#include "Patterns.h"
#include "ScalarOps.h"
#include "amsp/Dialect/StableHLO/IR/IterationBoundary.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace amsp;

namespace {

struct ConvertConstant : OpConversionPattern<stablehlo::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ConstantOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto value = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!value || isa<ComplexType>(value.getElementType()))
      return rewriter.notifyMatchFailure(op, "not a dense constant");
    value = value.bitcast(getSignlessType(value.getElementType()));
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, value);
    return success();
  }
};

struct ConvertIota : OpConversionPattern<stablehlo::IotaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::IotaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (isa<ComplexType>(element))
      return failure();
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value result = createParallelGeneric(
        b, type, {}, {},
        [&](ImplicitLocOpBuilder &builder, ValueRange) -> Value {
          Value index = linalg::IndexOp::create(builder, op.getIotaDimension());
          Type i64 = builder.getI64Type();
          Value integer = arith::IndexCastOp::create(builder, i64, index);
          return emitScalarConvert(builder, integer, i64, element);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ConvertBroadcastInDim
    : OpConversionPattern<stablehlo::BroadcastInDimOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::BroadcastInDimOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    Value operand = adaptor.getOperand();
    auto operandType = cast<RankedTensorType>(operand.getType());
    SplatElementsAttr splat;
    if (matchPattern(operand, m_Constant(&splat))) {
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(
          op, DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()));
      return success();
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<AffineExpr> indices;
    for (auto [dim, resultDim] : llvm::enumerate(op.getBroadcastDimensions()))
      indices.push_back(operandType.getDimSize(dim) == 1
                            ? b.getAffineConstantExpr(0)
                            : b.getAffineDimExpr(resultDim));
    AffineMap map = AffineMap::get(type.getRank(), 0, indices, b.getContext());
    Value result = createParallelGeneric(
        b, type, operand, map,
        [](ImplicitLocOpBuilder &, ValueRange scalars) { return scalars[0]; });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Between widths: the wider element holds the narrower ones, the first in its
/// lowest bits.
struct ConvertBitcast : OpConversionPattern<stablehlo::BitcastConvertOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::BitcastConvertOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto from = cast<RankedTensorType>(adaptor.getOperand().getType());
    auto to = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!from.getElementType().isIntOrFloat() ||
        !to.getElementType().isIntOrFloat())
      return rewriter.notifyMatchFailure(op, "complex numbers");
    unsigned fromWidth = from.getElementTypeBitWidth();
    unsigned toWidth = to.getElementTypeBitWidth();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (fromWidth == toWidth || to.getNumElements() == 0)
      return failure();
    rewriter.replaceOp(op, fromWidth > toWidth
                               ? emitParts(b, adaptor.getOperand(), to)
                               : emitJoined(b, adaptor.getOperand(), to));
    return success();
  }

private:
  static Value castBits(ImplicitLocOpBuilder &b, Value value, Type type) {
    return value.getType() == type
               ? value
               : Value(arith::BitcastOp::create(b, type, value));
  }
  static IntegerType getBitsType(ImplicitLocOpBuilder &b, Type element) {
    return b.getIntegerType(element.getIntOrFloatBitWidth());
  }
  /// The bits in front of the part that the last loop counts.
  static Value emitOffset(ImplicitLocOpBuilder &b, unsigned loop,
                          IntegerType wide, unsigned partWidth) {
    Value index = linalg::IndexOp::create(b, loop);
    Value number = arith::IndexCastOp::create(b, wide, index);
    Value width =
        arith::ConstantOp::create(b, b.getIntegerAttr(wide, partWidth));
    return arith::MulIOp::create(b, number, width);
  }

  static Value emitParts(ImplicitLocOpBuilder &b, Value operand,
                         RankedTensorType type) {
    unsigned last = type.getRank() - 1;
    Type element = type.getElementType();
    return createParallelGeneric(
        b, type, operand,
        b.getMultiDimIdentityMap(type.getRank()).getMajorSubMap(last),
        [&](ImplicitLocOpBuilder &builder, ValueRange scalars) {
          IntegerType wide = getBitsType(builder, scalars[0].getType());
          IntegerType narrow = getBitsType(builder, element);
          Value bits = castBits(builder, scalars[0], wide);
          Value offset = emitOffset(builder, last, wide, narrow.getWidth());
          bits = arith::ShRUIOp::create(builder, bits, offset);
          bits = arith::TruncIOp::create(builder, narrow, bits);
          return castBits(builder, bits, element);
        });
  }

  static Value emitJoined(ImplicitLocOpBuilder &b, Value operand,
                          RankedTensorType type) {
    auto from = cast<RankedTensorType>(operand.getType());
    auto rank = static_cast<unsigned>(from.getRank());
    IntegerType wide = getBitsType(b, type.getElementType());
    RankedTensorType bitsType = type.clone(wide);
    Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(wide, 0));
    AffineMap identity = b.getMultiDimIdentityMap(rank);
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    iterators.back() = utils::IteratorType::reduction;
    auto joined = linalg::GenericOp::create(
        b, bitsType, operand, createFill(b, bitsType, zero),
        {identity, identity.getMajorSubMap(rank - 1)}, iterators,
        [&](OpBuilder &nested, Location loc, ValueRange scalars) {
          ImplicitLocOpBuilder builder(loc, nested);
          IntegerType narrow = getBitsType(builder, from.getElementType());
          Value bits = castBits(builder, scalars[0], narrow);
          bits = arith::ExtUIOp::create(builder, wide, bits);
          Value offset = emitOffset(builder, rank - 1, wide, narrow.getWidth());
          bits = arith::ShLIOp::create(builder, bits, offset);
          bits = arith::OrIOp::create(builder, scalars[1], bits);
          linalg::YieldOp::create(builder, bits);
        });
    if (type == bitsType)
      return joined.getResult(0);
    return createParallelGeneric(
        b, type, joined.getResult(0), b.getMultiDimIdentityMap(type.getRank()),
        [&](ImplicitLocOpBuilder &builder, ValueRange scalars) {
          return castBits(builder, scalars[0], type.getElementType());
        });
  }
};

/// A named op, so that contractions recognise it.
struct ConvertTranspose : OpConversionPattern<stablehlo::TransposeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::TransposeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOpWithNewOp<linalg::TransposeOp>(
        op, adaptor.getOperand(), createEmpty(b, type), op.getPermutation());
    return success();
  }
};

struct ConvertReverse : OpConversionPattern<stablehlo::ReverseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ReverseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    // A map with negative strides is refused: the body reads the element.
    Value result = createParallelGeneric(
        b, type, {}, {},
        [&](ImplicitLocOpBuilder &builder, ValueRange) -> Value {
          SmallVector<Value> indices;
          for (int64_t dim = 0; dim < type.getRank(); ++dim) {
            Value index = linalg::IndexOp::create(builder, dim);
            if (llvm::is_contained(op.getDimensions(), dim))
              index =
                  arith::SubIOp::create(builder,
                                        arith::ConstantIndexOp::create(
                                            builder, type.getDimSize(dim) - 1),
                                        index);
            indices.push_back(index);
          }
          return tensor::ExtractOp::create(builder, adaptor.getOperand(),
                                           indices);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Two shapes with equal element counts, both as groups of dimensions whose
/// products agree pairwise.
struct CommonGroups {
  SmallVector<ReassociationIndices> source, target;
  SmallVector<int64_t> sizes;
};

} // namespace

/// Splits the shapes of a reshape into the smallest groups of equal size. Sizes
/// are positive. Dimensions of size 1 at the end join the last group.
static CommonGroups findCommonGroups(ArrayRef<int64_t> source,
                                     ArrayRef<int64_t> target) {
  CommonGroups groups;
  size_t i = 0, j = 0;
  while (i < source.size() && j < target.size()) {
    ReassociationIndices sourceGroup{static_cast<int64_t>(i)};
    ReassociationIndices targetGroup{static_cast<int64_t>(j)};
    int64_t sourceSize = source[i++];
    int64_t targetSize = target[j++];
    while (sourceSize != targetSize) {
      if (sourceSize < targetSize) {
        sourceSize *= source[i];
        sourceGroup.push_back(i++);
      } else {
        targetSize *= target[j];
        targetGroup.push_back(j++);
      }
    }
    groups.source.push_back(sourceGroup);
    groups.target.push_back(targetGroup);
    groups.sizes.push_back(sourceSize);
  }
  if (!groups.sizes.empty()) {
    for (; i < source.size(); ++i)
      groups.source.back().push_back(i);
    for (; j < target.size(); ++j)
      groups.target.back().push_back(j);
  }
  return groups;
}

namespace {

struct ConvertReshape : OpConversionPattern<stablehlo::ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ReshapeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    Value value = adaptor.getOperand();
    auto sourceType = cast<RankedTensorType>(value.getType());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (sourceType == type) {
      rewriter.replaceOp(op, value);
      return success();
    }
    if (type.getNumElements() == 0) {
      rewriter.replaceOp(op, createEmpty(b, type));
      return success();
    }
    DenseElementsAttr constant;
    if (matchPattern(value, m_Constant(&constant))) {
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op,
                                                     constant.reshape(type));
      return success();
    }
    // Without common groups, one side has rank 0.
    CommonGroups groups =
        findCommonGroups(sourceType.getShape(), type.getShape());
    auto middle =
        RankedTensorType::get(groups.sizes, sourceType.getElementType());
    if (middle != sourceType)
      value = tensor::CollapseShapeOp::create(b, middle, value, groups.source);
    if (middle != type)
      value = tensor::ExpandShapeOp::create(b, type, value, groups.target);
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct ConvertOptimizationBarrier
    : OpConversionPattern<stablehlo::OptimizationBarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::OptimizationBarrierOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isIterationBoundary(op)) {
      rewriter.replaceOp(op, adaptor.getOperands());
      return success();
    }
    auto boundary = stablehlo::OptimizationBarrierOp::create(
        rewriter, op.getLoc(), TypeRange(adaptor.getOperands()),
        adaptor.getOperands());
    boundary->setAttr(kIterationAttr, op->getAttr(kIterationAttr));
    rewriter.replaceOp(op, boundary->getResults());
    return success();
  }
};

} // namespace

void amsp::populateDataMovementPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns.add<ConvertConstant, ConvertIota, ConvertBitcast,
               ConvertBroadcastInDim, ConvertTranspose, ConvertReverse,
               ConvertReshape, ConvertOptimizationBarrier>(
      converter, patterns.getContext());
}
