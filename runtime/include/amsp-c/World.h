/*===- World.h - Runs a compiled step, for programs in other languages ---*- C
 * -*-
 *
 * The C form of amsp/Runtime/World.h: the ranks of a step as threads of this
 * process. It offers no more than that; what the buffers hold is the caller's.
 *
 *===----------------------------------------------------------------------===*/

#ifndef AMSP_C_WORLD_H
#define AMSP_C_WORLD_H

#include "amsp-c/Step.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct amsp_world amsp_world;

/// Starts `ranks` threads that run `step`, each with an arena of `arena_bytes`.
/// `program_hash` is the manifest's; `poison` fills arenas with 0xFF before
/// each step; `stall_limit_seconds` is how long an await waits (0: the
/// default). Null on failure; `*error` is then one line, to be freed with
/// amsp_text_free.
amsp_world *amsp_world_create(const amsp_step *step, int64_t ranks,
                              const char *program_hash, int64_t arena_bytes,
                              double stall_limit_seconds, int32_t poison,
                              char **error);

/// Runs one step on all ranks. `arguments` and `results` hold the buffers of
/// rank 0, then those of rank 1, and so on, each as amsp_step::execute takes
/// them. 0 on success. Else `*error` is set as above; the world runs no more,
/// and where `*stuck` is set, ranks that did not come back still use their
/// buffers: neither these nor the world may be released.
int32_t amsp_world_run_step(amsp_world *world, void *const *arguments,
                            int64_t num_arguments, void *const *results,
                            int64_t num_results, int32_t *stuck, char **error);

void amsp_world_destroy(amsp_world *world);
void amsp_text_free(char *text);

#ifdef __cplusplus
}
#endif

#endif /* AMSP_C_WORLD_H */
