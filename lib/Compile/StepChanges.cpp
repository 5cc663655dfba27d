//===- StepChanges.cpp - What a plan makes of the exported step -----------===//

#include "amsp/Compile/StepChanges.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Planner/StepModel.h"
#include "amsp/Planner/UnitPattern.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace amsp;
using llvm::createStringError;
using llvm::Error;

Error amsp::changeStep(ModuleOp step, const StepChanges &changes) {
  if (changes.microbatches > 1) {
    if (failed(splitMicrobatches(getStepFunction(step), changes.microbatches)))
      return createStringError("");
    // Uses of parameters are cloned for each consumer, as by the partitioner.
    PassManager passes(step.getContext());
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    if (failed(passes.run(step)))
      return createStringError("");
  }
  if (failed(recomputeUnits(getStepFunction(step), changes.recompute)))
    return createStringError("");
  return Error::success();
}

std::string amsp::describeChanges(const StepChanges &changes) {
  std::string text;
  if (changes.microbatches > 1)
    text = std::to_string(changes.microbatches) + " microbatches";
  if (!changes.recompute.empty())
    text += (text.empty() ? "computing " : ", computing ") +
            formatUnits(changes.recompute) + " again";
  return text;
}
