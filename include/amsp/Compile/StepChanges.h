//===- StepChanges.h - What a plan makes of the exported step ---*- C++ -*-===//

#ifndef AMSP_COMPILE_STEPCHANGES_H
#define AMSP_COMPILE_STEPCHANGES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace amsp {

/// The step that a plan is of, beside the exported one.
struct StepChanges {
  /// Parts that the batch is split into, one computed after the other.
  int64_t microbatches = 1;
  /// Units that backward computes again.
  std::vector<std::string> recompute;
};

/// Makes an imported step the one that a plan is of. Errors are diagnostics,
/// after which the error is empty text.
llvm::Error changeStep(mlir::ModuleOp step, const StepChanges &changes);

/// `4 microbatches, computing h.0..3 again`; empty if nothing changes.
std::string describeChanges(const StepChanges &changes);

} // namespace amsp

#endif // AMSP_COMPILE_STEPCHANGES_H
