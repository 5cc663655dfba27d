/*===- OverlapStep.c - Computes while a reduction is on its way -----------===*\
|*
|* A compiled step, written by hand: on 4 ranks, an all_reduce of 1 MiB in
|* place, behind a computation of 200 ms (which sleeps: the test measures what
|* the runtime does meanwhile, on any number of cores).
|*
\*===----------------------------------------------------------------------===*/

#include "amsp-c/Step.h"

#include <time.h>

static const amsp_digit digits[] = {{1, 4}};
static const amsp_collective_operand operands[] = {{1, 262144, 262144}};
static const amsp_collective reduce = {
    0,      AMSP_ALL_REDUCE, AMSP_SUM,   AMSP_F32, AMSP_CHANNEL_REDUCE, 1, 1,
    digits, operands,        "reduce.w", 0};

static void execute(amsp_rank *rank, void *arena, void *const *arguments,
                    void *const *results) {
  (void)arena;
  (void)results;
  const void *source = arguments[0];
  void *destination = arguments[0];
  const struct timespec computation = {0, 200000000};
  amsp_collective_start(rank, &reduce, &source, &destination);
  nanosleep(&computation, 0);
  amsp_collective_await(rank, &reduce);
}

#define W                                                                      \
  "\"name\": null, \"role\": \"param\", \"dtype\": \"f32\", \"shape\": "       \
  "[262144], \"local_shape\": [262144], \"placement\": {\"kind\": "            \
  "\"replicated\"}"

static const char manifest[] =
    "{\"version\": 1, \"name\": \"overlap\", \"program_hash\": \"overlap\", "
    "\"levels\": [4], \"world\": 4, \"arena_bytes\": 0, \"state_bytes\": "
    "1048576, \"arguments\": [{" W ", \"result\": 0}], \"results\": [{" W
    ", \"argument\": 0}], \"collectives\": [{\"id\": 0, \"name\": "
    "\"reduce.w\", \"unit\": null, \"kind\": \"all_reduce\", \"dtype\": "
    "\"f32\", \"bytes\": 1048576, \"digits\": [[1, 4]]}]}";

const amsp_step amsp_step_v1 = {AMSP_STEP_ABI_VERSION, manifest, execute};
