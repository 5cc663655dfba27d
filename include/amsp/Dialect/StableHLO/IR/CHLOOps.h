//===- CHLOOps.h - Ops that StableHLO ops can express -----------*- C++ -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_CHLOOPS_H
#define AMSP_DIALECT_STABLEHLO_IR_CHLOOPS_H

#include "amsp/Dialect/StableHLO/IR/StableHLODialect.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOTraits.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "amsp/Dialect/StableHLO/IR/CHLODialect.h.inc"

#define GET_OP_CLASSES
#include "amsp/Dialect/StableHLO/IR/CHLOOps.h.inc"

#endif // AMSP_DIALECT_STABLEHLO_IR_CHLOOPS_H
