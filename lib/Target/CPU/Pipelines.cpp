//===- Pipelines.cpp - The CPU target's pipelines -------------------------===//

#include "amsp/Conversion/Canonicalizer.h"
#include "amsp/Target/CPU/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace amsp;

void amsp::buildBufferizePipeline(OpPassManager &pm) {
  // Before collectives get numbers: each copy is one of its own.
  pm.addNestedPass<func::FuncOp>(createDoubleBufferLoops());
  pm.addPass(createCollectivesToExchange());
  pm.addNestedPass<func::FuncOp>(createContractionsToBlas());
  pm.addPass(createProgramCanonicalizer());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createPrepareDestinations());
  pm.addNestedPass<func::FuncOp>(createSeparateReads());
  pm.addNestedPass<func::FuncOp>(createPlaceResults());

  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions options;
  options.unknownTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(createProgramCanonicalizer());
  pm.addPass(createCSEPass());

  pm.addNestedPass<func::FuncOp>(createLegalizeContractions());
  pm.addNestedPass<func::FuncOp>(createReuseBuffers());
  pm.addNestedPass<func::FuncOp>(createNormalizeLoops());
  pm.addPass(createCSEPass());
  pm.addPass(createOutlineKernels());
  pm.addNestedPass<func::FuncOp>(createPlanArena());
  pm.addPass(createVerifyBuffers());
}

void amsp::buildLowerToLLVMPipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createLowerKernels());
  pm.addPass(createLowerHost());
  pm.addPass(createSplitHost());
  pm.addPass(createExpandBFloat16());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createStoreBFloat16AsInteger());
  pm.addPass(createExportStep());
  pm.addPass(createCanonicalizerPass());
}

void amsp::registerCPUPipelines() {
  PassPipelineRegistration<>(
      "amsp-bufferize",
      "a per-rank program on tensors -> buffers in one arena and kernels",
      buildBufferizePipeline);
  PassPipelineRegistration<>("amsp-lower-to-llvm",
                             "kernels and host program -> LLVM dialect",
                             buildLowerToLLVMPipeline);
}
