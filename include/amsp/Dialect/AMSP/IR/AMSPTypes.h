//===- AMSPTypes.h - Types of the amsp dialect ------------------*- C++ -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPTYPES_H
#define AMSP_DIALECT_AMSP_IR_AMSPTYPES_H

#include "mlir/IR/BuiltinTypes.h"

#define GET_TYPEDEF_CLASSES
#include "amsp/Dialect/AMSP/IR/AMSPTypes.h.inc"

#endif // AMSP_DIALECT_AMSP_IR_AMSPTYPES_H
