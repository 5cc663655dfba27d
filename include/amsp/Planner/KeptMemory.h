//===- KeptMemory.h - What a rank keeps during a step -----------*- C++ -*-===//

#ifndef AMSP_PLANNER_KEPTMEMORY_H
#define AMSP_PLANNER_KEPTMEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp {

/// Bytes of the model's states on a rank while a step runs, padding included.
struct KeptMemory {
  /// Parameters between their first use and the last, in pieces of P; the value
  /// at rest lies inside.
  int64_t parameters = 0;
  /// Gradients between microbatches, in pieces of G.
  int64_t gradients = 0;
  /// Optimizer states, in pieces of OS.
  int64_t states = 0;
};

/// Counts them in the partitioned program of a rank: arguments, gathers that
/// are of no one use, and what loops carry from one reduction of a gradient to
/// the next.
KeptMemory countKeptMemory(mlir::func::FuncOp step);

} // namespace amsp

#endif // AMSP_PLANNER_KEPTMEMORY_H
