//===- ScalarArithmetic.cpp - Arithmetic with XLA's corner cases ----------===//

#include "ScalarArithmetic.h"

#include "ScalarOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace amsp;

static bool isFloat(Value value) { return isa<FloatType>(value.getType()); }

/// Whether integers of the element type are signed. Signless ones are, but i1
/// is a truth value.
static bool isSigned(Type type) {
  return !type.isUnsignedInteger() && !type.isInteger(1);
}

Value amsp::emitFloatConstant(ImplicitLocOpBuilder &b, Type type,
                              double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}

Value amsp::emitIntegerConstant(ImplicitLocOpBuilder &b, Type type,
                                int64_t value) {
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
}

Value amsp::emitAdd(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  if (isFloat(lhs))
    return arith::AddFOp::create(b, lhs, rhs);
  if (lhs.getType().isInteger(1))
    return arith::OrIOp::create(b, lhs, rhs);
  return arith::AddIOp::create(b, lhs, rhs);
}

Value amsp::emitSubtract(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  if (isFloat(lhs))
    return arith::SubFOp::create(b, lhs, rhs);
  return arith::SubIOp::create(b, lhs, rhs);
}

Value amsp::emitMultiply(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  if (isFloat(lhs))
    return arith::MulFOp::create(b, lhs, rhs);
  if (lhs.getType().isInteger(1))
    return arith::AndIOp::create(b, lhs, rhs);
  return arith::MulIOp::create(b, lhs, rhs);
}

static Value emitEqual(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs, rhs);
}

Value amsp::emitDivide(ImplicitLocOpBuilder &b, Value lhs, Value rhs,
                       Type type) {
  if (isFloat(lhs))
    return arith::DivFOp::create(b, lhs, rhs);
  Type signless = lhs.getType();
  Value zero = emitIntegerConstant(b, signless, 0);
  Value one = emitIntegerConstant(b, signless, 1);
  Value minusOne = emitIntegerConstant(b, signless, -1);
  Value byZero = emitEqual(b, rhs, zero);
  if (!isSigned(type)) {
    Value safe = arith::SelectOp::create(b, byZero, one, rhs);
    Value quotient = arith::DivUIOp::create(b, lhs, safe);
    return arith::SelectOp::create(b, byZero, minusOne, quotient);
  }
  // Division by -1 may overflow, which traps: it is a negation.
  Value byMinusOne = emitEqual(b, rhs, minusOne);
  Value special = arith::OrIOp::create(b, byZero, byMinusOne);
  Value safe = arith::SelectOp::create(b, special, one, rhs);
  Value quotient = arith::DivSIOp::create(b, lhs, safe);
  Value negated = arith::SubIOp::create(b, zero, lhs);
  quotient = arith::SelectOp::create(b, byMinusOne, negated, quotient);
  return arith::SelectOp::create(b, byZero, minusOne, quotient);
}

Value amsp::emitRemainder(ImplicitLocOpBuilder &b, Value lhs, Value rhs,
                          Type type) {
  if (isFloat(lhs))
    return arith::RemFOp::create(b, lhs, rhs);
  Type signless = lhs.getType();
  Value zero = emitIntegerConstant(b, signless, 0);
  Value one = emitIntegerConstant(b, signless, 1);
  Value byZero = emitEqual(b, rhs, zero);
  Value special = byZero;
  if (isSigned(type)) {
    Value byMinusOne = emitEqual(b, rhs, emitIntegerConstant(b, signless, -1));
    special = arith::OrIOp::create(b, byZero, byMinusOne);
  }
  // The remainder by 1 is that by -1.
  Value safe = arith::SelectOp::create(b, special, one, rhs);
  Value remainder = isSigned(type)
                        ? Value(arith::RemSIOp::create(b, lhs, safe))
                        : Value(arith::RemUIOp::create(b, lhs, safe));
  return arith::SelectOp::create(b, byZero, lhs, remainder);
}

Value amsp::emitMaximum(ImplicitLocOpBuilder &b, Value lhs, Value rhs,
                        Type type) {
  if (isFloat(lhs))
    return arith::MaximumFOp::create(b, lhs, rhs);
  if (isSigned(type))
    return arith::MaxSIOp::create(b, lhs, rhs);
  return arith::MaxUIOp::create(b, lhs, rhs);
}

Value amsp::emitMinimum(ImplicitLocOpBuilder &b, Value lhs, Value rhs,
                        Type type) {
  if (isFloat(lhs))
    return arith::MinimumFOp::create(b, lhs, rhs);
  if (isSigned(type))
    return arith::MinSIOp::create(b, lhs, rhs);
  return arith::MinUIOp::create(b, lhs, rhs);
}

