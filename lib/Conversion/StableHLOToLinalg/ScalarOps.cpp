//===- ScalarOps.cpp - StableHLO ops on scalars ---------------------------===//

#include "ScalarOps.h"

#include "ScalarArithmetic.h"
#include "amsp/Dialect/StableHLO/IR/CHLOOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace amsp;

Type amsp::getSignlessType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(type.getContext(), integer.getWidth());
  return type;
}

/// Emits a function of math. Types of 16 bits are computed in f32: no library
/// has them, and the detour costs at most half an ulp of the narrow type.
template <typename MathOp>
static Value emitMath(ImplicitLocOpBuilder &b, ValueRange operands) {
  Type type = operands.front().getType();
  if (type.getIntOrFloatBitWidth() >= 32)
    return MathOp::create(b, operands);
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(arith::ExtFOp::create(b, b.getF32Type(), operand));
  Value result = MathOp::create(b, wide);
  return arith::TruncFOp::create(b, type, result);
}

static Value emitLogistic(ImplicitLocOpBuilder &b, Value x) {
  Value one = emitFloatConstant(b, x.getType(), 1.0);
  Value exp = emitMath<math::ExpOp>(b, arith::NegFOp::create(b, x).getResult());
  return arith::DivFOp::create(b, one, arith::AddFOp::create(b, one, exp));
}

/// Ops whose operand and result share one floating-point type.
static Value emitFloatFunction(ImplicitLocOpBuilder &b, Operation *op,
                               ValueRange v) {
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](stablehlo::ExpOp) { return emitMath<math::ExpOp>(b, v); })
      .Case([&](stablehlo::Expm1Op) { return emitMath<math::ExpM1Op>(b, v); })
      .Case([&](stablehlo::LogOp) { return emitMath<math::LogOp>(b, v); })
      .Case([&](stablehlo::Log1pOp) { return emitMath<math::Log1pOp>(b, v); })
      .Case([&](stablehlo::TanhOp) { return emitMath<math::TanhOp>(b, v); })
      .Case([&](stablehlo::SineOp) { return emitMath<math::SinOp>(b, v); })
      .Case([&](stablehlo::CosineOp) { return emitMath<math::CosOp>(b, v); })
      .Case([&](stablehlo::TanOp) { return emitMath<math::TanOp>(b, v); })
      .Case([&](stablehlo::SqrtOp) { return emitMath<math::SqrtOp>(b, v); })
      .Case([&](stablehlo::RsqrtOp) { return emitMath<math::RsqrtOp>(b, v); })
      .Case([&](stablehlo::CbrtOp) { return emitMath<math::CbrtOp>(b, v); })
      .Case([&](stablehlo::CeilOp) { return emitMath<math::CeilOp>(b, v); })
      .Case([&](stablehlo::FloorOp) { return emitMath<math::FloorOp>(b, v); })
      .Case([&](stablehlo::Atan2Op) { return emitMath<math::Atan2Op>(b, v); })
      .Case([&](stablehlo::RoundNearestAfzOp) {
        return emitMath<math::RoundOp>(b, v);
      })
      .Case([&](stablehlo::RoundNearestEvenOp) {
        return emitMath<math::RoundEvenOp>(b, v);
      })
      .Case([&](stablehlo::LogisticOp) { return emitLogistic(b, v[0]); })
      .Case([&](chlo::AcosOp) { return emitMath<math::AcosOp>(b, v); })
      .Case([&](chlo::AcoshOp) { return emitMath<math::AcoshOp>(b, v); })
      .Case([&](chlo::AsinOp) { return emitMath<math::AsinOp>(b, v); })
      .Case([&](chlo::AsinhOp) { return emitMath<math::AsinhOp>(b, v); })
      .Case([&](chlo::AtanOp) { return emitMath<math::AtanOp>(b, v); })
      .Case([&](chlo::AtanhOp) { return emitMath<math::AtanhOp>(b, v); })
      .Case([&](chlo::CoshOp) { return emitMath<math::CoshOp>(b, v); })
      .Case([&](chlo::SinhOp) { return emitMath<math::SinhOp>(b, v); })
      .Case([&](chlo::ErfOp) { return emitMath<math::ErfOp>(b, v); })
      .Case([&](chlo::ErfcOp) { return emitMath<math::ErfcOp>(b, v); })
      .Default(Value());
}

