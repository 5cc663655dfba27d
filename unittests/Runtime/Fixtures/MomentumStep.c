/*===- MomentumStep.c - A compiled step, written by hand -------------------===
 *
 * What amsp-compile would make of
 *
 *   loss = mean((x @ w - y) ** 2);  m' = 0.9 m + dloss/dw;  w' = w - 0.1 m'
 *
 * with w of 5 elements and 8 rows of x, on levels=2x2 with the batch split
 * over all four ranks and w, m flat over them: pieces of 2, so the last rank
 * holds padding only. It serves the tests of amsp-run.
 *
 *===----------------------------------------------------------------------===*/

#include "amsp-c/Step.h"

#define WORLD 4
#define FEATURES 5
#define ROWS 8
#define LOCAL_ROWS (ROWS / WORLD)
#define PIECE 2

/* Numbered as the ranks: the outer digit is the most significant. */
static const amsp_digit allRanks[] = {{2, 2}, {1, 2}};

static const amsp_collective_operand weightOperand[] = {{1, FEATURES, PIECE}};
static const amsp_collective_operand scalarOperand[] = {{1, 1, 1}};

static const amsp_collective gatherW = {
    0, AMSP_ALL_GATHER, AMSP_SUM,      AMSP_F32,  AMSP_CHANNEL_GATHER, 2,
    1, allRanks,        weightOperand, "gather.w"};
static const amsp_collective reduceG = {1,
                                        AMSP_REDUCE_SCATTER,
                                        AMSP_SUM,
                                        AMSP_F32,
                                        AMSP_CHANNEL_REDUCE,
                                        2,
                                        1,
                                        allRanks,
                                        weightOperand,
                                        "reduce.w"};
static const amsp_collective reduceLoss = {
    2, AMSP_ALL_REDUCE, AMSP_SUM,      AMSP_F32,     AMSP_CHANNEL_REDUCE, 2,
    1, allRanks,        scalarOperand, "reduce.loss"};

static const amsp_gemm predict = {AMSP_F32, 0,        0, 0,      LOCAL_ROWS, 1,
                                  FEATURES, FEATURES, 1, 1,      0,          0,
                                  0,        0,        0, "x @ w"};
static const amsp_gemm backward = {
    AMSP_F32, 1, 0, 0, FEATURES, 1, LOCAL_ROWS, FEATURES,
    1,        1, 0, 0, 0,        0, 0,          "x.T @ d"};

/* The arena, in floats. */
enum { FULL_W = 0, GRADIENT = 8, ERROR = 16, GRADIENT_PIECE = 24, ARENA = 32 };

static void execute(amsp_rank *rank, void *arena, void *const *arguments,
                    void *const *results) {
  float *w = arguments[0], *m = arguments[1];
  const float *x = arguments[2], *y = arguments[3];
  float *buffers = arena;
  float *fullW = buffers + FULL_W, *gradient = buffers + GRADIENT;
  float *error = buffers + ERROR, *gradientPiece = buffers + GRADIENT_PIECE;
  float *loss = results[2], *residual = results[3];

  const void *sources[] = {w};
  void *destinations[] = {fullW};
  amsp_collective_start(rank, &gatherW, sources, destinations);
  amsp_collective_await(rank, &gatherW);

  amsp_gemm_run(rank, &predict, x, fullW, error);
  *loss = 0;
  for (int i = 0; i < LOCAL_ROWS; ++i) {
    residual[i] = error[i] - y[i];
    *loss += residual[i] * residual[i] / ROWS;
    error[i] = 2 * residual[i] / ROWS;
  }
  const void *lossSources[] = {loss};
  void *lossDestinations[] = {loss};

  amsp_gemm_run(rank, &backward, x, error, gradient);
  sources[0] = gradient;
  destinations[0] = gradientPiece;
  amsp_collective_start(rank, &reduceG, sources, destinations);
  amsp_collective_start(rank, &reduceLoss, lossSources, lossDestinations);
  amsp_collective_await(rank, &reduceG);
  for (int i = 0; i < PIECE; ++i) { /* padding is computed, and never used */
    m[i] = 0.9f * m[i] + gradientPiece[i];
    w[i] -= 0.1f * m[i];
  }
  amsp_collective_await(rank, &reduceLoss);
}

#define FLAT                                                                   \
  "\"placement\": {\"kind\": \"flat\", \"keep\": 0, \"digits\": [[2, 2], "     \
  "[1, 2]], \"piece\": 2}, \"shape\": [5], \"local_shape\": [2]"
#define SPLIT                                                                  \
  "\"placement\": {\"kind\": \"split\", \"dim\": 0, \"digits\": [[2, 2], "     \
  "[1, 2]]}, "
#define VALUE(name, role)                                                      \
  "{\"name\": " name ", \"role\": \"" role                                     \
  "\", \"unit\": null, \"dtype\": \"f32\", "
#define COLLECTIVE(id, name, kind, bytes)                                      \
  "{\"id\": " id ", \"name\": \"" name "\", \"kind\": \"" kind                 \
  "\", \"unit\": \"all\", \"dtype\": \"f32\", \"bytes\": " bytes               \
  ", \"digits\": [[2, 2], [1, 2]]}"

static const char manifest[] =
    "{\"version\": 1, \"name\": \"momentum\", \"program_hash\": \"5eed\", "
    "\"levels\": [2, 2], \"world\": 4, \"arena_bytes\": 128, "
    "\"state_bytes\": 16, \"arguments\": [" VALUE("\"params.w\"", "param") FLAT
    ", \"result\": 0}, " VALUE("\"opt.m\"", "opt_state") FLAT
    ", \"result\": 1}, " VALUE("\"x\"", "batch") SPLIT
    "\"shape\": [8, 5], \"local_shape\": [2, 5]}, " VALUE("\"y\"", "batch")
        SPLIT "\"shape\": [8], \"local_shape\": [2]}"
              "], \"results\": [" VALUE("null", "param") FLAT
    ", \"argument\": 0}, " VALUE("null", "opt_state") FLAT
    ", \"argument\": 1}, " VALUE(
        "null", "output") "\"placement\": {\"kind\": \"replicated\"}, "
                          "\"shape\": [], \"local_shape\": []}, " VALUE(
                              "null", "output") SPLIT
    "\"shape\": [8], \"local_shape\": [2]}"
    "], \"collectives\": [" COLLECTIVE(
        "0", "gather.w", "all_gather",
        "32") ", " COLLECTIVE("1", "reduce.w", "reduce_scatter",
                              "32") ", " COLLECTIVE("2", "reduce.loss",
                                                    "all_reduce", "4") "]}";

const amsp_step amsp_step_v1 = {AMSP_STEP_ABI_VERSION + AMSP_FIXTURE_ABI_OFFSET,
                                manifest, execute};
