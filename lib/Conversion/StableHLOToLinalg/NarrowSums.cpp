//===- NarrowSums.cpp - Sums of 16-bit floats are made in f32 -------------===//

#include "Patterns.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace amsp;

static bool isNarrowFloat(Type type) {
  return isa<BFloat16Type, Float16Type>(getElementTypeOrSelf(type));
}

static bool isAddition(Block &body) {
  if (!llvm::hasSingleElement(body.without_terminator()) ||
      body.getNumArguments() != 2)
    return false;
  auto add = dyn_cast<stablehlo::AddOp>(body.front());
  if (!add || body.getTerminator()->getOperand(0) != add.getResult())
    return false;
  Value lhs = add.getLhs(), rhs = add.getRhs();
  return (lhs == body.getArgument(0) && rhs == body.getArgument(1)) ||
         (lhs == body.getArgument(1) && rhs == body.getArgument(0));
}

namespace {

/// Sums of 16-bit floats become sums of f32, as contractions are: a bf16 sum
/// stops to grow when it is 256 times as large as what is added, be it of rows,
/// of a window, or of the gradients of equal tokens.
template <typename OpT> struct WidenNarrowSum : OpConversionPattern<OpT> {
  WidenNarrowSum(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern<OpT>(converter, context, /*benefit=*/3) {}

  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || !isNarrowFloat(op->getResult(0).getType()))
      return failure();
    if (!isAddition(op->getRegion(0).front()))
      return failure();
    if constexpr (std::is_same_v<OpT, stablehlo::ScatterOp>)
      if (op.getUniqueIndices()) // nothing meets
        return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Operation *wide = op->cloneWithoutRegions();
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
      if (isNarrowFloat(operand.getType()))
        wide->setOperand(index,
                         widen(b, operand, adaptor.getOperands()[index]));
    wide->getResult(0).setType(getWideType(op->getResult(0).getType()));
    rewriter.insert(wide);
    addRegion(wide->getRegion(0), b);
    rewriter.replaceOpWithNewOp<stablehlo::ConvertOp>(
        op, op->getResult(0).getType(), wide->getResult(0));
    return success();
  }

private:
  static RankedTensorType getWideType(Type type) {
    return cast<RankedTensorType>(type).clone(
        Float32Type::get(type.getContext()));
  }

  /// A constant stays one: other patterns look for sums that begin with zero.
  static Value widen(ImplicitLocOpBuilder &b, Value operand, Value converted) {
    RankedTensorType type = getWideType(operand.getType());
    SplatElementsAttr splat;
    if (!matchPattern(operand, m_Constant(&splat)))
      return stablehlo::ConvertOp::create(b, type, converted);
    bool losesInfo = false;
    auto value = splat.getSplatValue<APFloat>();
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return stablehlo::ConstantOp::create(b,
                                         DenseElementsAttr::get(type, value));
  }

  static void addRegion(Region &region, ImplicitLocOpBuilder &b) {
    OpBuilder::InsertionGuard guard(b);
    auto scalar = RankedTensorType::get({}, b.getF32Type());
    Block *block =
        b.createBlock(&region, {}, {scalar, scalar}, {b.getLoc(), b.getLoc()});
    Value sum = stablehlo::AddOp::create(b, block->getArgument(0),
                                         block->getArgument(1));
    stablehlo::ReturnOp::create(b, sum);
  }
};

} // namespace

void amsp::populateNarrowSumPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns) {
  patterns.add<WidenNarrowSum<stablehlo::ReduceOp>,
               WidenNarrowSum<stablehlo::ReduceWindowOp>,
               WidenNarrowSum<stablehlo::ScatterOp>>(converter,
                                                     patterns.getContext());
}
