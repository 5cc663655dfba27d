//===- BatchSize.h - Rows and tokens of the global batch --------*- C++ -*-===//

#ifndef AMSP_COMPILE_BATCHSIZE_H
#define AMSP_COMPILE_BATCHSIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cstdint>

namespace amsp {

/// What a step works on, on all ranks together.
struct BatchSize {
  int64_t rows = 0; // 0: no argument is batch
  /// Of the first batch argument of integers, [rows, sequence]; 0: there is
  /// none.
  int64_t tokens = 0;
};

/// `step`: an imported step.
BatchSize countBatch(mlir::func::FuncOp step);

} // namespace amsp

#endif // AMSP_COMPILE_BATCHSIZE_H
