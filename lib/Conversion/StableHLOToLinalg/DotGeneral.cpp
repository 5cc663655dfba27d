//===- DotGeneral.cpp - stablehlo.dot_general as linalg.contract ----------===//

#include "Patterns.h"
#include "ScalarArithmetic.h"
#include "ScalarOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace amsp;

namespace {

/// Indexing maps over the loops (batch, free of lhs, free of rhs, contracted).
struct ContractionMaps {
  AffineMap lhs, rhs, result;
  /// Sizes of the loops; the contracted ones are last.
  bool hasContraction;
};

} // namespace

static ContractionMaps computeMaps(stablehlo::DotGeneralOp op) {
  MLIRContext *context = op.getContext();
  auto numbers = op.getDotDimensionNumbers();
  auto lhsBatch = numbers.getLhsBatchingDimensions();
  auto rhsBatch = numbers.getRhsBatchingDimensions();
  auto lhsContracted = numbers.getLhsContractingDimensions();
  auto rhsContracted = numbers.getRhsContractingDimensions();
  int64_t lhsRank = cast<RankedTensorType>(op.getLhs().getType()).getRank();
  int64_t rhsRank = cast<RankedTensorType>(op.getRhs().getType()).getRank();

  SmallVector<AffineExpr> lhs(lhsRank), rhs(rhsRank), result;
  unsigned loops = 0;
  auto nextLoop = [&] { return getAffineDimExpr(loops++, context); };
  for (auto [left, right] : llvm::zip_equal(lhsBatch, rhsBatch)) {
    AffineExpr loop = nextLoop();
    lhs[left] = rhs[right] = loop;
    result.push_back(loop);
  }
  auto addFree = [&](MutableArrayRef<AffineExpr> side,
                     ArrayRef<int64_t> contracted) {
    for (auto [dim, expr] : llvm::enumerate(side)) {
      if (expr || llvm::is_contained(contracted, static_cast<int64_t>(dim)))
        continue;
      expr = nextLoop();
      result.push_back(expr);
    }
  };
  addFree(lhs, lhsContracted);
  addFree(rhs, rhsContracted);
  for (auto [left, right] : llvm::zip_equal(lhsContracted, rhsContracted))
    lhs[left] = rhs[right] = nextLoop();
  return {AffineMap::get(loops, 0, lhs, context),
          AffineMap::get(loops, 0, rhs, context),
          AffineMap::get(loops, 0, result, context), !lhsContracted.empty()};
}

/// Elementwise conversion of a whole tensor.
static Value convertTensor(ImplicitLocOpBuilder &b, Value tensor, Type from,
                           Type to) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType() == getSignlessType(to))
    return tensor;
  return createParallelGeneric(
      b, type.clone(getSignlessType(to)), tensor,
      b.getMultiDimIdentityMap(type.getRank()),
      [&](ImplicitLocOpBuilder &builder, ValueRange scalars) {
        return emitScalarConvert(builder, scalars[0], from, to);
      });
}

namespace {

struct ConvertDotGeneral : OpConversionPattern<stablehlo::DotGeneralOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(stablehlo::DotGeneralOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type lhsElement = getElementTypeOrSelf(op.getLhs().getType());
    Type rhsElement = getElementTypeOrSelf(op.getRhs().getType());
    Type element = getElementTypeOrSelf(op.getType());
    if (isa<ComplexType>(element))
      return rewriter.notifyMatchFailure(op, "complex numbers");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    // BLAS has f32 and f64: narrower floats are summed in f32.
    Type sumElement = element;
    if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
      sumElement = b.getF32Type();
    Value lhs = convertTensor(b, adaptor.getLhs(), lhsElement, sumElement);
    Value rhs = convertTensor(b, adaptor.getRhs(), rhsElement, sumElement);

    auto type =
        cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()))
            .clone(getSignlessType(sumElement));
    ContractionMaps maps = computeMaps(op);
    Value result = maps.hasContraction
                       ? emitContraction(b, type, lhs, rhs, maps)
                       : emitOuterProduct(b, type, lhs, rhs, maps);
    rewriter.replaceOp(op, convertTensor(b, result, sumElement, element));
    return success();
  }

private:
  static Value emitContraction(ImplicitLocOpBuilder &b, RankedTensorType type,
                               Value lhs, Value rhs,
                               const ContractionMaps &maps) {
    Value zero =
        arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
    Value init = createFill(b, type, zero);
    // Sums of nothing.
    if (cast<RankedTensorType>(lhs.getType()).getNumElements() == 0 ||
        cast<RankedTensorType>(rhs.getType()).getNumElements() == 0)
      return init;
    return linalg::ContractOp::create(
               b, type, ValueRange{lhs, rhs}, init,
               b.getAffineMapArrayAttr({maps.lhs, maps.rhs, maps.result}))
        .getResult(0);
  }

  /// linalg.contract wants a contracted loop.
  static Value emitOuterProduct(ImplicitLocOpBuilder &b, RankedTensorType type,
                                Value lhs, Value rhs,
                                const ContractionMaps &maps) {
    return createParallelGeneric(
        b, type, {lhs, rhs}, {maps.lhs, maps.rhs},
        [](ImplicitLocOpBuilder &builder, ValueRange scalars) {
          return emitMultiply(builder, scalars[0], scalars[1]);
        });
  }
};

} // namespace

void amsp::populateDotGeneralPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns) {
  patterns.add<ConvertDotGeneral>(converter, patterns.getContext());
}