/// By squaring, one step per bit of the exponent. A negative exponent gives 0,
/// but for a base of 1 or -1.
Value amsp::emitIntegerPower(ImplicitLocOpBuilder &b, Value base,
                             Value exponent, Type type) {
  Type signless = base.getType();
  unsigned width = signless.getIntOrFloatBitWidth();
  Value zero = emitIntegerConstant(b, signless, 0);
  Value one = emitIntegerConstant(b, signless, 1);
  Value result = one;
  Value square = base;
  for (unsigned bit = 0; bit < width; ++bit) {
    Value mask =
        arith::ShLIOp::create(b, one, emitIntegerConstant(b, signless, bit));
    Value isSet =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                              arith::AndIOp::create(b, exponent, mask), zero);
    Value product = arith::MulIOp::create(b, result, square);
    result = arith::SelectOp::create(b, isSet, product, result);
    square = arith::MulIOp::create(b, square, square);
  }
  if (!isSigned(type))
    return result;
  Value isNegative =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, exponent, zero);
  Value minusOne = emitIntegerConstant(b, signless, -1);
  Value isUnit = arith::OrIOp::create(b, emitEqual(b, base, one),
                                      emitEqual(b, base, minusOne));
  // The bits of a negative exponent have the parity of its absolute value.
  Value isOdd =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                            arith::AndIOp::create(b, exponent, one), zero);
  Value unit = arith::SelectOp::create(b, isOdd, base, one);
  Value inverse = arith::SelectOp::create(b, isUnit, unit, zero);
  return arith::SelectOp::create(b, isNegative, inverse, result);
}

Value amsp::emitAbs(ImplicitLocOpBuilder &b, Value value, Type type) {
  if (isFloat(value))
    return math::AbsFOp::create(b, value);
  return isSigned(type) ? Value(math::AbsIOp::create(b, value)) : value;
}

Value amsp::emitNegate(ImplicitLocOpBuilder &b, Value value) {
  if (isFloat(value))
    return arith::NegFOp::create(b, value);
  return arith::SubIOp::create(b, emitIntegerConstant(b, value.getType(), 0),
                               value);
}

Value amsp::emitSign(ImplicitLocOpBuilder &b, Value value, Type type) {
  if (isFloat(value)) {
    Value zero = emitFloatConstant(b, value.getType(), 0.0);
    Value one = emitFloatConstant(b, value.getType(), 1.0);
    // "one": ordered and different, so neither a zero nor NaN.
    Value hasSign =
        arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, value, zero);
    Value sign = math::CopySignOp::create(b, one, value);
    return arith::SelectOp::create(b, hasSign, sign, value);
  }
  Value zero = emitIntegerConstant(b, value.getType(), 0);
  Value one = emitIntegerConstant(b, value.getType(), 1);
  Value isZero = emitEqual(b, value, zero);
  Value sign = one;
  if (isSigned(type)) {
    Value isNegative =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, value, zero);
    Value minusOne = emitIntegerConstant(b, value.getType(), -1);
    sign = arith::SelectOp::create(b, isNegative, minusOne, one);
  }
  return arith::SelectOp::create(b, isZero, zero, sign);
}

Value amsp::emitIsFinite(ImplicitLocOpBuilder &b, Value value) {
  Value magnitude = math::AbsFOp::create(b, value);
  Value infinity = arith::ConstantOp::create(
      b, b.getFloatAttr(
             value.getType(),
             APFloat::getInf(
                 cast<FloatType>(value.getType()).getFloatSemantics())));
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, magnitude,
                               infinity);
}

