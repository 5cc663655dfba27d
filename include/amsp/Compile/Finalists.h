//===- Finalists.h - The best plans, compiled -------------------*- C++ -*-===//

#ifndef AMSP_COMPILE_FINALISTS_H
#define AMSP_COMPILE_FINALISTS_H

#include "amsp/Compile/CompiledPlan.h"
#include "amsp/Compile/StepChanges.h"

namespace amsp {

/// One of the best plans.
struct Finalist {
  std::vector<Strategy> strategies; // one per unit
  /// By the additive model of the search: seconds of a step, and bytes.
  double estimatedSeconds = 0, estimatedBytes = 0;
  std::optional<CompiledPlan> compiled;

  /// Of a step: simulated if the plan was compiled, else by the search's model.
  double getSeconds() const {
    return compiled ? compiled->getSeconds() : estimatedSeconds;
  }
  bool isLowered() const { return compiled && compiled->memory; }
  /// Of a rank; estimated unless the plan was lowered.
  double getBytes() const {
    return isLowered() ? static_cast<double>(compiled->memory->getTotal())
                       : estimatedBytes;
  }
};

/// A changed step, and its best plan.
struct StepVariant {
  StepChanges changes;
  /// Of the best plan; none if none fits.
  std::optional<std::pair<double, double>> secondsAndBytes;
};

/// What the planner found for a step.
struct PlannedStep {
  Plan plan;
  std::vector<StepUnit> units;
  double memoryLimit = 0;
  /// Those that fit, the best first; then the others, the smallest first.
  std::vector<Finalist> finalists;
  /// The plans are of the step changed so.
  StepChanges changes;
  /// What was searched for that, if anything.
  std::vector<StepVariant> variants;
  /// Why more microbatches were not searched, if they were asked for.
  std::string splitRefusal;

  bool fits(const Finalist &finalist) const {
    return finalist.getBytes() <= memoryLimit;
  }
  const Finalist &getBest() const { return finalists.front(); }
};

struct PlanningOptions {
  PartitionOptions partition;
  CommunicateOptions communication;
  /// Bytes of a rank, instead of the device's.
  std::optional<double> memoryLimit;
  /// How many plans are compiled, to know their memory. With none, memory is
  /// estimated.
  size_t finalists = 3;
  /// Lower them one by one, the best first, until one fits: the best is the
  /// same as if all were lowered.
  bool stopsAtFirstFit = false;
  /// Whether units may be computed again in backward.
  bool searchRecompute = false;
  /// Whether the batch may be split into microbatches.
  bool searchMicrobatches = false;

  bool searchesSteps() const { return searchRecompute || searchMicrobatches; }
};

/// What `--search` asks for: `recompute`, `microbatch`, or both.
llvm::Error setSearch(PlanningOptions &options,
                      llvm::ArrayRef<std::string> choices);

/// The dialects of the passes that plans are compiled with; a context that runs
/// several threads must have loaded them.
void getPlanningDialects(mlir::DialectRegistry &registry);

/// Searches plans for an imported step and compiles the best of them. The
/// activations that the search allows for are those of the compiled program
/// with everything sharded; the order of those that fit is that of their
/// simulated steps, and within 1 % of the fastest that of the search. Presets
/// that may be faster are compiled as well, with more than one finalist. If no
/// compiled plan fits, smaller ones are tried; if none does, the error says how
/// much the smallest needs, and what for. Plans that need more bytes in flight
/// than the options allow are left out; where that leaves none of those that
/// fit, others are tried, and the error says what the least needs. Errors in
/// the program are diagnostics, after which the error is empty text.
llvm::Expected<PlannedStep> findPlan(mlir::ModuleOp step,
                                     const Cluster &cluster,
                                     const PlanningOptions &options);

/// A given plan beside those that were found: by the search's model only, or
/// compiled.
Finalist estimateFinalist(const PlannedStep &planned,
                          llvm::ArrayRef<Strategy> strategies);
llvm::Expected<Finalist> compileFinalist(mlir::ModuleOp step,
                                         const PlannedStep &planned,
                                         const Cluster &cluster,
                                         llvm::ArrayRef<Strategy> strategies,
                                         const PlanningOptions &options);

/// `p=4,g=4,os=4`, or by units: `p=1,g=1,os=4 for h.0..3, p=4,g=4,os=4 for
/// rest`.
std::string formatStrategies(llvm::ArrayRef<StepUnit> units,
                             llvm::ArrayRef<Strategy> strategies);

} // namespace amsp

#endif // AMSP_COMPILE_FINALISTS_H
