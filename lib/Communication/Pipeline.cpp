//===- Pipeline.cpp - The pipeline amsp-communicate -----------------------===//

#include "amsp/Communication/Passes.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace amsp;

void amsp::buildCommunicatePipeline(OpPassManager &pm,
                                    const CommunicateOptions &options) {
  if (options.quantizeGathers) {
    QuantizeGathersOptions quantize;
    quantize.block = options.quantizeBlock;
    pm.addNestedPass<func::FuncOp>(createQuantizeGathers(quantize));
    pm.addNestedPass<func::FuncOp>(createLowerLocalOps());
  }
  if (options.decompose && !options.cluster.empty()) {
    DecomposeCollectivesOptions decompose;
    decompose.cluster = options.cluster;
    pm.addPass(createDecomposeCollectives(decompose));
  }
  if (options.fuse) {
    FuseCollectivesOptions fuse;
    fuse.cluster = options.cluster;
    fuse.maxBytes = options.fuseBytes;
    fuse.packBytes = options.packBytes;
    pm.addNestedPass<func::FuncOp>(createFuseCollectives(fuse));
  }
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

namespace {
struct CommunicatePipelineOptions
    : PassPipelineOptions<CommunicatePipelineOptions> {
  Option<std::string> cluster{
      *this, "cluster",
      llvm::cl::desc(
          "the cluster's YAML file, for passes that choose by time")};
  Option<bool> quantizeGathers{*this, "quantize-gathers",
                               llvm::cl::desc("run amsp-quantize-gathers")};
  Option<int64_t> quantizeBlock{
      *this, "quantize-block",
      llvm::cl::init(CommunicateOptions().quantizeBlock),
      llvm::cl::desc("elements that share a scale")};
  Option<bool> decompose{*this, "decompose", llvm::cl::init(true),
                         llvm::cl::desc("run amsp-decompose-collectives, if "
                                        "there is a cluster")};
  Option<bool> fuse{*this, "fuse", llvm::cl::init(true),
                    llvm::cl::desc("run amsp-fuse-collectives")};
  Option<int64_t> fuseBytes{
      *this, "fuse-bytes", llvm::cl::init(CommunicateOptions().fuseBytes),
      llvm::cl::desc("bytes that a fused collective has at most")};
  Option<int64_t> packBytes{
      *this, "pack-bytes", llvm::cl::init(0),
      llvm::cl::desc("tensors of up to so many bytes are packed")};
};
} // namespace

void amsp::registerCommunicatePipeline() {
  PassPipelineRegistration<CommunicatePipelineOptions>(
      "amsp-communicate",
      "Merges, orders and overlaps the collectives of a rank's program",
      [](OpPassManager &pm, const CommunicatePipelineOptions &given) {
        CommunicateOptions options;
        options.cluster = given.cluster;
        options.quantizeGathers = given.quantizeGathers;
        options.quantizeBlock = given.quantizeBlock;
        options.decompose = given.decompose;
        options.fuse = given.fuse;
        options.fuseBytes = given.fuseBytes;
        options.packBytes = given.packBytes;
        buildCommunicatePipeline(pm, options);
      });
}
