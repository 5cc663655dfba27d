//===- LoopChoice.cpp - Which loops are written anew ----------------------===//

#include "amsp/Compile/LoopChoice.h"
#include "amsp/Planner/EqualTimes.h"
#include "amsp/Planner/ProgramSchedule.h"
#include "amsp/Planner/StepModel.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace amsp;
using llvm::createStringError;
using llvm::Expected;

static llvm::Error setLoopSwitch(LoopSwitch &value, StringRef option,
                                 StringRef text) {
  auto parsed = llvm::StringSwitch<std::optional<LoopSwitch>>(text)
                    .Case("auto", LoopSwitch::Auto)
                    .Cases({"", "on"}, LoopSwitch::On)
                    .Case("off", LoopSwitch::Off)
                    .Default(std::nullopt);
  if (!parsed)
    return createStringError("--" + option + " " + text +
                             ": expected auto, on or off");
  value = *parsed;
  return llvm::Error::success();
}

llvm::Error amsp::setLoopSwitches(CommunicateOptions &options, StringRef peel,
                                  StringRef pipeline) {
  if (llvm::Error error =
          setLoopSwitch(options.peelMicrobatches, "peel-microbatches", peel))
    return error;
  return setLoopSwitch(options.pipelineLoops, "pipeline-loops", pipeline);
}

void amsp::decideLoops(CommunicateOptions &options, const LoopForm &form) {
  CommunicateOptions decided = options.withLoops(form);
  if (options.peelMicrobatches == LoopSwitch::Auto)
    options.peelMicrobatches = decided.peelMicrobatches;
  if (options.pipelineLoops == LoopSwitch::Auto)
    options.pipelineLoops = decided.pipelineLoops;
}

std::string amsp::describeLoops(const LoopForm &form) {
  if (form.peels && form.pipelines)
    return "microbatches peeled, layers pipelined";
  return form.peels       ? "microbatches peeled"
         : form.pipelines ? "layers pipelined"
                          : "as they stand";
}

/// The step of a copy of the program with its loops in that form.
static FailureOr<double> simulateForm(ModuleOp program, const LoopForm &form,
                                      const CommunicateOptions &communication,
                                      const Cluster &cluster,
                                      const CollectiveModel &collectives) {
  OwningOpRef<ModuleOp> copy(program.clone());
  PassManager passes(program.getContext());
  passes.enableVerifier(false);
  CommunicateOptions options = communication.withLoops(form);
  options.raisesBound = true; // which forms it excludes shows later
  buildCommunicatePipeline(passes, options);
  if (failed(passes.run(*copy)))
    return failure();
  FailureOr<ProgramSimulation> simulation =
      simulateStep(getStepFunction(*copy), cluster, collectives);
  if (failed(simulation))
    return failure();
  return simulation->step.seconds;
}

Expected<LoopForms> amsp::rankLoopForms(ModuleOp program,
                                        const CommunicateOptions &communication,
                                        const Cluster &cluster,
                                        const CollectiveModel &collectives) {
  func::FuncOp step = getStepFunction(program);
  LoopForms forms;
  forms.possible = {canPeelMicrobatches(step),
                    canPipelineLoops(step, communication.pipelineBytes)};
  bool knowsLinks = !communication.cluster.empty();
  // What a switch may say, the simpler first.
  auto getChoices = [&](LoopSwitch given, bool isPossible) {
    SmallVector<bool, 2> choices = {given == LoopSwitch::On && isPossible};
    if (given == LoopSwitch::Auto && isPossible && knowsLinks)
      choices.push_back(true);
    return choices;
  };
  SmallVector<LoopForm> candidates;
  for (bool pipelines :
       getChoices(communication.pipelineLoops, forms.possible.pipelines))
    for (bool peels :
         getChoices(communication.peelMicrobatches, forms.possible.peels))
      candidates.push_back({peels, pipelines});
  SmallVector<double> seconds(candidates.size(), 0);
  if (candidates.size() > 1)
    for (auto [form, time] : llvm::zip_equal(candidates, seconds)) {
      FailureOr<double> simulated =
          simulateForm(program, form, communication, cluster, collectives);
      if (failed(simulated))
        return createStringError("");
      time = *simulated;
    }
  // Where one does not fit, the best of the simpler ones is the next.
  for (size_t simpler = candidates.size(); simpler > 0;) {
    simpler = getFirstOfFastest(ArrayRef(seconds).take_front(simpler));
    forms.ranked.push_back(candidates[simpler]);
  }
  return forms;
}