Value amsp::emitReducePrecision(ImplicitLocOpBuilder &b, Value value,
                                unsigned exponentBits, unsigned mantissaBits) {
  auto floatType = cast<FloatType>(value.getType());
  unsigned width = floatType.getWidth();
  unsigned ownMantissa = floatType.getFPMantissaWidth() - 1;
  unsigned ownExponent = width - 1 - ownMantissa;
  Type type = b.getIntegerType(width);
  auto constant = [&](const APInt &bits) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, bits));
  };
  Value bits = arith::BitcastOp::create(b, type, value);
  Value rounded = bits;
  if (mantissaBits < ownMantissa) {
    // Half of the last place that remains, less one where that place is even.
    unsigned dropped = ownMantissa - mantissaBits;
    Value last = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, bits, constant(APInt(width, dropped))),
        constant(APInt(width, 1)));
    Value bias = arith::AddIOp::create(
        b, last, constant(APInt::getOneBitSet(width, dropped - 1) - 1));
    rounded =
        arith::AndIOp::create(b, arith::AddIOp::create(b, bits, bias),
                              constant(~APInt::getLowBitsSet(width, dropped)));
  }
  if (exponentBits < ownExponent) {
    // Exponents as they are stored, over the mantissa.
    APInt exponentMask = APInt::getBitsSet(width, ownMantissa, width - 1);
    APInt ownBias = APInt::getLowBitsSet(width, ownExponent - 1);
    APInt bias = APInt::getLowBitsSet(width, exponentBits - 1);
    APInt largest = (ownBias + bias).shl(ownMantissa);
    APInt smallest = (ownBias - bias).shl(ownMantissa);
    Value exponent = arith::AndIOp::create(b, rounded, constant(exponentMask));
    Value sign =
        arith::AndIOp::create(b, rounded, constant(APInt::getSignMask(width)));
    Value overflows = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt,
                                            exponent, constant(largest));
    Value underflows = arith::CmpIOp::create(b, arith::CmpIPredicate::ule,
                                             exponent, constant(smallest));
    Value infinity = arith::OrIOp::create(b, sign, constant(exponentMask));
    rounded = arith::SelectOp::create(b, overflows, infinity, rounded);
    rounded = arith::SelectOp::create(b, underflows, sign, rounded);
  }
  Value result = arith::BitcastOp::create(b, floatType, rounded);
  Value isNaN =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  return arith::SelectOp::create(b, isNaN, value, result);
}

Value amsp::emitShift(ImplicitLocOpBuilder &b, ShiftKind kind, Value value,
                      Value amount) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value limit = emitIntegerConstant(b, type, width - 1);
  Value inRange =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ule, amount, limit);
  Value safe = arith::SelectOp::create(b, inRange, amount, limit);
  if (kind == ShiftKind::RightArithmetic)
    return arith::ShRSIOp::create(b, value, safe);
  Value shifted = kind == ShiftKind::Left
                      ? Value(arith::ShLIOp::create(b, value, safe))
                      : Value(arith::ShRUIOp::create(b, value, safe));
  return arith::SelectOp::create(b, inRange, shifted,
                                 emitIntegerConstant(b, type, 0));
}

static arith::CmpFPredicate getFloatPredicate(Comparison comparison) {
  switch (comparison) {
  case Comparison::EQ:
    return arith::CmpFPredicate::OEQ;
  case Comparison::NE:
    return arith::CmpFPredicate::UNE;
  case Comparison::GE:
    return arith::CmpFPredicate::OGE;
  case Comparison::GT:
    return arith::CmpFPredicate::OGT;
  case Comparison::LE:
    return arith::CmpFPredicate::OLE;
  case Comparison::LT:
    return arith::CmpFPredicate::OLT;
  }
  llvm_unreachable("all comparisons handled");
}

static arith::CmpIPredicate getIntegerPredicate(Comparison comparison,
                                                bool isSigned) {
  using Predicate = arith::CmpIPredicate;
  switch (comparison) {
  case Comparison::EQ:
    return Predicate::eq;
  case Comparison::NE:
    return Predicate::ne;
  case Comparison::GE:
    return isSigned ? Predicate::sge : Predicate::uge;
  case Comparison::GT:
    return isSigned ? Predicate::sgt : Predicate::ugt;
  case Comparison::LE:
    return isSigned ? Predicate::sle : Predicate::ule;
  case Comparison::LT:
    return isSigned ? Predicate::slt : Predicate::ult;
  }
  llvm_unreachable("all comparisons handled");
}

/// An integer whose signed order is the total order of floats: the magnitude
/// bits of negative ones are inverted.
static Value emitTotalOrderKey(ImplicitLocOpBuilder &b, Value value) {
  Type type = b.getIntegerType(value.getType().getIntOrFloatBitWidth());
  unsigned width = type.getIntOrFloatBitWidth();
  Value bits = arith::BitcastOp::create(b, type, value);
  Value sign =
      arith::ShRSIOp::create(b, bits, emitIntegerConstant(b, type, width - 1));
  Value magnitude = arith::ConstantOp::create(
      b, b.getIntegerAttr(type, APInt::getSignedMaxValue(width)));
  return arith::XOrIOp::create(b, bits,
                               arith::AndIOp::create(b, sign, magnitude));
}

