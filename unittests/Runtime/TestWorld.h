//===- TestWorld.h - Runs test code as a compiled step ----------*- C++ -*-===//

#ifndef AMSP_UNITTESTS_RUNTIME_TESTWORLD_H
#define AMSP_UNITTESTS_RUNTIME_TESTWORLD_H

#include "amsp/Runtime/Group.h"
#include "amsp/Runtime/World.h"

#include "gtest/gtest.h"

#include <functional>

namespace amsp::runtime {

/// What each rank runs. A failure leaves it without running destructors, so
/// bodies that expect one keep their data outside.
using RankBody = std::function<void(amsp_rank *)>;

inline void executeBody(amsp_rank *rank, void *, void *const *arguments,
                        void *const *) {
  (*static_cast<const RankBody *>(arguments[0]))(rank);
}

inline constexpr amsp_step bodyStep = {AMSP_STEP_ABI_VERSION, "", executeBody};

/// Runs the body on every rank of a new world, `steps` times.
inline std::optional<RunError> runOnRanks(int64_t world, const RankBody &body,
                                          const WorldOptions &options = {},
                                          int steps = 1) {
  std::string error;
  std::unique_ptr<World> ranks = World::create(
      std::vector<RankProgram>(world, {&bodyStep, {"hash", {}}, 0}), options,
      error);
  EXPECT_TRUE(ranks) << error;
  std::vector<RankBuffers> buffers(world,
                                   {{const_cast<RankBody *>(&body)}, {}});
  for (int step = 0; step < steps; ++step)
    if (std::optional<RunError> failure = ranks->runStep(buffers))
      return failure;
  return std::nullopt;
}

/// A description together with the memory that it points to.
struct Description {
  Digits digits;
  std::vector<amsp_collective_operand> operands;
  amsp_collective collective = {};

  Description(int32_t kind, int32_t reduction, int32_t dtype, Digits digits,
              std::vector<amsp_collective_operand> operands,
              const char *name = "test", int32_t id = 0)
      : digits(std::move(digits)), operands(std::move(operands)) {
    collective.id = id;
    collective.kind = kind;
    collective.reduction = reduction;
    collective.dtype = dtype;
    collective.channel =
        kind == AMSP_ALL_GATHER ? AMSP_CHANNEL_GATHER : AMSP_CHANNEL_REDUCE;
    collective.num_digits = static_cast<int32_t>(this->digits.size());
    collective.num_operands = static_cast<int32_t>(this->operands.size());
    collective.digits = this->digits.data();
    collective.operands = this->operands.data();
    collective.name = name;
  }
  Description(const Description &) = delete;
  Description &operator=(const Description &) = delete;

  const amsp_collective *get() const { return &collective; }
};

inline void runCollective(amsp_rank *rank, const amsp_collective *collective,
                          const std::vector<const void *> &sources,
                          const std::vector<void *> &destinations) {
  amsp_collective_start(rank, collective, sources.data(), destinations.data());
  amsp_collective_await(rank, collective);
}

} // namespace amsp::runtime

#endif // AMSP_UNITTESTS_RUNTIME_TESTWORLD_H
