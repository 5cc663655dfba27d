//===- AMSPOps.h - Collectives and rank-local ops ---------------*- C++ -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPOPS_H
#define AMSP_DIALECT_AMSP_IR_AMSPOPS_H

#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "amsp/Dialect/AMSP/IR/AMSPTypes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace amsp {

class AwaitOp;

/// Checks the tensors of a collective against its group and parts.
mlir::LogicalResult verifyCollective(mlir::Operation *op);

} // namespace amsp

#include "amsp/Dialect/AMSP/IR/CollectiveOpInterface.h.inc"

#define GET_OP_CLASSES
#include "amsp/Dialect/AMSP/IR/AMSPOps.h.inc"

#endif // AMSP_DIALECT_AMSP_IR_AMSPOPS_H
