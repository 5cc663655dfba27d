//===- InsertCollectives.cpp - From a step to one rank's program ----------===//

#include "StepArguments.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/Partitioner.h"

namespace amsp {
#define GEN_PASS_DEF_INSERTCOLLECTIVES
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// Fails if the world does not divide the batch, with sizes that would work.
static LogicalResult verifyBatch(func::FuncOp step, int64_t world) {
  for (BlockArgument argument : step.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto type = cast<RankedTensorType>(argument.getType());
    if (getRole(step, index) != Role::Batch)
      continue;
    int64_t rows = type.getDimSize(0);
    if (rows % world == 0)
      continue;
    InFlightDiagnostic error = step.emitError("batch argument '")
                               << getArgumentName(step, index) << "' has "
                               << rows << " rows, which " << world
                               << " ranks do not divide; ";
    if (rows > world)
      error << rows / world * world << " or ";
    return error << (rows / world + 1) * world << " rows would work";
  }
  return success();
}

/// The attribute form of the placement of an argument or result.
static PlacementAttr getPlacementAttr(MLIRContext *context,
                                      const Placement &placement,
                                      const Grid &grid) {
  if (placement.isSplit())
    return PlacementAttr::get(context, PlacementKind::Split, placement.dim,
                              grid.getWorldDigits());
  if (placement.isFlat() && grid.getPieces(placement.state) > 1)
    return PlacementAttr::get(context, PlacementKind::Flat, placement.keep,
                              grid.getDigits(placement.state));
  return PlacementAttr::getReplicated(context);
}

/// Writes what the step was partitioned for onto the module.
static void setStrategy(ModuleOp module, const Grid &grid) {
  Builder builder(module.getContext());
  const Strategy &strategy = grid.getStrategy();
  module->setAttr("amsp.levels",
                  builder.getDenseI64ArrayAttr(grid.getLevels()));
  module->setAttr("amsp.strategy",
                  builder.getDictionaryAttr(
                      {{"p", builder.getDenseI64ArrayAttr(strategy.p)},
                       {"g", builder.getDenseI64ArrayAttr(strategy.g)},
                       {"os", builder.getDenseI64ArrayAttr(strategy.os)}}));
}

/// Writes global types and placements onto arguments and results.
static void setPlacements(func::FuncOp step, const PlacementAnalysis &analysis,
                          const Grid &grid) {
  MLIRContext *context = step.getContext();
  for (BlockArgument argument : step.getArguments()) {
    unsigned index = argument.getArgNumber();
    step.setArgAttr(index, kGlobalTypeAttr, TypeAttr::get(argument.getType()));
    step.setArgAttr(
        index, kPlacementAttr,
        getPlacementAttr(context, analysis.getNatural(argument), grid));
  }
  for (OpOperand &operand :
       step.getBody().front().getTerminator()->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    step.setResultAttr(index, kGlobalTypeAttr,
                       TypeAttr::get(operand.get().getType()));
    step.setResultAttr(
        index, kPlacementAttr,
        getPlacementAttr(context, analysis.getYielded(operand), grid));
  }
}

namespace {
struct InsertCollectives
    : amsp::impl::InsertCollectivesBase<InsertCollectives> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = getStep(module);
    if (failed(step))
      return signalPassFailure();
    SmallVector<int64_t> sizes(levels.begin(), levels.end());
    if (sizes.empty() || llvm::any_of(sizes, [](int64_t s) { return s < 1; })) {
      module.emitError("the cluster needs levels of positive size");
      return signalPassFailure();
    }
    llvm::Expected<Strategy> parsed = parseStrategy(strategy, sizes);
    if (!parsed) {
      module.emitError(llvm::toString(parsed.takeError()));
      return signalPassFailure();
    }
    std::optional<ReduceType> type = parseReduceType(reduceType);
    if (!type) {
      module.emitError("unknown reduction type '")
          << reduceType << "': expected f32, bf16 or graph";
      return signalPassFailure();
    }
    Grid grid(sizes, *parsed);
    if (failed(verifyBatch(*step, grid.getWorldSize())))
      return signalPassFailure();
    PlacementContext context;
    context.batchPieces = grid.getWorldSize();
    context.minSumBits = *type == ReduceType::F32 ? 32 : 0;
    PlacementAnalysis analysis = analyzeStep(*step, context);
    setStrategy(module, grid);
    setPlacements(*step, analysis, grid);
    numGathered += Partitioner(*step, analysis, grid, *type).run();
  }
};
} // namespace
