/* Runs a step for one rank without a runtime and tells which bytes of the arena
 * it wrote: arena_probe STEP.so ARENA_BYTES ARGUMENT_BYTES... / RESULT_BYTES...
 * Contractions and collectives are replaced by writing every element of their
 * results. */

#include "amsp-c/Step.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 4096, MAX_BUFFERS = 1024 };

struct amsp_rank {
  int number;
};

int64_t amsp_rank_number(amsp_rank *rank) { return rank->number; }

void amsp_collective_start(amsp_rank *rank, const amsp_collective *collective,
                           const void *const *sources,
                           void *const *destinations) {
  (void)rank, (void)sources;
  static const int widths[] = {8, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1};
  for (int i = 0; i < collective->num_operands; ++i) {
    const amsp_collective_operand *operand = &collective->operands[i];
    int64_t row = collective->kind == AMSP_REDUCE_SCATTER ? operand->piece
                                                          : operand->full;
    memset(destinations[i], 0, operand->rows * row * widths[collective->dtype]);
  }
}

void amsp_collective_await(amsp_rank *rank, const amsp_collective *collective) {
  (void)rank, (void)collective;
}

static void fill(const amsp_gemm *gemm, int dim, float *c) {
  if (dim < gemm->num_batch_dims) {
    for (int64_t i = 0; i < gemm->batch_sizes[dim]; ++i)
      fill(gemm, dim + 1, c + i * gemm->batch_strides_c[dim]);
    return;
  }
  for (int64_t i = 0; i < gemm->m; ++i)
    for (int64_t j = 0; j < gemm->n; ++j)
      c[i * gemm->ldc + j] = 0.5F;
}

void amsp_gemm_run(amsp_rank *rank, const amsp_gemm *gemm, const void *a,
                   const void *b, void *c) {
  (void)rank, (void)a, (void)b;
  fill(gemm, 0, c);
}

int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW);
  const amsp_step *step = library ? dlsym(library, AMSP_STEP_SYMBOL) : NULL;
  if (!step) {
    fprintf(stderr, "error: %s\n", dlerror());
    return 1;
  }
  size_t arena_bytes = strtoull(argv[2], NULL, 10), total = arena_bytes + GUARD;
  unsigned char *changed = calloc(total, 1), *arena = NULL;
  /* A byte that happens to get the pattern's value differs from the other. */
  const unsigned char patterns[] = {0xA5, 0x3C};
  for (int pass = 0; pass < 2; ++pass) {
    void *buffers[2][MAX_BUFFERS] = {{0}};
    int list = 0, count = 0;
    for (int i = 3; i < argc; ++i) {
      if (strcmp(argv[i], "/") == 0) {
        list = 1, count = 0;
        continue;
      }
      size_t bytes = strtoull(argv[i], NULL, 10);
      buffers[list][count++] = bytes ? calloc(bytes, 1) : NULL;
    }
    arena = aligned_alloc(64, (total + 63) / 64 * 64);
    memset(arena, patterns[pass], total);
    amsp_rank rank = {0};
    step->execute(&rank, arena, buffers[0], buffers[1]);
    for (size_t i = 0; i < total; ++i)
      changed[i] |= arena[i] != patterns[pass];
  }
  size_t end = total;
  while (end > 0 && !changed[end - 1])
    --end;
  printf("%zu\n", end);
  return 0;
}
