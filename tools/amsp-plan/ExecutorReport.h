//===- ExecutorReport.h - A step of another system --------------*- C++ -*-===//

#ifndef AMSP_TOOLS_AMSP_PLAN_EXECUTORREPORT_H
#define AMSP_TOOLS_AMSP_PLAN_EXECUTORREPORT_H

#include "amsp/Placement/OverlapSet.h"
#include "amsp/Planner/Executor.h"
#include "amsp/Planner/Simulator.h"
#include "llvm/Support/JSON.h"

namespace amsp {

/// A training run on a cluster by another system, given by files and numbers.
struct ExecutorRequest {
  std::string executorFile, modelFile, strategy;
  int64_t sequence = 0, sequences = 1, microbatches = 1;
  /// Of a rank; instead of the device's.
  std::optional<double> memory;
  /// Of a gradient's element on the wire, instead of the executor's.
  std::optional<double> gradientBytes;
  /// The share of the forward pass that backward computes again.
  std::optional<double> recompute;
  /// What may run beside compute, by --overlap.
  OverlapSet overlap;
  /// Names of rules during which compute waits, too.
  std::vector<std::string> exposed;
};

/// The simulated step of a run.
struct ExecutorReport {
  std::string executor, cluster, strategy;
  llvm::SmallVector<int64_t> levels;
  double tokens = 0; // of a rank and step
  double bytes = 0;  // of a rank
  /// Bytes that a rank may use.
  double memoryLimit = 0;
  int64_t microbatches = 1;
  Schedule schedule;
  SimulatedStep step;

  double getTokensPerSecond() const { return tokens / step.seconds; }
  bool fits() const { return bytes <= memoryLimit; }
  void printTable(llvm::raw_ostream &os) const;
  void printJson(llvm::raw_ostream &os) const;

private:
  /// The transfers of one rule on one level.
  struct Row {
    const ScheduledTransfer *first;
    double runs = 0, bytes = 0, busy = 0, exposed = 0;
  };
  std::vector<Row> getRows() const;
};

/// Under the strategy `auto`, that of least time among those that fit; with one
/// microbatch, gradients are reduced at once and G is OS.
llvm::Expected<ExecutorReport> simulateExecutor(const ExecutorRequest &request,
                                                const Cluster &cluster,
                                                bool timeline);

} // namespace amsp

#endif // AMSP_TOOLS_AMSP_PLAN_EXECUTORREPORT_H
