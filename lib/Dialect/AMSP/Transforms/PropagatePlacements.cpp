//===- PropagatePlacements.cpp - Shows placements on the ops --------------===//

#include "StepArguments.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/PlacementAnalysis.h"

namespace amsp {
#define GEN_PASS_DEF_PROPAGATEPLACEMENTS
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

static std::string toText(const Placement &placement) {
  std::string text;
  llvm::raw_string_ostream(text) << placement;
  return text;
}

namespace {
struct PropagatePlacements
    : amsp::impl::PropagatePlacementsBase<PropagatePlacements> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = getStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    PlacementContext context;
    context.batchPieces = world;
    PlacementAnalysis analysis = analyzeStep(*step, context);
    Builder builder(&getContext());
    step->walk([&](Operation *op) {
      if (op == *step || op->getNumResults() == 0 ||
          !isa<func::FuncOp, stablehlo::WhileOp>(op->getParentOp()))
        return;
      SmallVector<Attribute> made, completed;
      bool isCompleted = false;
      for (Value result : op->getResults()) {
        made.push_back(
            builder.getStringAttr(toText(analysis.getNatural(result))));
        completed.push_back(
            builder.getStringAttr(toText(analysis.getPlacement(result))));
        isCompleted |= analysis.isCompleted(result);
      }
      op->setAttr("amsp.made", builder.getArrayAttr(made));
      if (isCompleted)
        op->setAttr("amsp.completed", builder.getArrayAttr(completed));
    });
  }
};
} // namespace
