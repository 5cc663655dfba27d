//===- StableHLODialect.h - The dialect -------------------------*- C++ -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLODIALECT_H
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLODIALECT_H

#include "mlir/IR/Dialect.h"

#include "amsp/Dialect/StableHLO/IR/StableHLODialect.h.inc"

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLODIALECT_H
