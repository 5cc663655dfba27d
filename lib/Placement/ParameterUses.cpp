//===- ParameterUses.cpp - Gathers of parameters, and their gradients -----===//
//
// A flat value that is used whole is gathered in two stages; the whole value
// and the chain of ops behind it live in a window.
//
//===----------------------------------------------------------------------===//

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/FlatFlow.h"
#include "amsp/Placement/Partitioner.h"
#include "amsp/Support/TensorType.h"

using namespace mlir;
using namespace amsp;
using stablehlo::CaseOp;
using stablehlo::WhileOp;

Value Partitioner::skipBarriers(Value value) const {
  auto barrier = value.getDefiningOp<stablehlo::OptimizationBarrierOp>();
  if (!barrier)
    return value;
  Value operand = skipBarriers(
      barrier->getOperand(cast<OpResult>(value).getResultNumber()));
  bool isState = analysis.getPlacement(operand).isFlat() || isUseChain(operand);
  return isState ? operand : value;
}

bool Partitioner::isUseChain(Value value) const {
  value = skipBarriers(value);
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::ConvertOp,
                       stablehlo::ReshapeOp, stablehlo::SliceOp,
                       stablehlo::TransposeOp>(op) ||
      !analysis.getPlacement(value).isReplicated())
    return false;
  Value operand = op->getOperand(0);
  return analysis.getPlacement(operand).isFlat() || isUseChain(operand);
}

Value Partitioner::getChainRoot(Value value) const {
  value = skipBarriers(value);
  while (isUseChain(value))
    value = skipBarriers(value.getDefiningOp()->getOperand(0));
  return value;
}

Value Partitioner::getUse(Value value, const Placement &placement) {
  std::optional<unsigned> parameter = getParameter(getChainRoot(value));
  enterWindow(parameter ? getUnit(*parameter) : "");
  if (Value local = lookup(windowLocals, value, placement))
    return local;
  Value local;
  if (!isUseChain(value)) {
    local = isWidened(value) ? widen(value) : getWhole(value);
    if (placement.isSplit())
      local = converter.convert(builder, value.getLoc(), local,
                                getTensorType(value), Placement::replicated(),
                                placement);
  } else if (placement.isSplit()) {
    local = pullUp(value, placement);
    if (!local)
      local = converter.convert(
          builder, value.getLoc(), getUse(value, Placement::replicated()),
          getTensorType(value), Placement::replicated(), placement);
  } else {
    Operation *op = value.getDefiningOp();
    Value operand = get(op->getOperand(0), Placement::replicated());
    Transfer transfer = getReplicatedTransfer(op);
    local = emitLocal(op, transfer, operand)->getResult(0);
  }
  windowLocals[value].push_back({placement, local});
  return local;
}

/// True for a flat value that was narrower, or is one in another shape: it is
/// gathered before it is widened.
bool Partitioner::isWidened(Value value) const {
  Value operand = getStateOperand(value);
  if (!operand)
    return false;
  if (isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(
          value.getDefiningOp()))
    return isWidened(operand);
  auto getBits = [](Value value) {
    return getTensorType(value).getElementTypeBitWidth();
  };
  return getBits(operand) < getBits(value);
}

Value Partitioner::widen(Value value) {
  Operation *op = value.getDefiningOp();
  Value operand = get(op->getOperand(0), Placement::replicated());
  return emitLocal(op, getReplicatedTransfer(op), operand)->getResult(0);
}

/// Gathers a flat value in two stages.
Value Partitioner::getWhole(Value value) {
  Value kept = getKept(value);
  CollectiveTag tag = getTag(value);
  tag.window = window;
  return converter.convert(builder, value.getLoc(), kept, getTensorType(value),
                           getKeptPlacement(value), Placement::replicated(),
                           tag);
}

Placement Partitioner::getKeptPlacement(Value value) const {
  Placement resting = analysis.getPlacement(value);
  if (grids[resting.strategy].getPieces(ModelState::P) == 1)
    return Placement::replicated();
  return Placement::flat(ModelState::P, resting.keep, resting.strategy);
}

Value Partitioner::getKept(Value value) {
  Placement kept = getKeptPlacement(value);
  Placement resting = analysis.getPlacement(value);
  const Grid &grid = grids[resting.strategy];
  if (Value local = lookup(locals, value, kept))
    return local;
  auto getLoop = [](Value value) {
    return value.getParentRegion()->getParentOfType<WhileOp>();
  };
  // Pieces that a loop takes of a stack are taken of what is kept of it.
  Value stack = getStateOperand(value);
  if (getLoop(value) && stack &&
      grid.getPieces(ModelState::P) != grid.getPieces(ModelState::OS)) {
    Operation *op = value.getDefiningOp();
    Transfer transfer = getReplicatedTransfer(op);
    transfer.operands.front() = getKeptPlacement(stack);
    transfer.results.front() = kept;
    SmallVector<Value> operands = {getKept(stack)};
    for (Value index : op->getOperands().drop_front())
      operands.push_back(get(index, Placement::replicated()));
    Value local = emitLocal(op, transfer, operands)->getResult(0);
    remember(value, kept, local);
    return local;
  }
  // The first stage happens once, before the loops.
  OpBuilder::InsertionGuard guard(builder);
  bool isOutside = outermostLoop && !getLoop(value);
  if (isOutside)
    builder.setInsertionPoint(outermostLoop);
  Value local =
      converter.convert(builder, value.getLoc(), lookup(locals, value, resting),
                        getTensorType(value), resting, kept, getTag(value));
  remember(value, kept, local, isOutside ? outermostScopes : scopes.size());
  return local;
}

