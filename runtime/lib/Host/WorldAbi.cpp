//===- WorldAbi.cpp - The C form of worlds --------------------------------===//

#include "amsp-c/World.h"
#include "amsp/Runtime/World.h"

#include <cstdlib>
#include <cstring>

using namespace amsp::runtime;

struct amsp_world {
  std::unique_ptr<World> world;
};

amsp_world *amsp_world_create(const amsp_step *step, int64_t ranks,
                              const char *programHash, int64_t arenaBytes,
                              double stallLimitSeconds, int32_t poison,
                              char **error) {
  WorldOptions options;
  options.poisonArena = poison != 0;
  if (stallLimitSeconds > 0)
    options.stallLimit = std::chrono::milliseconds(
        static_cast<int64_t>(stallLimitSeconds * 1000));
  std::string message;
  std::vector<RankProgram> programs(ranks,
                                    {step, {programHash, {}}, arenaBytes});
  std::unique_ptr<World> world = World::create(programs, options, message);
  if (world)
    return new amsp_world{std::move(world)};
  *error = strdup(message.c_str());
  return nullptr;
}

int32_t amsp_world_run_step(amsp_world *world, void *const *arguments,
                            int64_t numArguments, void *const *results,
                            int64_t numResults, int32_t *stuck, char **error) {
  std::vector<RankBuffers> buffers(world->world->size());
  for (RankBuffers &own : buffers) {
    own.arguments.assign(arguments, arguments + numArguments);
    own.results.assign(results, results + numResults);
    arguments += numArguments;
    results += numResults;
  }
  std::optional<RunError> failure = world->world->runStep(buffers);
  if (!failure)
    return 0;
  *stuck = !failure->stuckRanks.empty();
  *error = strdup(failure->str().c_str());
  return 1;
}

void amsp_world_destroy(amsp_world *world) { delete world; }

void amsp_text_free(char *text) { std::free(text); }
