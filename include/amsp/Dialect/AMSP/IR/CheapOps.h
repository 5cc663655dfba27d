//===- CheapOps.h - Ops that only pass over memory --------------*- C++ -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_CHEAPOPS_H
#define AMSP_DIALECT_AMSP_IR_CHEAPOPS_H

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"

namespace amsp {

/// True for ops that make each element of their result from a few elements, or
/// from none: no more than a pass over memory. Passes that move or repeat such
/// ops say by themselves which others they take: sums over dimensions, writes
/// into a part of a tensor.
inline bool isMemoryPass(mlir::Operation *op) {
  using namespace stablehlo;
  return op->hasTrait<Elementwise>() ||
         llvm::isa<BroadcastInDimOp, ConcatenateOp, ConstantOp, ConvertOp,
                   DynamicSliceOp, IotaOp, PadOp, ReshapeOp, ReverseOp, SliceOp,
                   TransposeOp, GroupIndexOp>(op);
}

} // namespace amsp

#endif // AMSP_DIALECT_AMSP_IR_CHEAPOPS_H
