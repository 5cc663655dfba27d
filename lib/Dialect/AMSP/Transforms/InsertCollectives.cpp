//===- InsertCollectives.cpp - From a step to one rank's program ----------===//

#include "StepArguments.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/Partitioner.h"
#include "amsp/Placement/StepAttributes.h"
#include "amsp/Placement/UnitStrategies.h"

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
                                      ArrayRef<Grid> grids) {
  const Grid &grid = grids[placement.strategy];
  if (placement.isSplit())
    return PlacementAttr::get(context, PlacementKind::Split, placement.dim,
                              grid.getWorldDigits());
  if (placement.isFlat() && grid.getPieces(placement.state) > 1)
    return PlacementAttr::get(context, PlacementKind::Flat, placement.keep,
                              grid.getDigits(placement.state));
  return PlacementAttr::getReplicated(context);
}

/// Writes what the step was partitioned for onto the module and, if units
/// differ, onto the arguments.
static void setStrategies(ModuleOp module, func::FuncOp step,
                          ArrayRef<int64_t> levels,
                          const UnitStrategies &units) {
  MLIRContext *context = module.getContext();
  module->setAttr("amsp.levels", Builder(context).getDenseI64ArrayAttr(levels));
  std::optional<Strategy> common = units.getCommon();
  if (common)
    module->setAttr(kStrategyAttr, getStrategyAttr(context, *common));
  StepAttributes attributes(step);
  for (auto [argument, strategy] : llvm::enumerate(units.ofUnit)) {
    NamedAttrList &list = attributes.ofArgument(argument);
    if (common)
      list.erase(kStrategyAttr);
    else if (list.get(kUnitAttr))
      list.set(kStrategyAttr,
               getStrategyAttr(context, units.strategies[strategy]));
  }
  attributes.write();
}

/// Writes global types and placements onto arguments and results.
static void setPlacements(func::FuncOp step, const PlacementAnalysis &analysis,
                          ArrayRef<Grid> grids) {
  MLIRContext *context = step.getContext();
  StepAttributes attributes(step);
  for (BlockArgument argument : step.getArguments()) {
    NamedAttrList &list = attributes.ofArgument(argument.getArgNumber());
    list.set(kGlobalTypeAttr, TypeAttr::get(argument.getType()));
    list.set(kPlacementAttr,
             getPlacementAttr(context, analysis.getNatural(argument), grids));
  }
  for (OpOperand &operand :
       step.getBody().front().getTerminator()->getOpOperands()) {
    NamedAttrList &list = attributes.ofResult(operand.getOperandNumber());
    list.set(kGlobalTypeAttr, TypeAttr::get(operand.get().getType()));
    list.set(kPlacementAttr,
             getPlacementAttr(context, analysis.getYielded(operand), grids));
  }
  attributes.write();
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
    std::optional<Strategy> others;
    if (!strategy.empty()) {
      llvm::Expected<Strategy> parsed = parseStrategy(strategy, sizes);
      if (!parsed) {
        module.emitError(llvm::toString(parsed.takeError()));
        return signalPassFailure();
      }
      others = std::move(*parsed);
    }
    FailureOr<UnitStrategies> units = getUnitStrategies(*step, sizes, others);
    if (failed(units))
      return signalPassFailure();
    std::optional<ReduceType> type = parseReduceType(reduceType);
    if (!type) {
      module.emitError("unknown reduction type '")
          << reduceType << "': expected f32, bf16 or graph";
      return signalPassFailure();
    }
    std::vector<Grid> grids = units->getGrids(sizes);
    int64_t world = grids.front().getWorldSize();
    if (failed(verifyBatch(*step, world)))
      return signalPassFailure();
    PlacementContext context;
    context.batchPieces = world;
    context.minSumBits = *type == ReduceType::F32 ? 32 : 0;
    PlacementAnalysis analysis =
        analyzeStep(*step, context, units->ofArgument, units->ofResult);
    numVisits += analysis.getNumVisits();
    setStrategies(module, *step, sizes, *units);
    setPlacements(*step, analysis, grids);
    numGathered += Partitioner(*step, analysis, grids, *type).run();
  }
};
} // namespace