Value amsp::emitComparison(ImplicitLocOpBuilder &b, Comparison comparison,
                           Value lhs, Value rhs, Type type, bool totalOrder) {
  if (isFloat(lhs) && !totalOrder)
    return arith::CmpFOp::create(b, getFloatPredicate(comparison), lhs, rhs);
  bool isFloatKey = isFloat(lhs);
  if (isFloatKey) {
    lhs = emitTotalOrderKey(b, lhs);
    rhs = emitTotalOrderKey(b, rhs);
  }
  return arith::CmpIOp::create(
      b, getIntegerPredicate(comparison, isFloatKey || isSigned(type)), lhs,
      rhs);
}

/// Float to integer: values out of range saturate and NaN gives 0, where
/// arith's conversion alone is poison.
static Value emitFloatToInteger(ImplicitLocOpBuilder &b, Value value,
                                IntegerType to) {
  Type signless = getSignlessType(to);
  if (to.getWidth() == 1)
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, value,
                                 emitFloatConstant(b, value.getType(), 0.0));
  // 16-bit floats may not hold the limits.
  if (value.getType().getIntOrFloatBitWidth() < 32)
    value = arith::ExtFOp::create(b, b.getF32Type(), value);
  Type from = value.getType();
  unsigned width = to.getWidth();
  bool toSigned = isSigned(to);
  // The first value above the range and the lowest inside are powers of two.
  double above = std::ldexp(1.0, toSigned ? width - 1 : width);
  double lowest = toSigned ? -above : 0.0;
  APInt maxInt =
      toSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  APInt minInt =
      toSigned ? APInt::getSignedMinValue(width) : APInt::getMinValue(width);
  auto constant = [&](const APInt &limit) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(signless, limit));
  };
  auto compare = [&](arith::CmpFPredicate predicate, double limit) -> Value {
    return arith::CmpFOp::create(b, predicate, value,
                                 emitFloatConstant(b, from, limit));
  };
  Value result = toSigned ? Value(arith::FPToSIOp::create(b, signless, value))
                          : Value(arith::FPToUIOp::create(b, signless, value));
  result = arith::SelectOp::create(
      b, compare(arith::CmpFPredicate::OLT, lowest), constant(minInt), result);
  result = arith::SelectOp::create(b, compare(arith::CmpFPredicate::OGE, above),
                                   constant(maxInt), result);
  Value isNaN =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  return arith::SelectOp::create(b, isNaN, emitIntegerConstant(b, signless, 0),
                                 result);
}

static Value emitFloatToFloat(ImplicitLocOpBuilder &b, Value value, Type to) {
  unsigned fromWidth = value.getType().getIntOrFloatBitWidth();
  unsigned toWidth = to.getIntOrFloatBitWidth();
  if (value.getType() == to)
    return value;
  // Between bf16 and f16, which hold different values, and between bf16 and f64
  // through f32; so does XLA, although it rounds f64 twice.
  Type single = b.getF32Type();
  bool isBetweenHalves = fromWidth == toWidth;
  bool isFarFromBF16 = (value.getType().isBF16() && to.isF64()) ||
                       (value.getType().isF64() && to.isBF16());
  if (isBetweenHalves || isFarFromBF16)
    value = emitFloatToFloat(b, value, single);
  if (value.getType().getIntOrFloatBitWidth() < toWidth)
    return arith::ExtFOp::create(b, to, value);
  return arith::TruncFOp::create(b, to, value);
}

static Value emitIntegerToInteger(ImplicitLocOpBuilder &b, Value value,
                                  Type from, IntegerType to) {
  Type signless = getSignlessType(to);
  unsigned fromWidth = from.getIntOrFloatBitWidth();
  if (to.getWidth() == 1 && fromWidth > 1)
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value,
                                 emitIntegerConstant(b, value.getType(), 0));
  if (fromWidth == to.getWidth())
    return value;
  if (fromWidth > to.getWidth())
    return arith::TruncIOp::create(b, signless, value);
  if (isSigned(from))
    return arith::ExtSIOp::create(b, signless, value);
  return arith::ExtUIOp::create(b, signless, value);
}

Value amsp::emitScalarConvert(ImplicitLocOpBuilder &b, Value value, Type from,
                              Type to) {
  if (isFloat(value)) {
    if (auto integer = dyn_cast<IntegerType>(to))
      return emitFloatToInteger(b, value, integer);
    return emitFloatToFloat(b, value, to);
  }
  if (auto integer = dyn_cast<IntegerType>(to))
    return emitIntegerToInteger(b, value, from, integer);
  if (isSigned(from))
    return arith::SIToFPOp::create(b, to, value);
  return arith::UIToFPOp::create(b, to, value);
}
