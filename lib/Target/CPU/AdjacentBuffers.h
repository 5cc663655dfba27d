//===- AdjacentBuffers.h - Buffers of one collective side by side -*- C++ -*-=//

#ifndef AMSP_LIB_TARGET_CPU_ADJACENTBUFFERS_H
#define AMSP_LIB_TARGET_CPU_ADJACENTBUFFERS_H

#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace amsp {

/// For each all_reduce of several tensors whose operands are whole buffers: its
/// sources in their order, then its destinations. No buffer is there twice.
llvm::SmallVector<llvm::SmallVector<mlir::memref::AllocOp>>
findAdjacentBuffers(mlir::func::FuncOp function);

/// True for an all_reduce of several tensors that lie behind each other in the
/// arena, in the sources and in the destinations.
bool isContiguous(CollectiveStartOp op);

} // namespace amsp

#endif // AMSP_LIB_TARGET_CPU_ADJACENTBUFFERS_H
