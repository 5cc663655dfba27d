//===- World.h - Runs a compiled step on ranks ------------------*- C++ -*-===//
//
// The interface for programs that embed the runtime: a world is N ranks, each
// with a program and an arena; a step runs on all of them at once.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_RUNTIME_WORLD_H
#define AMSP_RUNTIME_WORLD_H

#include "amsp-c/Step.h"
#include "amsp/Runtime/Error.h"
#include "amsp/Runtime/Fault.h"
#include "amsp/Runtime/LinkModel.h"
#include "amsp/Runtime/ProgramIdentity.h"

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace amsp::runtime {

/// What one rank runs. All ranks must have the same hash; the world refuses
/// to run otherwise.
struct RankProgram {
  const amsp_step *step = nullptr;
  ProgramIdentity identity;
  int64_t arenaBytes = 0;
};

/// The local buffers of one rank, as amsp_step::execute takes them.
struct RankBuffers {
  std::vector<void *> arguments;
  std::vector<void *> results;
};

/// What a trace tells of a collective beside its name.
struct CollectiveLabel {
  std::string unit;   // may be empty
  int64_t level = -1; // the outermost one that it crosses; -1: none
};

struct WorldOptions {
  /// The longest time that an await waits before it reports the rank that
  /// holds it up.
  std::chrono::milliseconds stallLimit{8000};
  std::vector<Fault> faults;
  /// The threads transport imitates links of this speed; levels of a world of
  /// as many ranks.
  std::optional<LinkModel> links;
  /// Fills the arena with 0xFF (NaN in every float type) before each step.
  bool poisonArena = false;
  bool trace = false;
  /// By id of the collective, for the trace; may be empty.
  std::vector<CollectiveLabel> labels;
};

class Processes;

/// Ranks as threads of this process, or one rank in each of several processes.
/// After an error a world runs no more.
class World {
public:
  /// Allocates the arenas and starts the threads; null and `error` set where
  /// the programs or the memory do not allow it. `programs` and the buffers of
  /// runStep are those of the ranks in this process, by number.
  static std::unique_ptr<World> create(std::vector<RankProgram> programs,
                                       const WorldOptions &options,
                                       std::string &error,
                                       Processes *processes = nullptr);
  ~World();
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  int64_t size() const;

  /// Runs one step on every rank and waits for those in this process. Buffers
  /// must stay valid until it returns (and longer for RunError::stuckRanks).
  std::optional<RunError> runStep(const std::vector<RankBuffers> &buffers);

  /// How many communicators the ranks of this process made, at most: one for
  /// each set of ranks and channel that a rank's collectives used so far.
  int64_t numCommunicators() const;

  /// The events of the ranks in this process: JSON objects, separated by
  /// commas. Empty unless WorldOptions::trace.
  std::string traceEvents() const;
  /// The same as a file in Chrome's trace event format.
  void writeTrace(std::ostream &stream) const;

private:
  struct State;
  explicit World(std::shared_ptr<State> state);
  std::shared_ptr<State> state;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_WORLD_H
