//===- Passes.h - Passes that convert between dialects ----------*- C++ -*-===//

#ifndef AMSP_CONVERSION_PASSES_H
#define AMSP_CONVERSION_PASSES_H

#include "amsp/Support/PassStatistic.h"
#include "mlir/Pass/Pass.h"

namespace amsp {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "amsp/Conversion/Passes.h.inc"

/// A per-rank program in StableHLO and collectives becomes fused linalg on
/// tensors: the first half of code generation for CPU.
void buildStableHLOToLinalgPipeline(mlir::OpPassManager &manager);

/// Registers the pipeline as `amsp-lower-to-linalg`.
void registerConversionPipelines();

} // namespace amsp

#endif // AMSP_CONVERSION_PASSES_H