void Partitioner::enterWindow(StringRef unit) {
  if (unit == windowUnit)
    return;
  windowUnit = unit;
  windowLocals.clear();
  ++window;
}

Value Partitioner::getStateOperand(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::ConvertOp,
                       stablehlo::DynamicSliceOp, stablehlo::ReshapeOp,
                       stablehlo::SliceOp>(op))
    return {};
  Value operand = skipBarriers(op->getOperand(0));
  bool isState = analysis.getPlacement(value).isFlat() &&
                 analysis.getPlacement(operand).isFlat();
  return isState ? operand : Value();
}

/// The slice that a loop writes into its result in each iteration, where that
/// is all that it writes; null for other values.
static Value getStackedSlice(Value value) {
  auto loop = value.getDefiningOp<WhileOp>();
  if (!loop)
    return {};
  unsigned index = cast<OpResult>(value).getResultNumber();
  auto update = loop.getBody()
                    .front()
                    .getTerminator()
                    ->getOperand(index)
                    .getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
  bool isStack =
      update && update.getOperand() == loop.getBody().getArgument(index);
  return isStack ? update.getUpdate() : Value();
}

std::optional<unsigned> Partitioner::getParameter(Value value) const {
  value = skipBarriers(value);
  while (true) {
    if (Value operand = getStateOperand(value))
      value = operand;
    else if (Value slice = getStackedSlice(value))
      value = skipBarriers(slice);
    else if (auto rows = value.getDefiningOp<stablehlo::ConcatenateOp>();
             rows && analysis.getPlacement(value).isFlat())
      value = skipBarriers(rows.getInputs().front()); // of one loop, unrolled
    else
      break;
  }
  // What one branch hands on for the backward pass; others have zeros.
  if (auto branches = value.getDefiningOp<CaseOp>()) {
    for (Value producer : getFlatProducers(value))
      if (std::optional<unsigned> parameter = getParameter(producer))
        return parameter;
    return std::nullopt;
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != step)
    return std::nullopt;
  auto role =
      step.getArgAttrOfType<RoleAttr>(argument.getArgNumber(), kRoleAttr);
  if (!role || role.getValue() != Role::Param)
    return std::nullopt;
  return argument.getArgNumber();
}

StringRef Partitioner::getUnit(unsigned parameter) const {
  auto unit = step.getArgAttrOfType<StringAttr>(parameter, kUnitAttr);
  return unit ? unit.getValue() : StringRef();
}

CollectiveTag Partitioner::getTag(Value value) const {
  CollectiveTag tag;
  std::optional<unsigned> parameter = getParameter(value);
  if (auto it = gradients.find(value); !parameter && it != gradients.end())
    parameter = it->second;
  if (parameter) {
    tag.parameter = *parameter;
    tag.unit = getUnit(*parameter);
  }
  return tag;
}

/// The values that flow into a parameter's new one, moved about or as they are.
/// `followsParts`: also through ops that take a part of what there is.
static llvm::SetVector<Value> getMovedSources(Value updated,
                                              bool followsParts) {
  llvm::SetVector<Value> moved;
  SmallVector<Value> worklist = {updated};
  while (!worklist.empty())
    for (Value source : getTransposedSources(worklist.pop_back_val())) {
      if (!moved.insert(source))
        continue;
      llvm::append_range(worklist, getPlacedParts(source));
      if (Value whole = getWholeOfPart(source); whole && followsParts)
        worklist.push_back(whole);
    }
  return moved;
}

void Partitioner::findGradients() {
  Operation *terminator = step.getBody().front().getTerminator();
  SmallVector<std::pair<unsigned, Value>> updates;
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    auto result = step.getArgAttrOfType<IntegerAttr>(i, kResultAttr);
    if (result && getParameter(step.getArgument(i)))
      updates.emplace_back(i, terminator->getOperand(result.getInt()));
  }
  auto isSum = [&](Value value) {
    return analysis.getNatural(value).isPartial();
  };
  for (auto [parameter, updated] : updates)
    for (Value source : getMovedSources(updated, /*followsParts=*/false))
      if (isSum(source))
        gradients.try_emplace(source, parameter);
  // What a part is taken of may hold the gradients of several parameters, and
  // is then no single one's.
  llvm::MapVector<Value, SmallVector<unsigned, 1>> wholes;
  for (auto [parameter, updated] : updates)
    for (Value source : getMovedSources(updated, /*followsParts=*/true))
      if (isSum(source) && !gradients.contains(source))
        wholes[source].push_back(parameter);
  for (auto &[source, parameters] : wholes)
    if (parameters.size() == 1)
      gradients[source] = parameters.front();
}
