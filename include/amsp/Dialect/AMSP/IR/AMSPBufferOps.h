//===- AMSPBufferOps.h - Ops of the buffer-level program --------*- C++ -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPBUFFEROPS_H
#define AMSP_DIALECT_AMSP_IR_AMSPBUFFEROPS_H

#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace amsp {
class ExchangeAwaitOp;
} // namespace amsp

#define GET_OP_CLASSES
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h.inc"

#endif // AMSP_DIALECT_AMSP_IR_AMSPBUFFEROPS_H
