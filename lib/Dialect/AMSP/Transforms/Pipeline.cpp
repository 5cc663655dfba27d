//===- Pipeline.cpp - From an exported step to one rank's program ---------===//

#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace amsp;

void amsp::buildImportPipeline(OpPassManager &pm,
                               const PartitionOptions &options) {
  pm.addPass(createInlineCalls());
  pm.addPass(createSymbolDCEPass());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(stablehlo::createLegalizeCHLO());
  pm.addPass(createVerifyStep());
  pm.addNestedPass<func::FuncOp>(createHoistLoopInvariants());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());

  AnnotateRolesOptions roles;
  roles.batchArgs = options.batchArgs;
  roles.stateArgs = options.stateArgs;
  roles.roles = options.roles;
  roles.stateOf = options.stateOf;
  pm.addPass(createAnnotateRoles(roles));
  if (options.recognizeAttention)
    pm.addPass(createRecognizeAttention());
}

void amsp::buildPartitionImportedPipeline(OpPassManager &pm,
                                          const PartitionOptions &options) {
  InsertCollectivesOptions collectives;
  collectives.levels = options.levels;
  collectives.strategy = options.strategy;
  collectives.reduceType = options.reduceType;
  pm.addPass(createInsertCollectives(collectives));
  if (options.simplifyCollectives)
    pm.addNestedPass<func::FuncOp>(createSimplifyCollectives());
  pm.addNestedPass<func::FuncOp>(createLowerLocalOps());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void amsp::buildPartitionPipeline(OpPassManager &pm,
                                  const PartitionOptions &options) {
  buildImportPipeline(pm, options);
  buildPartitionImportedPipeline(pm, options);
}

namespace {
struct PartitionPipelineOptions
    : PassPipelineOptions<PartitionPipelineOptions> {
  ListOption<std::string> batchArgs{
      *this, "batch-args",
      llvm::cl::desc("arguments cut along dimension 0, by name or index")};
  ListOption<std::string> stateArgs{
      *this, "state-args",
      llvm::cl::desc("ARGUMENT=RESULT: state, instead of the aliased one")};
  ListOption<std::string> roles{
      *this, "roles",
      llvm::cl::desc("ARGUMENT=ROLE, instead of the role that is found")};
  Option<std::string> stateOf{
      *this, "state-of",
      llvm::cl::desc("the compiled training step whose state this one takes or "
                     "makes")};
  ListOption<int64_t> levels{
      *this, "levels",
      llvm::cl::desc("sizes of the cluster's levels, innermost first")};
  Option<std::string> strategy{
      *this, "strategy",
      llvm::cl::desc("a preset or p=F,g=F,os=F (docs/formats.md)")};
  Option<std::string> reduceType{
      *this, "reduce-type", llvm::cl::init("f32"),
      llvm::cl::desc("type of reductions: f32, bf16 or graph")};
  Option<bool> recognizeAttention{
      *this, "recognize-attention", llvm::cl::init(true),
      llvm::cl::desc("run amsp-recognize-attention")};
  Option<bool> simplifyCollectives{
      *this, "simplify-collectives", llvm::cl::init(true),
      llvm::cl::desc("run amsp-simplify-collectives")};
};
} // namespace

void amsp::registerPartitionPipeline() {
  PassPipelineRegistration<PartitionPipelineOptions>(
      "amsp-partition", "From an exported step to the program of one rank",
      [](OpPassManager &pm, const PartitionPipelineOptions &options) {
        PartitionOptions partition;
        partition.batchArgs.assign(options.batchArgs.begin(),
                                   options.batchArgs.end());
        partition.stateArgs.assign(options.stateArgs.begin(),
                                   options.stateArgs.end());
        partition.roles.assign(options.roles.begin(), options.roles.end());
        partition.stateOf = options.stateOf;
        partition.levels.assign(options.levels.begin(), options.levels.end());
        partition.strategy = options.strategy;
        partition.reduceType = options.reduceType;
        partition.recognizeAttention = options.recognizeAttention;
        partition.simplifyCollectives = options.simplifyCollectives;
        buildPartitionPipeline(pm, partition);
      });
}
