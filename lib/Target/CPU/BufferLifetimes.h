//===- BufferLifetimes.h - When buffers are in use --------------*- C++ -*-===//

#ifndef AMSP_LIB_TARGET_CPU_BUFFERLIFETIMES_H
#define AMSP_LIB_TARGET_CPU_BUFFERLIFETIMES_H

#include "BufferOverwrites.h"
#include "amsp/Target/CPU/ArenaPlanner.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp {

/// Numbers the ops of a function in program order: an op with regions spans the
/// numbers of all ops in it.
class ProgramOrder {
public:
  explicit ProgramOrder(mlir::func::FuncOp function) { number(function); }
  int64_t getBegin(mlir::Operation *op) const { return spans.lookup(op).first; }
  int64_t getEnd(mlir::Operation *op) const { return spans.lookup(op).second; }

private:
  void number(mlir::Operation *op);

  int64_t next = 0;
  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>> spans;
};

/// The lifetime of the buffer that `maker` allocates or places in the arena: it
/// lives from its first to its last access, seen from the block that makes it,
/// but for holes from a last read to where all of it is written anew. A loop in
/// that block keeps what one iteration leaves for the next. Never touched, its
/// end is negative.
LiveBuffer getLifetime(mlir::Operation *maker, const ProgramOrder &order,
                       BufferOverwrites &overwrites);

} // namespace amsp

#endif // AMSP_LIB_TARGET_CPU_BUFFERLIFETIMES_H
