//===- SpecialFunctions.h - Functions that no library offers ----*- C++ -*-===//

#ifndef AMSP_LIB_DIALECT_STABLEHLO_TRANSFORMS_SPECIALFUNCTIONS_H
#define AMSP_LIB_DIALECT_STABLEHLO_TRANSFORMS_SPECIALFUNCTIONS_H

#include "amsp/Dialect/StableHLO/Transforms/Expression.h"

namespace amsp::stablehlo {

// Of values of type f32 or f64.

Expression emitBesselI1e(const Expression &x);
Expression emitErfInv(const Expression &x);
Expression emitLgamma(const Expression &x);
Expression emitDigamma(const Expression &x);
Expression emitZeta(const Expression &s, const Expression &q);
Expression emitPolygamma(const Expression &n, const Expression &x);

} // namespace amsp::stablehlo

#endif // AMSP_LIB_DIALECT_STABLEHLO_TRANSFORMS_SPECIALFUNCTIONS_H
