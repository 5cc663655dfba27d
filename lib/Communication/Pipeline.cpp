//===- Pipeline.cpp - The pipeline amsp-communicate -----------------------===//

#include "amsp/Communication/Passes.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace amsp;

static LoopSwitch getSwitch(bool isOn) {
  return isOn ? LoopSwitch::On : LoopSwitch::Off;
}

CommunicateOptions CommunicateOptions::withLoops(const LoopForm &form) const {
  CommunicateOptions options = *this;
  options.peelMicrobatches = getSwitch(form.peels);
  options.pipelineLoops = getSwitch(form.pipelines);
  return options;
}

void amsp::buildCommunicatePipeline(OpPassManager &pm,
                                    const CommunicateOptions &options) {
  if (options.peelMicrobatches == LoopSwitch::On)
    pm.addNestedPass<func::FuncOp>(createPeelMicrobatches());
  if (options.pipelineLoops == LoopSwitch::On) {
    PipelineLoopsOptions pipeline;
    pipeline.maxBytes = options.pipelineBytes;
    pm.addNestedPass<func::FuncOp>(createPipelineLoops(pipeline));
  }
  if (options.quantizeGathers || options.quantizeReductions) {
    QuantizeCollectivesOptions quantize;
    quantize.gathers = options.quantizeGathers;
    quantize.reductions = options.quantizeReductions;
    quantize.block = options.quantizeBlock;
    pm.addPass(createQuantizeCollectives(quantize));
    pm.addNestedPass<func::FuncOp>(createLowerLocalOps());
  }
  if (options.decompose && !options.cluster.empty()) {
    DecomposeCollectivesOptions decompose;
    decompose.cluster = options.cluster;
    decompose.together = options.fuse;
    pm.addPass(createDecomposeCollectives(decompose));
  }
  if (options.fuse) {
    FuseCollectivesOptions fuse;
    fuse.cluster = options.cluster;
    fuse.maxBytes = options.fuseBytes;
    fuse.packBytes = options.packBytes;
    fuse.splitEnds = options.splitEnds;
    pm.addNestedPass<func::FuncOp>(createFuseCollectives(fuse));
  }
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Last: what follows keeps the order that it makes.
  if (options.overlap != "off") {
    ScheduleCollectivesOptions schedule;
    schedule.cluster = options.cluster;
    schedule.overlap = options.overlap;
    schedule.prefetchBytes = options.prefetchBytes;
    schedule.raisesBound = options.raisesBound;
    pm.addNestedPass<func::FuncOp>(createScheduleCollectives(schedule));
  }
  pm.addPass(createVerifyProgram());
}

namespace {
struct CommunicatePipelineOptions
    : PassPipelineOptions<CommunicatePipelineOptions> {
  Option<std::string> cluster{
      *this, "cluster",
      llvm::cl::desc(
          "the cluster's YAML file, for passes that choose by time")};
  Option<bool> quantizeGathers{
      *this, "quantize-gathers",
      llvm::cl::desc("run amsp-quantize-collectives on gathers of parameters")};
  Option<bool> quantizeReductions{
      *this, "quantize-reductions",
      llvm::cl::desc("run amsp-quantize-collectives on sums of gradients")};
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
  Option<bool> splitEnds{
      *this, "split-ends", llvm::cl::init(true),
      llvm::cl::desc("smaller collectives at the ends of a block, unless "
                     "fuse-bytes are given")};
  Option<int64_t> packBytes{
      *this, "pack-bytes", llvm::cl::init(-1),
      llvm::cl::desc("tensors of up to so many bytes are packed; -1: as the "
                     "cluster's tensor_overhead says")};
  Option<bool> peelMicrobatches{*this, "peel-microbatches",
                                llvm::cl::init(false),
                                llvm::cl::desc("run amsp-peel-microbatches")};
  Option<bool> pipelineLoops{*this, "pipeline-loops", llvm::cl::init(false),
                             llvm::cl::desc("run amsp-pipeline-loops")};
  Option<int64_t> pipelineBytes{
      *this, "pipeline-bytes", llvm::cl::init(0),
      llvm::cl::desc("bytes that a pipelined loop carries at most; 0: all")};
  Option<std::string> overlap{
      *this, "overlap", llvm::cl::init("on"),
      llvm::cl::desc("for amsp-schedule-collectives: on, off, or a list of "
                     "uses, parameters and gradients")};
  Option<int64_t> prefetchBytes{
      *this, "prefetch-bytes", llvm::cl::init(-1),
      llvm::cl::desc("bound on the bytes in flight; default: twice the "
                     "largest uses of units")};
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
        options.quantizeReductions = given.quantizeReductions;
        options.quantizeBlock = given.quantizeBlock;
        options.decompose = given.decompose;
        options.fuse = given.fuse;
        options.fuseBytes = given.fuseBytes;
        options.packBytes = given.packBytes;
        options.splitEnds = given.splitEnds && !given.fuseBytes.hasValue();
        options.peelMicrobatches = getSwitch(given.peelMicrobatches);
        options.pipelineLoops = getSwitch(given.pipelineLoops);
        options.pipelineBytes = given.pipelineBytes;
        options.overlap = given.overlap;
        options.prefetchBytes = given.prefetchBytes;
        buildCommunicatePipeline(pm, options);
      });
}