/// Ops on integers or floats, told apart by the element type.
static Value emitArithmetic(ImplicitLocOpBuilder &b, Operation *op,
                            ValueRange v, Type type) {
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](stablehlo::AddOp) { return emitAdd(b, v[0], v[1]); })
      .Case([&](stablehlo::SubtractOp) { return emitSubtract(b, v[0], v[1]); })
      .Case([&](stablehlo::MulOp) { return emitMultiply(b, v[0], v[1]); })
      .Case([&](chlo::SquareOp) { return emitMultiply(b, v[0], v[0]); })
      .Case([&](stablehlo::DivOp) { return emitDivide(b, v[0], v[1], type); })
      .Case(
          [&](stablehlo::RemOp) { return emitRemainder(b, v[0], v[1], type); })
      .Case([&](stablehlo::MaxOp) { return emitMaximum(b, v[0], v[1], type); })
      .Case([&](stablehlo::MinOp) { return emitMinimum(b, v[0], v[1], type); })
      .Case([&](stablehlo::PowOp) {
        return isa<FloatType>(type) ? emitMath<math::PowFOp>(b, v)
                                    : emitIntegerPower(b, v[0], v[1], type);
      })
      .Case([&](stablehlo::AbsOp) { return emitAbs(b, v[0], type); })
      .Case([&](stablehlo::NegOp) { return emitNegate(b, v[0]); })
      .Case([&](stablehlo::SignOp) { return emitSign(b, v[0], type); })
      .Case([&](stablehlo::ClampOp) {
        Value low = emitMaximum(b, v[1], v[0], type);
        return emitMinimum(b, low, v[2], type);
      })
      .Default(Value());
}

static Value emitLogical(ImplicitLocOpBuilder &b, Operation *op, ValueRange v) {
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](stablehlo::AndOp) {
        return arith::AndIOp::create(b, v[0], v[1]);
      })
      .Case(
          [&](stablehlo::OrOp) { return arith::OrIOp::create(b, v[0], v[1]); })
      .Case([&](stablehlo::XorOp) {
        return arith::XOrIOp::create(b, v[0], v[1]);
      })
      .Case([&](stablehlo::NotOp) {
        Value ones = emitIntegerConstant(b, v[0].getType(), -1);
        return arith::XOrIOp::create(b, v[0], ones);
      })
      .Case([&](stablehlo::ShiftLeftOp) {
        return emitShift(b, ShiftKind::Left, v[0], v[1]);
      })
      .Case([&](stablehlo::ShiftRightLogicalOp) {
        return emitShift(b, ShiftKind::RightLogical, v[0], v[1]);
      })
      .Case([&](stablehlo::ShiftRightArithmeticOp) {
        return emitShift(b, ShiftKind::RightArithmetic, v[0], v[1]);
      })
      .Case([&](stablehlo::PopulationCountOp) {
        return math::CtPopOp::create(b, v[0]);
      })
      .Case([&](stablehlo::ClzOp) {
        return math::CountLeadingZerosOp::create(b, v[0]);
      })
      .Default(Value());
}

