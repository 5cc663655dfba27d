//===- Pipeline.cpp - From StableHLO to fused linalg ----------------------===//

#include "amsp/Conversion/Canonicalizer.h"
#include "amsp/Conversion/Passes.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// Of the scores of a block of queries: small beside a layer's activations,
/// large enough for contractions at full rate.
static constexpr int64_t kAttentionBlockBytes = 1 << 20;

void amsp::buildStableHLOToLinalgPipeline(OpPassManager &manager) {
  manager.addPass(createInlineCalls());
  manager.addPass(createSymbolDCEPass());
  manager.addPass(createProgramCanonicalizer());
  ExpandAttentionOptions blocks;
  blocks.blockBytes = kAttentionBlockBytes;
  manager.addPass(createExpandAttention(blocks));
  // Not behind the conversion: optimization barriers, which keep what a
  // rematerialising export computes twice from being joined, end there.
  manager.addPass(createCSEPass());
  manager.addPass(createConvertStableHLOControlFlow());
  manager.addPass(createConvertStableHLOToLinalg());
  manager.addPass(createProgramCanonicalizer());
  manager.addPass(createFoldTransposesIntoContractions());
  manager.addPass(createFuseElementwise());
  manager.addPass(createExpandMath());
  manager.addPass(createProgramCanonicalizer());
}

void amsp::registerConversionPipelines() {
  PassPipelineRegistration<> pipeline(
      "amsp-lower-to-linalg",
      "Lowers a per-rank program in StableHLO to fused linalg on tensors",
      buildStableHLOToLinalgPipeline);
}
