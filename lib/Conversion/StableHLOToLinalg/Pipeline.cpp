//===- Pipeline.cpp - From StableHLO to fused linalg ----------------------===//

#include "amsp/Conversion/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void amsp::buildStableHLOToLinalgPipeline(OpPassManager &manager) {
  manager.addPass(createInlinerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createConvertStableHLOControlFlow());
  manager.addPass(createConvertStableHLOToLinalg());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
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
