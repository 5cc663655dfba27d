//===- StableHLOOps.h - The ops ---------------------------------*- C++ -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOOPS_H
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOOPS_H

#include "amsp/Dialect/StableHLO/IR/StableHLOAttributes.h"
#include "amsp/Dialect/StableHLO/IR/StableHLODialect.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOTraits.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOWindow.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h.inc"

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOOPS_H
