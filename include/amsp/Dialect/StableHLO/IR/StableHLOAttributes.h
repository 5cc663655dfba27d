//===- StableHLOAttributes.h - Attributes of the ops ------------*- C++ -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOATTRIBUTES_H
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOATTRIBUTES_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

#include "amsp/Dialect/StableHLO/IR/StableHLOEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "amsp/Dialect/StableHLO/IR/StableHLOAttributes.h.inc"

namespace amsp::stablehlo {

/// The accuracy that a mode alone asks for, with no tolerance given.
ResultAccuracyAttr getResultAccuracy(mlir::MLIRContext *context,
                                     ResultAccuracyMode mode);

} // namespace amsp::stablehlo

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOATTRIBUTES_H
