//===- PlanStrategies.cpp - Planning as a pass ----------------------------===//

#include "amsp/Compile/Passes.h"
#include "amsp/Compile/StrategyChoice.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Placement/PlacementConverter.h"

namespace amsp {
#define GEN_PASS_DEF_PLANSTRATEGIES
#include "amsp/Compile/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {
struct PlanStrategies : amsp::impl::PlanStrategiesBase<PlanStrategies> {
  using Base::Base;

  /// The passes that a search compiles plans with bring these.
  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    getPlanningDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto fail = [&](llvm::Error error) {
      std::string text = toString(std::move(error));
      if (!text.empty())
        module.emitError(text);
      signalPassFailure();
    };
    llvm::Expected<Cluster> parsed = parseCluster(cluster);
    if (!parsed)
      return fail(parsed.takeError());
    if (!parseReduceType(reduceType))
      return fail(llvm::createStringError("unknown reduction type '" +
                                          reduceType +
                                          "': expected f32, bf16 or graph"));
    PlanningOptions options;
    options.partition.levels = parsed->getSizes();
    options.partition.reduceType = reduceType;
    options.stopsAtFirstFit = true;
    // As amsp-communicate does by default.
    options.communication = options.communication.withLoops(LoopForm());
    options.communication.cluster = cluster;
    auto choice = chooseStrategies(module, strategy, *parsed, options);
    if (!choice)
      return fail(choice.takeError());
    // Other passes do what the plan says of these.
    if (!choice->reduceType.empty() && choice->reduceType != reduceType)
      return fail(llvm::createStringError("reduce-type=" + reduceType +
                                          ": plan '" + strategy + "' says " +
                                          choice->reduceType));
    if (strategy != "auto" && choice->loops && !(*choice->loops == LoopForm()))
      module.emitRemark() << "plan '" << strategy
                          << "' says loops: " << describeLoops(*choice->loops)
                          << ", which the options of amsp-communicate ask for";
    if (llvm::Error error = changeStep(module, choice->changes))
      return fail(std::move(error));
    numUnits += choice->units.size();
    setUnitStrategies(getStepFunction(module), choice->units,
                      choice->strategies);
  }
};
} // namespace
