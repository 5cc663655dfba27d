//===- Step.h - The C ABI of a compiled step --------------------*- C -*-===//
//
// What `amsp-compile` writes into STEP.so and what a runtime offers to it.
// One program runs on every rank (SPMD); every target (CPU threads, MPI,
// CUDA) keeps this interface, so a compiled host program is the same for all.
//
// Conventions: sizes are in elements unless a name says bytes; a *digit* is a
// (stride, size) pair in global rank numbers; a *group* is a list of digits,
// most significant first. The group of rank r holds the ranks that differ from
// r in these digits only; the *index* of a member is the mixed-radix number of
// its digits, and orders the pieces of a gathered or scattered buffer.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_C_STEP_H
#define AMSP_C_STEP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AMSP_STEP_ABI_VERSION 2

/// Name of the only symbol that STEP.so exports: a constant `amsp_step`.
#define AMSP_STEP_SYMBOL "amsp_step_v1"

typedef enum amsp_dtype {
  AMSP_F64 = 0,
  AMSP_F32 = 1,
  AMSP_BF16 = 2,
  AMSP_F16 = 3,
  AMSP_I64 = 4,
  AMSP_I32 = 5,
  AMSP_I16 = 6,
  AMSP_I8 = 7,
  AMSP_U64 = 8,
  AMSP_U32 = 9,
  AMSP_U16 = 10,
  AMSP_U8 = 11,
  AMSP_I1 = 12 /* one byte, 0 or 1 */
} amsp_dtype;

typedef enum amsp_collective_kind {
  AMSP_ALL_GATHER = 0,
  AMSP_REDUCE_SCATTER = 1,
  AMSP_ALL_REDUCE = 2,
  AMSP_ALL_TO_ALL = 3
} amsp_collective_kind;

typedef enum amsp_reduction {
  AMSP_SUM = 0,
  AMSP_MAX = 1,
  AMSP_MIN = 2
} amsp_reduction;

/// Two channels may be in flight at once; within one, order is program order.
typedef enum amsp_channel {
  AMSP_CHANNEL_GATHER = 0,
  AMSP_CHANNEL_REDUCE = 1
} amsp_channel;

typedef struct amsp_digit {
  int64_t stride; /* distance in global ranks between neighbours */
  int64_t size;
} amsp_digit;

/// One tensor of a collective. The full side is `rows` rows of `full` elements
/// (contiguous, row stride `full`); a piece is `rows` rows of `piece` elements
/// (contiguous, row stride `piece`). Member i of a group of n owns elements
/// [i * piece, min((i + 1) * piece, full)) of every row; n * piece >= full. The
/// rest of the last pieces is padding: never read from, or written to, the
/// full side, and undefined on the piece side. all_reduce: piece == full.
/// all_to_all: both buffers are full sides, without padding: n * piece == full;
/// piece i of the destination is what member i has as this member's piece.
typedef struct amsp_collective_operand {
  int64_t rows;
  int64_t full;
  int64_t piece;
} amsp_collective_operand;

/// A static description, in the constant data of STEP.so.
typedef struct amsp_collective {
  int32_t id;        /* position in the manifest's "collectives" */
  int32_t kind;      /* amsp_collective_kind */
  int32_t reduction; /* amsp_reduction; of no meaning where nothing combines */
  int32_t dtype;     /* amsp_dtype, on the wire and in the buffers */
  int32_t channel;   /* amsp_channel */
  int32_t num_digits;
  int32_t num_operands;
  const amsp_digit *digits; /* num_digits, most significant first */
  const amsp_collective_operand *operands; /* num_operands */
  const char *name;                        /* for errors and traces */
  /// 1: an all_reduce whose operands lie behind each other in memory, in their
  /// order, in the sources and in the destinations, on every rank. It may be
  /// run as one operand, from the first source to the first destination; a
  /// start with other addresses is an error.
  int32_t contiguous;
} amsp_collective;

/// C[b] = (accumulate ? C[b] : 0) + op(A[b]) * op(B[b]), row-major, over up to
/// `num_batch_dims` nested batch dimensions with their own strides (elements).
typedef struct amsp_gemm {
  int32_t dtype; /* AMSP_F32 or AMSP_F64 */
  int32_t transpose_a;
  int32_t transpose_b;
  int32_t accumulate;
  int64_t m, n, k;
  int64_t lda, ldb, ldc;
  int32_t num_batch_dims;
  const int64_t *batch_sizes;
  const int64_t *batch_strides_a;
  const int64_t *batch_strides_b;
  const int64_t *batch_strides_c;
  const char *name;
} amsp_gemm;

/// The state of one rank in a run; opaque to compiled code.
typedef struct amsp_rank amsp_rank;

//===--- Offered by the runtime to compiled code --------------------------===//
// A failure (a stalled peer, an injected fault) does not return: the runtime
// leaves `execute` by longjmp, so compiled code holds nothing that needs to be
// released (the caller owns every buffer).

/// This rank's number, 0 <= number < world.
int64_t amsp_rank_number(amsp_rank *rank);

/// Starts a collective. Sources must not be written, nor destinations touched,
/// before the matching await. At most one start of a description is in flight,
/// and a step awaits everything that it starts.
/// A source may lie in its destination for all_reduce (the same buffer) and
/// for all_gather of one row (its own piece's place). Buffers without elements
/// may be null. The arrays are read before this returns. Members are combined
/// in the order of their index, so every run gives the same bits; 16-bit floats
/// in f32, rounded once; i1: sum, max are or, min is and; NaN wins max and min.
void amsp_collective_start(amsp_rank *rank, const amsp_collective *collective,
                           const void *const *sources,
                           void *const *destinations);
void amsp_collective_await(amsp_rank *rank, const amsp_collective *collective);

/// m, n, k or a batch size may be 0; k = 0 without accumulate writes zeros. A
/// leading dimension counts only where there is more than one row. Dimensions
/// must be below 2^31, as BLAS takes them.
void amsp_gemm_run(amsp_rank *rank, const amsp_gemm *gemm, const void *a,
                   const void *b, void *c);

//===--- Offered by compiled code to the runtime --------------------------===//

typedef struct amsp_step {
  uint32_t abi_version; /* AMSP_STEP_ABI_VERSION */
  const char *manifest; /* JSON, null-terminated; see docs/formats.md */
  /// One step on one rank. `arena`: the manifest's "arena_bytes", aligned to
  /// 64 bytes, content undefined. `arguments`: one local buffer per argument;
  /// state arguments are updated in place to their new values. `results`: one
  /// local buffer per result; null for results that are state.
  void (*execute)(amsp_rank *rank, void *arena, void *const *arguments,
                  void *const *results);
} amsp_step;

#ifdef __cplusplus
}
#endif

#endif /* AMSP_C_STEP_H */
