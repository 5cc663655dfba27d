//===- Gemm.h - Contractions ------------------------------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_HOST_GEMM_H
#define AMSP_RUNTIME_HOST_GEMM_H

#include "amsp-c/Step.h"

#include <string>

namespace amsp::runtime {

/// BLAS calls use the calling thread only: the ranks are the parallelism.
/// Called once, before ranks run.
void useSingleThreadedBlas();

/// Empty if done, else why the gemm cannot be run.
std::string runGemm(const amsp_gemm &gemm, const void *a, const void *b,
                    void *c);

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_GEMM_H
