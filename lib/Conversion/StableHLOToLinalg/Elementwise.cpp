//===- Elementwise.cpp - Elementwise ops as linalg.generic ----------------===//

#include "Patterns.h"
#include "ScalarOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace amsp;

Value amsp::createEmpty(ImplicitLocOpBuilder &b, RankedTensorType type) {
  return tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
}

Value amsp::createFill(ImplicitLocOpBuilder &b, RankedTensorType type,
                       Value scalar) {
  return linalg::FillOp::create(b, scalar, createEmpty(b, type)).getResult(0);
}

Value amsp::extractScalar(ImplicitLocOpBuilder &b, Value tensor) {
  SplatElementsAttr splat;
  if (matchPattern(tensor, m_Constant(&splat)))
    return arith::ConstantOp::create(b, splat.getSplatValue<TypedAttr>());
  return tensor::ExtractOp::create(b, tensor, ValueRange());
}

Value amsp::createParallelGeneric(
    ImplicitLocOpBuilder &b, RankedTensorType type, ValueRange inputs,
    ArrayRef<AffineMap> inputMaps,
    function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body) {
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, type, inputs, createEmpty(b, type), maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder builder(loc, nested);
        Value result = body(builder, arguments.drop_back());
        linalg::YieldOp::create(builder, result);
      });
  return generic.getResult(0);
}

namespace {

/// Any op with the Elementwise trait. Operands of rank 0 are read at every
/// point.
struct ConvertElementwise : ConversionPattern {
  ConvertElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op->hasTrait<stablehlo::Elementwise>() &&
        !isa<stablehlo::BitcastConvertOp>(op))
      return failure();
    auto type = getTypeConverter()->convertType<RankedTensorType>(
        op->getResult(0).getType());
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
    AffineMap scalar = AffineMap::get(type.getRank(), 0, op->getContext());
    SmallVector<AffineMap> maps;
    for (Value operand : operands) {
      auto operandType = cast<RankedTensorType>(operand.getType());
      if (operandType.getRank() != 0 && operandType.getRank() != type.getRank())
        return failure();
      maps.push_back(operandType.getRank() == 0 ? scalar : identity);
    }
    bool supported = true;
    Value result = createParallelGeneric(
        b, type, operands, maps,
        [&](ImplicitLocOpBuilder &builder, ValueRange scalars) -> Value {
          if (Value value = emitScalarOp(builder, op, scalars))
            return value;
          supported = false;
          return ub::PoisonOp::create(builder, type.getElementType());
        });
    if (!supported)
      return failure();
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void amsp::populateElementwisePatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<ConvertElementwise>(converter, patterns.getContext());
}
