//===- Expression.h - Formulas as StableHLO ops -----------------*- C++ -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_TRANSFORMS_EXPRESSION_H
#define AMSP_DIALECT_STABLEHLO_TRANSFORMS_EXPRESSION_H

#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace amsp::stablehlo {

/// A value with which formulas can be written; numbers become splats of its
/// type.
class Expression {
public:
  Expression(mlir::ImplicitLocOpBuilder &builder, mlir::Value value)
      : builder(&builder), value(value) {}
  operator mlir::Value() const { return value; }

  mlir::RankedTensorType getType() const {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }
  mlir::Type getElementType() const { return getType().getElementType(); }

  /// The number as a splat of this value's type.
  Expression number(double number) const { return splat(getRounded(number)); }
  Expression infinity() const {
    return splat(llvm::APFloat::getInf(
        llvm::cast<mlir::FloatType>(getElementType()).getFloatSemantics()));
  }
  Expression notANumber() const {
    return splat(llvm::APFloat::getNaN(
        llvm::cast<mlir::FloatType>(getElementType()).getFloatSemantics()));
  }

  template <typename OpTy> Expression unary() const {
    return {*builder, OpTy::create(*builder, value)};
  }
  template <typename OpTy> Expression binary(mlir::Value other) const {
    return {*builder, OpTy::create(*builder, value, other)};
  }
  Expression compare(ComparisonDirection direction, mlir::Value other) const {
    auto type = getType().clone(builder->getI1Type());
    return {*builder, CompareOp::create(*builder, type, value, other, direction,
                                        ComparisonTypeAttr())};
  }
  /// One of two values where this one, a predicate, holds.
  Expression select(mlir::Value yes, mlir::Value no) const {
    return {*builder, SelectOp::create(*builder, value, yes, no)};
  }
  Expression convert(mlir::Type element) const {
    return {*builder,
            ConvertOp::create(*builder, getType().clone(element), value)};
  }
  /// The elements along some dimensions, combined with a number.
  template <typename CombinerOp>
  Expression reduce(double first, llvm::ArrayRef<int64_t> dims) const {
    auto scalar = mlir::RankedTensorType::get({}, getElementType());
    mlir::Value init = ConstantOp::create(
        *builder, mlir::DenseElementsAttr::get(scalar, getRounded(first)));
    auto reduce = ReduceOp::create(*builder, mlir::ValueRange(value),
                                   mlir::ValueRange(init), dims);
    mlir::OpBuilder::InsertionGuard guard(*builder);
    mlir::Location loc = builder->getLoc();
    mlir::Block *body = builder->createBlock(&reduce.getBody(), {},
                                             {scalar, scalar}, {loc, loc});
    mlir::Value combined = CombinerOp::create(*builder, body->getArgument(0),
                                              body->getArgument(1));
    ReturnOp::create(*builder, combined);
    return {*builder, reduce->getResult(0)};
  }

private:
  llvm::APFloat getRounded(double number) const {
    llvm::APFloat element(number);
    bool isExact;
    element.convert(
        llvm::cast<mlir::FloatType>(getElementType()).getFloatSemantics(),
        llvm::APFloat::rmNearestTiesToEven, &isExact);
    return element;
  }
  Expression splat(const llvm::APFloat &element) const {
    return {*builder, ConstantOp::create(*builder, mlir::DenseElementsAttr::get(
                                                       getType(), element))};
  }

  mlir::ImplicitLocOpBuilder *builder;
  mlir::Value value;
};

inline Expression operator+(const Expression &a, const Expression &b) {
  return a.binary<AddOp>(b);
}
inline Expression operator-(const Expression &a, const Expression &b) {
  return a.binary<SubtractOp>(b);
}
inline Expression operator*(const Expression &a, const Expression &b) {
  return a.binary<MulOp>(b);
}
inline Expression operator/(const Expression &a, const Expression &b) {
  return a.binary<DivOp>(b);
}
inline Expression operator-(const Expression &a) { return a.unary<NegOp>(); }
inline Expression operator+(const Expression &a, double b) {
  return a + a.number(b);
}
inline Expression operator-(const Expression &a, double b) {
  return a - a.number(b);
}
inline Expression operator*(const Expression &a, double b) {
  return a * a.number(b);
}
inline Expression operator/(const Expression &a, double b) {
  return a / a.number(b);
}
inline Expression operator-(double a, const Expression &b) {
  return b.number(a) - b;
}
inline Expression operator/(double a, const Expression &b) {
  return b.number(a) / b;
}
inline Expression operator<(const Expression &a, const Expression &b) {
  return a.compare(ComparisonDirection::LT, b);
}
inline Expression operator<(const Expression &a, double b) {
  return a < a.number(b);
}
inline Expression operator>(const Expression &a, double b) {
  return a.number(b) < a;
}
inline Expression operator==(const Expression &a, const Expression &b) {
  return a.compare(ComparisonDirection::EQ, b);
}
inline Expression operator==(const Expression &a, double b) {
  return a == a.number(b);
}
inline Expression operator!=(const Expression &a, const Expression &b) {
  return a.compare(ComparisonDirection::NE, b);
}
inline Expression operator&&(const Expression &a, const Expression &b) {
  return a.binary<AndOp>(b);
}
inline Expression operator!(const Expression &a) { return a.unary<NotOp>(); }
inline Expression operator||(const Expression &a, const Expression &b) {
  return a.binary<OrOp>(b);
}
inline Expression abs(const Expression &x) { return x.unary<AbsOp>(); }
inline Expression floor(const Expression &x) { return x.unary<FloorOp>(); }
inline Expression exp(const Expression &x) { return x.unary<ExpOp>(); }
inline Expression log(const Expression &x) { return x.unary<LogOp>(); }
inline Expression log1p(const Expression &x) { return x.unary<Log1pOp>(); }
inline Expression sqrt(const Expression &x) { return x.unary<SqrtOp>(); }
inline Expression sin(const Expression &x) { return x.unary<SineOp>(); }
inline Expression cos(const Expression &x) { return x.unary<CosineOp>(); }
inline Expression pow(const Expression &x, const Expression &y) {
  return x.binary<PowOp>(y);
}
inline Expression isFinite(const Expression &x) {
  return x.unary<IsFiniteOp>();
}

/// By Horner's rule, the highest coefficient first.
inline Expression evaluatePolynomial(const Expression &x,
                                     llvm::ArrayRef<double> coefficients) {
  Expression sum = x.number(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = sum * x + coefficient;
  return sum;
}

} // namespace amsp::stablehlo

#endif // AMSP_DIALECT_STABLEHLO_TRANSFORMS_EXPRESSION_H
