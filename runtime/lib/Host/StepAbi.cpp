//===- StepAbi.cpp - The functions that compiled code calls ---------------===//
//
// They leave `execute` by longjmp when the world failed, so none may keep an
// object with a destructor alive at that point.
//
//===----------------------------------------------------------------------===//

#include "RankContext.h"

extern "C" {

int64_t amsp_rank_number(amsp_rank *rank) { return rank->number; }

void amsp_collective_start(amsp_rank *rank, const amsp_collective *collective,
                           const void *const *sources,
                           void *const *destinations) {
  if (!rank->start(*collective, sources, destinations))
    rank->leave();
}

void amsp_collective_await(amsp_rank *rank, const amsp_collective *collective) {
  if (!rank->await(*collective))
    rank->leave();
}

void amsp_gemm_run(amsp_rank *rank, const amsp_gemm *gemm, const void *a,
                   const void *b, void *c) {
  if (!rank->gemm(*gemm, a, b, c))
    rank->leave();
}

} // extern "C"
