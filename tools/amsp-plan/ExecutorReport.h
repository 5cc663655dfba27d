//===- ExecutorReport.h - A step of another system --------------*- C++ -*-===//

#ifndef AMSP_TOOLS_AMSP_PLAN_EXECUTORREPORT_H
#define AMSP_TOOLS_AMSP_PLAN_EXECUTORREPORT_H

#include "amsp/Planner/Executor.h"
#include "amsp/Planner/Simulator.h"
#include "llvm/Support/JSON.h"

namespace amsp {

/// A training run on a cluster by another system, given by files and numbers.
struct ExecutorRequest {
  std::string executorFile, modelFile, strategy;
  int64_t sequence = 0, sequences = 1, microbatches = 1;
  /// Names of rules during which compute waits.
  std::vector<std::string> exposed;
};

/// The simulated step of a run.
struct ExecutorReport {
  std::string executor, cluster, strategy;
  llvm::SmallVector<int64_t> levels;
  double tokens = 0; // of a rank and step
  int64_t microbatches = 1;
  Schedule schedule;
  SimulatedStep step;

  double getTokensPerSecond() const { return tokens / step.seconds; }
  void printTable(llvm::raw_ostream &os) const;
  void printJson(llvm::raw_ostream &os) const;

private:
  /// The transfers of one rule on one level.
  struct Row {
    const Transfer *first;
    double runs = 0, bytes = 0, busy = 0, exposed = 0;
  };
  std::vector<Row> getRows() const;
};

llvm::Expected<ExecutorReport> simulateExecutor(const ExecutorRequest &request,
                                                const Cluster &cluster,
                                                bool timeline);

} // namespace amsp

#endif // AMSP_TOOLS_AMSP_PLAN_EXECUTORREPORT_H
