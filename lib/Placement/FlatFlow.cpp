//===- FlatFlow.cpp - Values that share a flattened order -----------------===//

#include "amsp/Placement/FlatFlow.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace amsp;
using stablehlo::CaseOp;
using stablehlo::WhileOp;

/// True if the broadcast does no more than add dimensions of size 1.
static bool isReshape(stablehlo::BroadcastInDimOp broadcast) {
  return cast<RankedTensorType>(broadcast.getOperand().getType())
                 .getNumElements() ==
             cast<RankedTensorType>(broadcast.getType()).getNumElements() &&
         llvm::is_sorted(broadcast.getBroadcastDimensions());
}

bool amsp::keepsFlatOrder(Operation *op) {
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return isReshape(broadcast);
  return op->hasTrait<stablehlo::Elementwise>() ||
         isa<stablehlo::ReshapeOp, stablehlo::OptimizationBarrierOp>(op);
}

/// What a loop hands to its carry `index`.
static SmallVector<Value> getCarrySources(WhileOp loop, unsigned index) {
  Operation *yield = loop.getBody().front().getTerminator();
  return {loop.getOperand()[index], yield->getOperand(index)};
}

SmallVector<Value> amsp::getFlatProducers(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto loop = dyn_cast<WhileOp>(argument.getOwner()->getParentOp()))
      return getCarrySources(loop, argument.getArgNumber());
    return {};
  }
  Operation *op = value.getDefiningOp();
  unsigned index = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<WhileOp>(op))
    return getCarrySources(loop, index);
  if (auto branches = dyn_cast<CaseOp>(op))
    return llvm::map_to_vector(branches.getBranches(), [&](Region &branch) {
      return branch.front().getTerminator()->getOperand(index);
    });
  if (isa<stablehlo::OptimizationBarrierOp>(op))
    return {op->getOperand(index)};
  if (keepsFlatOrder(op))
    return SmallVector<Value>(op->getOperands());
  return {};
}

static llvm::SetVector<Value> getSources(Value value, bool isTransposed) {
  auto getElements = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getNumElements();
  };
  llvm::SetVector<Value> sources;
  sources.insert(value);
  for (size_t i = 0; i < sources.size(); ++i) {
    SmallVector<Value> producers = getFlatProducers(sources[i]);
    auto transpose = sources[i].getDefiningOp<stablehlo::TransposeOp>();
    if (isTransposed && transpose)
      producers.push_back(transpose.getOperand());
    for (Value producer : producers)
      if (getElements(producer) == getElements(value))
        sources.insert(producer);
  }
  return sources;
}

SmallVector<Value> amsp::getPlacedParts(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto pad = dyn_cast_or_null<stablehlo::PadOp>(op))
    return {pad.getOperand()};
  if (auto reverse = dyn_cast_or_null<stablehlo::ReverseOp>(op))
    return {reverse.getOperand()};
  if (auto joined = dyn_cast_or_null<stablehlo::ConcatenateOp>(op))
    return SmallVector<Value>(joined.getInputs());
  if (auto update = dyn_cast_or_null<stablehlo::DynamicUpdateSliceOp>(op))
    return {update.getOperand(), update.getUpdate()};
  return {};
}

Value amsp::getWholeOfPart(Value value) {
  Operation *op = value.getDefiningOp();
  bool takesPart =
      isa_and_nonnull<stablehlo::SliceOp, stablehlo::DynamicSliceOp>(op);
  return takesPart ? op->getOperand(0) : Value();
}

llvm::SetVector<Value> amsp::getFlatSources(Value value) {
  return getSources(value, /*isTransposed=*/false);
}

llvm::SetVector<Value> amsp::getTransposedSources(Value value) {
  return getSources(value, /*isTransposed=*/true);
}
