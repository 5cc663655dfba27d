//===- Pipeline.cpp - From StableHLO to fused linalg ----------------------===//

#include "amsp/Conversion/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void amsp::buildStableHLOToLinalgPipeline(OpPassManager &manager) {
  manager.addPass(createInlinerPass());
  // Not behind the conversion: optimization barriers, which keep what a
  // rematerialising export computes twice from being joined, end there.
  manager.addPass(createCSEPass());
  manager.addPass(createConvertStableHLOControlFlow());
  manager.addPass(createConvertStableHLOToLinalg());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createFoldTransposesIntoContractions());
  manager.addPass(createFuseElementwise());
  manager.addPass(createExpandMath());
  manager.addPass(createCanonicalizerPass());
}

void amsp::registerConversionPipelines() {
  PassPipelineRegistration<> pipeline(
      "amsp-lower-to-linalg",
      "Lowers a per-rank program in StableHLO to fused linalg on tensors",
      buildStableHLOToLinalgPipeline);
}
