//===- Passes.h - Passes that optimise a step's communication ---*- C++ -*-===//

#ifndef AMSP_COMMUNICATION_PASSES_H
#define AMSP_COMMUNICATION_PASSES_H

#include "amsp/Communication/LoopForms.h"
#include "amsp/Support/PassStatistic.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace amsp {

class AMSPDialect;
namespace stablehlo {
class StableHLODialect;
} // namespace stablehlo

#define GEN_PASS_DECL
#include "amsp/Communication/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "amsp/Communication/Passes.h.inc"

/// What the pipeline below needs to know.
struct CommunicateOptions {
  /// The cluster's YAML file, if it tells the links; else passes that choose by
  /// time leave things as they are.
  std::string cluster;
  /// Whether parameters and gradients travel as int8, with a scale for so many
  /// elements.
  bool quantizeGathers = false;
  bool quantizeReductions = false;
  int64_t quantizeBlock = 256;
  bool decompose = true;
  bool fuse = true;
  /// Bytes of a fused collective, and of tensors that are packed; negative: as
  /// the cluster's tensor_overhead says.
  int64_t fuseBytes = 1'000'000'000'000'000'000;
  int64_t packBytes = -1;
  /// Smaller collectives at the ends of a block; where the bytes are stated,
  /// they are meant.
  bool splitEnds = true;
  /// Take the first and the last microbatch out of their loop.
  LoopSwitch peelMicrobatches = LoopSwitch::Auto;
  /// Gather layers one iteration ahead, reduce their gradients one behind; of a
  /// loop, up to so many bytes (0: all).
  LoopSwitch pipelineLoops = LoopSwitch::Auto;
  int64_t pipelineBytes = 0;
  /// As `--overlap`: see OverlapSet.
  std::string overlap = "on";
  /// Bound on the bytes in flight; negative: twice the largest uses of units.
  int64_t prefetchBytes = -1;
  /// Where the bound is too small, take the least that is not, instead of an
  /// error; allows() tells.
  bool raisesBound = false;

  /// Whether a schedule for that bound (getPrefetchBytes) keeps the one here.
  bool allows(int64_t bound) const {
    return prefetchBytes < 0 || bound <= prefetchBytes;
  }
  /// The same with the loops in that form.
  CommunicateOptions withLoops(const LoopForm &form) const;
};

/// From the program of one rank, as amsp-partition leaves it, to the same
/// program with its collectives merged, ordered and overlapped.
void buildCommunicatePipeline(mlir::OpPassManager &pm,
                              const CommunicateOptions &options);
/// Registers it as `amsp-communicate`.
void registerCommunicatePipeline();

} // namespace amsp

#endif // AMSP_COMMUNICATION_PASSES_H
