//===- GemmShape.h - A contraction as a BLAS call ---------------*- C++ -*-===//

#ifndef AMSP_LIB_TARGET_CPU_GEMMSHAPE_H
#define AMSP_LIB_TARGET_CPU_GEMMSHAPE_H

#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "llvm/ADT/SmallVector.h"

namespace amsp {

/// The sizes and strides of an `amsp_gemm` of Step.h.
struct GemmShape {
  /// The output is column-major in its matrix dimensions: the operands change
  /// places, C^T = op(B)^T op(A)^T.
  bool swapOperands = false;
  bool transposeA = false, transposeB = false;
  bool accumulate = false;
  int64_t m = 1, n = 1, k = 1;
  int64_t lda = 1, ldb = 1, ldc = 1;
  llvm::SmallVector<int64_t> batchSizes, batchStridesA, batchStridesB,
      batchStridesC;
};

/// What a loop dimension of a contraction is, by the operands that it indexes.
enum class ContractionDim { Batch, M, N, K };

ContractionDim classifyDim(ContractOp op, unsigned dim);

/// One call that computes the contraction on its buffers; none if strides do
/// not allow it.
std::optional<GemmShape> matchGemm(ContractOp op);

} // namespace amsp

#endif // AMSP_LIB_TARGET_CPU_GEMMSHAPE_H
