//===- Passes.h - Passes on StableHLO ---------------------------*- C++ -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_TRANSFORMS_PASSES_H
#define AMSP_DIALECT_STABLEHLO_TRANSFORMS_PASSES_H

#include "amsp/Dialect/StableHLO/IR/StableHLODialect.h"
#include "amsp/Support/PassStatistic.h"
#include "mlir/Pass/Pass.h"

namespace amsp::stablehlo {

#define GEN_PASS_DECL
#include "amsp/Dialect/StableHLO/Transforms/Passes.h.inc"

/// Patterns that turn each op of chlo into ops of StableHLO.
void populateLegalizeCHLOPatterns(mlir::RewritePatternSet &patterns);

#define GEN_PASS_REGISTRATION
#include "amsp/Dialect/StableHLO/Transforms/Passes.h.inc"

} // namespace amsp::stablehlo

#endif // AMSP_DIALECT_STABLEHLO_TRANSFORMS_PASSES_H
