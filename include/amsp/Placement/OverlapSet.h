//===- OverlapSet.h - Which collectives run beside computation --*- C++ -*-===//

#ifndef AMSP_PLACEMENT_OVERLAPSET_H
#define AMSP_PLACEMENT_OVERLAPSET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace amsp {

/// The value of `--overlap`: what of a step's communication may be in flight
/// while the step computes. No bit of a result depends on it.
struct OverlapSet {
  /// What each use of a parameter gathers and each microbatch reduces; and what
  /// is of no parameter.
  bool uses = true;
  /// What is gathered of parameters once a step.
  bool parameters = true;
  /// What is reduced of gradients once a step.
  bool gradients = true;

  bool isEmpty() const { return !uses && !parameters && !gradients; }
  /// Neither all nor nothing.
  bool isPartial() const { return parameters != uses || gradients != uses; }
};

/// Reads `on`, `off`, or a list of `uses`, `parameters` and `gradients`. The
/// error does not name the option.
llvm::Expected<OverlapSet> parseOverlapSet(llvm::StringRef text);

} // namespace amsp

#endif // AMSP_PLACEMENT_OVERLAPSET_H
