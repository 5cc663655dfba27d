//===- ScalarArithmetic.h - Arithmetic with XLA's corner cases --*- C++ -*-===//
//
// Scalar arithmetic on signless values. Where an element type is given, it says
// whether an integer is signed.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_SCALARARITHMETIC_H
#define AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_SCALARARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace amsp {

enum class Comparison { EQ, NE, GE, GT, LE, LT };
enum class ShiftKind { Left, RightLogical, RightArithmetic };

mlir::Value emitFloatConstant(mlir::ImplicitLocOpBuilder &builder,
                              mlir::Type type, double value);
mlir::Value emitIntegerConstant(mlir::ImplicitLocOpBuilder &builder,
                                mlir::Type type, int64_t value);

mlir::Value emitAdd(mlir::ImplicitLocOpBuilder &builder, mlir::Value lhs,
                    mlir::Value rhs);
mlir::Value emitSubtract(mlir::ImplicitLocOpBuilder &builder, mlir::Value lhs,
                         mlir::Value rhs);
mlir::Value emitMultiply(mlir::ImplicitLocOpBuilder &builder, mlir::Value lhs,
                         mlir::Value rhs);
/// Integers: x / 0 is -1 (all bits set), the smallest value / -1 is itself.
mlir::Value emitDivide(mlir::ImplicitLocOpBuilder &builder, mlir::Value lhs,
                       mlir::Value rhs, mlir::Type type);
/// Integers: the remainder by 0 is the dividend, that by -1 is 0.
mlir::Value emitRemainder(mlir::ImplicitLocOpBuilder &builder, mlir::Value lhs,
                          mlir::Value rhs, mlir::Type type);
mlir::Value emitMaximum(mlir::ImplicitLocOpBuilder &builder, mlir::Value lhs,
                        mlir::Value rhs, mlir::Type type);
mlir::Value emitMinimum(mlir::ImplicitLocOpBuilder &builder, mlir::Value lhs,
                        mlir::Value rhs, mlir::Type type);
mlir::Value emitIntegerPower(mlir::ImplicitLocOpBuilder &builder,
                             mlir::Value base, mlir::Value exponent,
                             mlir::Type type);
mlir::Value emitAbs(mlir::ImplicitLocOpBuilder &builder, mlir::Value value,
                    mlir::Type type);
mlir::Value emitNegate(mlir::ImplicitLocOpBuilder &builder, mlir::Value value);
/// Floats: NaN and zeros stay as they are.
mlir::Value emitSign(mlir::ImplicitLocOpBuilder &builder, mlir::Value value,
                     mlir::Type type);
mlir::Value emitIsFinite(mlir::ImplicitLocOpBuilder &builder,
                         mlir::Value value);
/// Rounds to a format of so many bits, ties to even: what is too large becomes
/// infinite, and what is below the normal numbers zero.
mlir::Value emitReducePrecision(mlir::ImplicitLocOpBuilder &builder,
                                mlir::Value value, unsigned exponentBits,
                                unsigned mantissaBits);
/// Shifts by the width or more give 0, or the sign.
mlir::Value emitShift(mlir::ImplicitLocOpBuilder &builder, ShiftKind kind,
                      mlir::Value value, mlir::Value amount);
mlir::Value emitComparison(mlir::ImplicitLocOpBuilder &builder,
                           Comparison comparison, mlir::Value lhs,
                           mlir::Value rhs, mlir::Type type, bool totalOrder);

} // namespace amsp

#endif // AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_SCALARARITHMETIC_H