static Value emitCompare(ImplicitLocOpBuilder &b, stablehlo::CompareOp op,
                         ValueRange v, Type type) {
  bool totalOrder =
      op.getCompareType() == stablehlo::ComparisonType::TOTALORDER;
  Comparison comparison = [&] {
    switch (op.getComparisonDirection()) {
    case stablehlo::ComparisonDirection::EQ:
      return Comparison::EQ;
    case stablehlo::ComparisonDirection::NE:
      return Comparison::NE;
    case stablehlo::ComparisonDirection::GE:
      return Comparison::GE;
    case stablehlo::ComparisonDirection::GT:
      return Comparison::GT;
    case stablehlo::ComparisonDirection::LE:
      return Comparison::LE;
    case stablehlo::ComparisonDirection::LT:
      return Comparison::LT;
    }
    llvm_unreachable("all directions handled");
  }();
  return amsp::emitComparison(b, comparison, v[0], v[1], type, totalOrder);
}

Value amsp::emitScalarOp(ImplicitLocOpBuilder &b, Operation *op, ValueRange v) {
  if (op->getNumResults() != 1 || v.empty())
    return {};
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<ComplexType>(from) || isa<ComplexType>(to))
    return {};
  if (isa<FloatType>(from))
    if (Value value = emitFloatFunction(b, op, v))
      return value;
  if (Value value = emitArithmetic(b, op, v, to))
    return value;
  if (isa<IntegerType>(to))
    if (Value value = emitLogical(b, op, v))
      return value;
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](stablehlo::ConvertOp) {
        return emitScalarConvert(b, v[0], from, to);
      })
      .Case([&](stablehlo::CompareOp compare) {
        return emitCompare(b, compare, v, from);
      })
      .Case([&](stablehlo::SelectOp) {
        return arith::SelectOp::create(b, v[0], v[1], v[2]);
      })
      .Case([&](stablehlo::ReducePrecisionOp reduce) {
        return emitReducePrecision(b, v[0], reduce.getExponentBits(),
                                   reduce.getMantissaBits());
      })
      .Case([&](stablehlo::IsFiniteOp) { return emitIsFinite(b, v[0]); })
      .Case([&](stablehlo::BitcastConvertOp) -> Value {
        if (from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth())
          return {};
        if (v[0].getType() == getSignlessType(to))
          return v[0];
        return arith::BitcastOp::create(b, getSignlessType(to), v[0]);
      })
      .Default(Value());
}

/// The scalar value of a splat constant, or null.
static Value emitScalarConstant(ImplicitLocOpBuilder &b, Operation *op) {
  auto constant = dyn_cast<stablehlo::ConstantOp>(op);
  if (!constant)
    return {};
  auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
  if (!splat)
    return {};
  if (auto integer = dyn_cast<IntegerType>(splat.getElementType()))
    return arith::ConstantOp::create(
        b, b.getIntegerAttr(getSignlessType(integer),
                            splat.getSplatValue<APInt>()));
  return arith::ConstantOp::create(
      b,
      b.getFloatAttr(splat.getElementType(), splat.getSplatValue<APFloat>()));
}

LogicalResult amsp::emitScalarRegion(ImplicitLocOpBuilder &b, Block &block,
                                     ValueRange arguments,
                                     function_ref<Value(Value)> remap,
                                     SmallVectorImpl<Value> &results) {
  IRMapping scalars;
  scalars.map(block.getArguments(), arguments);
  auto lookup = [&](Value value) -> Value {
    if (Value scalar = scalars.lookupOrNull(value))
      return scalar;
    // Captured from above: a tensor of rank 0.
    return tensor::ExtractOp::create(b, remap(value), ValueRange());
  };
  for (Operation &op : block.without_terminator()) {
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), lookup);
    Value scalar = emitScalarConstant(b, &op);
    // Between tensors of rank 0 these change nothing.
    if (!scalar && isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(op))
      scalar = operands.front();
    if (!scalar)
      scalar = emitScalarOp(b, &op, operands);
    if (!scalar)
      return op.emitOpError("is not supported inside a reduction or scatter");
    scalars.map(op.getResult(0), scalar);
  }
  for (Value result : block.getTerminator()->getOperands())
    results.push_back(lookup(result));
  return success();
}
