//===- Executor.h - Which collectives a system issues, and when -*- C++ -*-===//

#ifndef AMSP_PLANNER_EXECUTOR_H
#define AMSP_PLANNER_EXECUTOR_H

#include "amsp/Placement/Strategy.h"
#include "amsp/Planner/CollectiveModel.h"
#include "amsp/Planner/ModelConfig.h"
#include "amsp/Planner/Schedule.h"

namespace amsp {

/// The pieces of one state: its factors are those of a strategy.
enum class State { None, Parameters, Gradients, OptimizerStates, All };

/// A rule: some collectives of a step. See docs/formats.md, "Executors".
struct ExecutorRule {
  enum class Moves { Parameters, Gradients };
  enum class When {
    Forward,       // before a weight's use in each forward pass
    Backward,      // of parameters: before their use in each backward pass;
                   // of gradients: once they are known
    LastBackward,  // of gradients: in the last microbatch only
    EarlyBackward, // of gradients: in all microbatches but the last
    FirstForward,  // of parameters: before the first use in a step
    Update         // of parameters: after the optimizer
  };
  enum class By { Tensor, Module, Layer, Model };

  std::string name;
  Moves moves = Moves::Parameters;
  TransferKind kind = TransferKind::AllGather;
  /// The group leads from the pieces of `fine` to those of `coarse`.
  State fine = State::None, coarse = State::None;
  std::vector<When> when;
  By by = By::Layer;
  /// Of gradients: joined until they have so many bytes.
  std::optional<double> bucket;
  /// Whether compute goes on meanwhile.
  bool overlap = true;
  /// Of parameters: how many of the next uses' collectives are started before
  /// a use.
  int64_t ahead = 1;
  std::string channel;
};

struct Executor {
  std::string name;
  /// Bytes of an element on the wire.
  double parameterBytes = 2, gradientBytes = 2;
  /// Bytes of an element's optimizer states, its f32 value among them.
  double stateBytes = 12;
  /// Bytes that the optimizer reads and writes for each element.
  double updateBytes = 28;
  /// The share of the forward pass that backward computes again.
  double recompute = 0;
  std::vector<ExecutorRule> rules;
};

/// Reads the content of a YAML file; `name` is for errors, which name the line.
llvm::Expected<Executor> parseExecutor(llvm::StringRef content,
                                       llvm::StringRef name);

/// A training run of a model.
struct ExecutorRun {
  const CollectiveModel &collectives;
  const Device &device;
  const Strategy &strategy;
  llvm::ArrayRef<ModelPart> parts;
  int64_t microbatches;
};

/// Which microbatch of a step.
struct MicrobatchPlace {
  bool isFirst, isLast;
};

/// What a rank does in a step. Transfers that are not awaited at the end reach
/// into the next step (see SimulationOptions::warmUp).
Schedule buildExecutorSchedule(const Executor &executor,
                               const ExecutorRun &run);

/// Bytes of a rank: parameters by P, gradients by G, states by OS, what
/// backward reads, and two gathered layers if parameters are gathered at each
/// use.
double getExecutorMemory(const Executor &executor, const ExecutorRun &run);

/// Elements that the rank with the most of them updates: equal pieces, or whole
/// tensors given to ranks greedily by size if the executor broadcasts them.
double getUpdatedElements(const Executor &executor, const ExecutorRun &run);

} // namespace amsp

#endif // AMSP_PLANNER_EXECUTOR_H
