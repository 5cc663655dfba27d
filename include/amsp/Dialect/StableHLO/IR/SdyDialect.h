//===- SdyDialect.h - Shardings that an export may carry --------*- C++ -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_SDYDIALECT_H
#define AMSP_DIALECT_STABLEHLO_IR_SDYDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "amsp/Dialect/StableHLO/IR/SdyDialect.h.inc"

#define GET_OP_CLASSES
#include "amsp/Dialect/StableHLO/IR/SdyOps.h.inc"

#endif // AMSP_DIALECT_STABLEHLO_IR_SDYDIALECT_H
