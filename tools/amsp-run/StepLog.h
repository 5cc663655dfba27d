//===- StepLog.h - What a run tells of its steps ----------------*- C++ -*-===//

#ifndef AMSP_TOOLS_AMSP_RUN_STEPLOG_H
#define AMSP_TOOLS_AMSP_RUN_STEPLOG_H

#include "amsp/Run/Session.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace amsp::run {

/// Prints a line per step, writes one to the log, and sums up at the end.
class StepLog {
public:
  explicit StepLog(bool quiet) : quiet(quiet) {}

  /// Starts the JSON log; nothing for an empty path.
  llvm::Error open(llvm::StringRef path);
  /// `step` counts from 1, over all runs that led to this one.
  llvm::Error record(int64_t step, const std::vector<ScalarResult> &scalars,
                     double seconds);
  /// What a trace's summary says of communication, in all and by level.
  static void printCommunication(const llvm::json::Object &summary);

  void printSummary(const Manifest &manifest) const;

private:
  const bool quiet;
  std::string path;
  std::unique_ptr<llvm::raw_fd_ostream> file;
  std::vector<double> stepSeconds;
};

} // namespace amsp::run

#endif // AMSP_TOOLS_AMSP_RUN_STEPLOG_H
