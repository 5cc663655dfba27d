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
  pm.addNestedPass<func::FuncOp>(stablehlo::createExpandInnerProducts());
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
/// What is said of arguments. `T`: the options of the pipeline.
template <typename T> struct ArgumentOptions : PassPipelineOptions<T> {
  template <typename V>
  using ListOption = typename PassPipelineOptions<T>::template ListOption<V>;
  template <typename V>
  using Option = typename PassPipelineOptions<T>::template Option<V>;
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
  Option<bool> recognizeAttention{
      *this, "recognize-attention", llvm::cl::init(true),
      llvm::cl::desc("run amsp-recognize-attention")};

  PartitionOptions get() const {
    PartitionOptions partition;
    partition.batchArgs.assign(batchArgs.begin(), batchArgs.end());
    partition.stateArgs.assign(stateArgs.begin(), stateArgs.end());
    partition.roles.assign(roles.begin(), roles.end());
    partition.stateOf = stateOf;
    partition.recognizeAttention = recognizeAttention;
    return partition;
  }
};

struct ImportPipelineOptions : ArgumentOptions<ImportPipelineOptions> {};

struct PartitionPipelineOptions : ArgumentOptions<PartitionPipelineOptions> {
  ListOption<int64_t> levels{
      *this, "levels",
      llvm::cl::desc("sizes of the cluster's levels, innermost first")};
  Option<std::string> strategy{
      *this, "strategy",
      llvm::cl::desc("a preset or p=F,g=F,os=F (docs/formats.md)")};
  Option<std::string> reduceType{
      *this, "reduce-type", llvm::cl::init("f32"),
      llvm::cl::desc("type of reductions: f32, bf16 or graph")};
  Option<bool> simplifyCollectives{
      *this, "simplify-collectives", llvm::cl::init(true),
      llvm::cl::desc("run amsp-simplify-collectives")};
};
} // namespace

void amsp::registerPartitionPipeline() {
  PassPipelineRegistration<ImportPipelineOptions>(
      "amsp-import", "From an exported step to one whose arguments have roles",
      [](OpPassManager &pm, const ImportPipelineOptions &options) {
        buildImportPipeline(pm, options.get());
      });
  PassPipelineRegistration<PartitionPipelineOptions>(
      "amsp-partition", "From an exported step to the program of one rank",
      [](OpPassManager &pm, const PartitionPipelineOptions &options) {
        PartitionOptions partition = options.get();
        partition.levels.assign(options.levels.begin(), options.levels.end());
        partition.strategy = options.strategy;
        partition.reduceType = options.reduceType;
        partition.simplifyCollectives = options.simplifyCollectives;
        buildPartitionPipeline(pm, partition);
      });
}
