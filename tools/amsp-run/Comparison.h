//===- Comparison.h - Two builds of a step, side by side --------*- C++ -*-===//

#ifndef AMSP_TOOLS_AMSP_RUN_COMPARISON_H
#define AMSP_TOOLS_AMSP_RUN_COMPARISON_H

#include "Options.h"
#include "amsp/Run/Session.h"

namespace amsp::run {

/// Runs another build of a step (for another world, strategy or target) on the
/// same arguments, and compares all results after each step.
class Comparison {
public:
  /// Fails where the two builds differ in the global arguments or results.
  static llvm::Expected<std::unique_ptr<Comparison>>
  create(const Options &options, const StepLibrary &step);

  Session &session() { return *reference; }

  /// Runs the step here too. Fails, naming it, at the first value of `session`
  /// that differs by more than the tolerance.
  llvm::Error runStep(int64_t step, const Session &session);

  /// The largest difference so far, and where it was.
  void printSummary() const;

private:
  Comparison(const Options &options, StepLibrary library)
      : options(options), library(std::move(library)) {}
  llvm::Error compare(int64_t step, const Session &session, size_t result);

  const Options &options;
  StepLibrary library;
  std::unique_ptr<Session> reference;
  double largest = 0;
  std::string largestAt;
};

} // namespace amsp::run

#endif // AMSP_TOOLS_AMSP_RUN_COMPARISON_H
