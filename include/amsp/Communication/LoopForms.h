//===- LoopForms.h - Loops as they stand, or written anew -------*- C++ -*-===//

#ifndef AMSP_COMMUNICATION_LOOPFORMS_H
#define AMSP_COMMUNICATION_LOOPFORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cstdint>

namespace amsp {

/// Whether a pass that writes loops anew runs. Auto: where the cluster's times
/// are known, if the simulated step gets faster and the step still fits (see
/// rankLoopForms); else not.
enum class LoopSwitch { Off, On, Auto };

/// How a program's loops over microbatches and over layers are written: which
/// of amsp-peel-microbatches and amsp-pipeline-loops run.
struct LoopForm {
  bool peels = false;
  bool pipelines = false;

  bool operator==(const LoopForm &other) const {
    return peels == other.peels && pipelines == other.pipelines;
  }
};

/// True if amsp-peel-microbatches would change the program of a rank.
bool canPeelMicrobatches(mlir::func::FuncOp step);

/// True if amsp-pipeline-loops would, with that bound on a loop's bytes (0:
/// none).
bool canPipelineLoops(mlir::func::FuncOp step, int64_t maxBytes);

} // namespace amsp

#endif // AMSP_COMMUNICATION_LOOPFORMS_H
