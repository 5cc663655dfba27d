//===- LegalizeCHLO.cpp - chlo to StableHLO -------------------------------===//

#include "SpecialFunctions.h"
#include "amsp/Dialect/StableHLO/IR/CHLOOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Dialect/StableHLO/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"

namespace amsp::stablehlo {
#define GEN_PASS_DEF_LEGALIZECHLO
#include "amsp/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace amsp::stablehlo

using namespace mlir;
using namespace amsp;

/// x * x
static LogicalResult expandSquare(chlo::SquareOp op,
                                  PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<stablehlo::MulOp>(op, op.getOperand(),
                                                op.getOperand());
  return success();
}

/// Applies a formula for f32 and f64; narrower operands are widened to f32.
template <typename Formula, typename... Values>
static Value emitWide(ImplicitLocOpBuilder &b, Formula formula,
                      Values... values) {
  auto widen = [&](Value value) {
    stablehlo::Expression x(b, value);
    unsigned width = x.getElementType().getIntOrFloatBitWidth();
    return width < 32 ? x.convert(b.getF32Type()) : x;
  };
  stablehlo::Expression result = formula(widen(values)...);
  std::array<Value, sizeof...(Values)> all = {values...};
  Type element = getElementTypeOrSelf(all.front().getType());
  return result.getElementType() == element ? result : result.convert(element);
}

template <typename OpTy,
          stablehlo::Expression (*formula)(const stablehlo::Expression &)>
static LogicalResult expandUnary(OpTy op, PatternRewriter &rewriter) {
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  rewriter.replaceOp(op, emitWide(b, formula, op.getOperand()));
  return success();
}

template <typename OpTy,
          stablehlo::Expression (*formula)(const stablehlo::Expression &,
                                           const stablehlo::Expression &)>
static LogicalResult expandBinary(OpTy op, PatternRewriter &rewriter) {
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  rewriter.replaceOp(op, emitWide(b, formula, op.getLhs(), op.getRhs()));
  return success();
}

/// Steps the bits of the number by one: up if that leads away from zero.
static LogicalResult expandNextAfter(chlo::NextAfterOp op,
                                     PatternRewriter &rewriter) {
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  auto type = cast<RankedTensorType>(op.getType());
  unsigned width = type.getElementTypeBitWidth();
  auto bitsType = type.clone(b.getIntegerType(width));
  auto constant = [&](const APInt &value) -> Value {
    return stablehlo::ConstantOp::create(
        b, DenseElementsAttr::get(bitsType, value));
  };
  auto toBits = [&](Value value) {
    return stablehlo::Expression(
        b, stablehlo::BitcastConvertOp::create(b, bitsType, value));
  };
  auto compare = [&](stablehlo::ComparisonDirection direction, Value lhs,
                     Value rhs) {
    return stablehlo::Expression(b, lhs).compare(direction, rhs);
  };
  stablehlo::Expression from(b, op.getLhs()), to(b, op.getRhs());
  stablehlo::Expression bits = toBits(from), target = toBits(to);
  Value signMask = constant(APInt::getSignMask(width));
  Value one = constant(APInt(width, 1));
  stablehlo::Expression sign = bits.binary<stablehlo::AndOp>(signMask);
  stablehlo::Expression targetSign = target.binary<stablehlo::AndOp>(signMask);
  stablehlo::Expression grows =
      compare(stablehlo::ComparisonDirection::EQ, sign, targetSign) &&
      abs(from) < abs(to);
  stablehlo::Expression stepped =
      grows.select(bits.binary<stablehlo::AddOp>(one),
                   bits.binary<stablehlo::SubtractOp>(one));
  // From zero, the smallest number with the target's sign.
  stepped =
      (from == 0.0).select(targetSign.binary<stablehlo::OrOp>(one), stepped);
  Value next = stablehlo::BitcastConvertOp::create(b, type, stepped);
  stablehlo::Expression result = (from == to).select(to, next);
  Value value = (from != from || to != to).select(from.notANumber(), result);
  rewriter.replaceOp(op, value);
  return success();
}

/// The first of the elements and their positions, sorted downwards.
static LogicalResult expandTopK(chlo::TopKOp op, PatternRewriter &rewriter) {
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  auto type = cast<RankedTensorType>(op.getOperand().getType());
  int64_t last = type.getRank() - 1;
  Value positions =
      stablehlo::IotaOp::create(b, type.clone(b.getI32Type()), last);
  auto sort =
      stablehlo::SortOp::create(b, ValueRange{op.getOperand(), positions},
                                b.getI64IntegerAttr(last), b.getBoolAttr(true));
  {
    OpBuilder::InsertionGuard guard(b);
    auto element = RankedTensorType::get({}, type.getElementType());
    auto position = RankedTensorType::get({}, b.getI32Type());
    Block *block = b.createBlock(&sort.getComparator(), {},
                                 {element, element, position, position},
                                 SmallVector<Location>(4, op.getLoc()));
    bool isFloat = isa<FloatType>(type.getElementType());
    Value isGreater = stablehlo::CompareOp::create(
        b, RankedTensorType::get({}, b.getI1Type()), block->getArgument(0),
        block->getArgument(1), stablehlo::ComparisonDirection::GT,
        isFloat ? stablehlo::ComparisonTypeAttr::get(
                      b.getContext(), stablehlo::ComparisonType::TOTALORDER)
                : stablehlo::ComparisonTypeAttr());
    stablehlo::ReturnOp::create(b, isGreater);
  }
  SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1);
  ArrayRef<int64_t> limits =
      cast<RankedTensorType>(op.getValues().getType()).getShape();
  SmallVector<Value> results;
  for (Value sorted : sort.getResults())
    results.push_back(
        stablehlo::SliceOp::create(b, sorted, starts, limits, strides));
  rewriter.replaceOp(op, results);
  return success();
}

void stablehlo::populateLegalizeCHLOPatterns(RewritePatternSet &patterns) {
  patterns.add(expandSquare);
  patterns.add(expandUnary<chlo::BesselI1eOp, emitBesselI1e>);
  patterns.add(expandUnary<chlo::ErfInvOp, emitErfInv>);
  patterns.add(expandUnary<chlo::LgammaOp, emitLgamma>);
  patterns.add(expandUnary<chlo::DigammaOp, emitDigamma>);
  patterns.add(expandBinary<chlo::PolygammaOp, emitPolygamma>);
  patterns.add(expandBinary<chlo::ZetaOp, emitZeta>);
  patterns.add(expandNextAfter);
  patterns.add(expandTopK);
}

namespace {
struct LegalizeCHLO : stablehlo::impl::LegalizeCHLOBase<LegalizeCHLO> {
  void runOnOperation() override {
    ConversionTarget target(getContext());
    target.addIllegalDialect<chlo::CHLODialect>();
    target.addLegalDialect<stablehlo::StableHLODialect>();
    // Functions that code generation has as they are.
    target.addLegalOp<chlo::AcosOp, chlo::AcoshOp, chlo::AsinOp, chlo::AsinhOp,
                      chlo::AtanOp, chlo::AtanhOp, chlo::CoshOp, chlo::ErfOp,
                      chlo::ErfcOp, chlo::SinhOp>();
    RewritePatternSet patterns(&getContext());
    stablehlo::populateLegalizeCHLOPatterns(patterns);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
