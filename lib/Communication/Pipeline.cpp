//===- Pipeline.cpp - The pipeline amsp-communicate -----------------------===//

#include "amsp/Communication/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace amsp;

void amsp::buildCommunicatePipeline(OpPassManager &pm,
                                    const CommunicateOptions &options) {
  (void)options;
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

namespace {
struct CommunicatePipelineOptions
    : PassPipelineOptions<CommunicatePipelineOptions> {};
} // namespace

void amsp::registerCommunicatePipeline() {
  PassPipelineRegistration<CommunicatePipelineOptions>(
      "amsp-communicate",
      "Merges, orders and overlaps the collectives of a rank's program",
      [](OpPassManager &pm, const CommunicatePipelineOptions &) {
        buildCommunicatePipeline(pm, CommunicateOptions());
      });
}
