//===- PlacementDemand.cpp - Where only pieces are needed -----------------===//

#include "amsp/Placement/PlacementDemand.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace amsp;
using stablehlo::CaseOp;
using stablehlo::WhileOp;

static bool isInPieces(const Placement &placement) {
  return placement.isSplit() || placement.isFlat();
}

PlacementDemand::PlacementDemand(func::FuncOp step,
                                 const PlacementAnalysis &analysis)
    : analysis(analysis) {
  visitBlock(step.getBody().front());
}

std::optional<Placement> PlacementDemand::getPieces(Value value) const {
  auto it = demands.find(value);
  if (it == demands.end() || !isInPieces(it->second))
    return std::nullopt;
  return it->second;
}

/// A demand becomes pieces once, and whole once, so visits end.
bool PlacementDemand::join(Value value, const Placement &placement) {
  if (!analysis.getPlacement(value).isReplicated())
    return false;
  Placement asked = isInPieces(placement) ? placement : Placement::replicated();
  auto [it, isFirst] = demands.try_emplace(value, asked);
  if (isFirst)
    return true;
  if (it->second == asked || it->second.isReplicated())
    return false;
  it->second = Placement::replicated();
  return true;
}

bool PlacementDemand::joinAsDemanded(Value value, Value by) {
  auto it = demands.find(by);
  // A copy: the map grows.
  return it != demands.end() && join(value, Placement(it->second));
}

/// Backwards: uses come before what they use.
bool PlacementDemand::visitBlock(Block &block) {
  bool changed = false;
  for (Operation &op : llvm::reverse(block)) {
    if (auto loop = dyn_cast<WhileOp>(op))
      changed |= visitWhile(loop);
    else if (auto branches = dyn_cast<CaseOp>(op))
      changed |= visitCase(branches);
    else if (op.hasTrait<OpTrait::IsTerminator>())
      changed |= visitTerminator(&op);
    else
      changed |= visitOp(&op);
  }
  return changed;
}

bool PlacementDemand::visitOp(Operation *op) {
  bool changed = false;
  // Combiners see whole values.
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    changed |= join(value, Placement::replicated());
  Transfer transfer = analysis.getTransfer(op);
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
    if (std::optional<Placement> asked = getAsked(op, transfer, i))
      changed |= join(op->getOperand(i), *asked);
  return changed;
}

/// In what placement the op takes the operand; nothing if no use of its result
/// is known.
std::optional<Placement> PlacementDemand::getAsked(Operation *op,
                                                   const Transfer &transfer,
                                                   unsigned operand) const {
  const Placement &asked = transfer.operands[operand];
  auto rules = dyn_cast<PlacementOpInterface>(op);
  if (!asked.isReplicated() || !rules || op->getNumResults() != 1 ||
      !analysis.getPlacement(op->getResult(0)).isReplicated())
    return asked;
  auto it = demands.find(op->getResult(0));
  if (it == demands.end())
    return std::nullopt;
  if (!isInPieces(it->second))
    return asked;
  std::optional<SmallVector<Placement>> pulled =
      rules.pullPlacement(it->second, analysis.getContext());
  return pulled ? (*pulled)[operand] : asked;
}

bool PlacementDemand::visitTerminator(Operation *terminator) {
  auto loop = dyn_cast<WhileOp>(terminator->getParentOp());
  bool isBody = loop && terminator->getParentRegion() == &loop.getBody();
  bool changed = false;
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value carry = isBody
                      ? loop.getBody().getArgument(operand.getOperandNumber())
                      : Value();
    if (carry && analysis.getNatural(carry).isReplicated())
      changed |= joinAsDemanded(operand.get(), carry);
    else
      changed |= join(operand.get(), analysis.getYielded(operand));
  }
  return changed;
}

bool PlacementDemand::visitCase(CaseOp branches) {
  bool changed = join(branches.getIndex(), Placement::replicated());
  for (Region &branch : branches.getBranches())
    changed |= visitBlock(branch.front());
  return changed;
}

bool PlacementDemand::visitWhile(WhileOp loop) {
  bool changed = false, changesCarries = true;
  while (changesCarries) {
    changesCarries = false;
    // One demand for the value that an iteration begins with, hands on, and
    // that the loop ends with.
    for (auto [index, result] : llvm::enumerate(loop.getResults())) {
      Value carry = loop.getBody().getArgument(index);
      changesCarries |= joinAsDemanded(carry, result);
      changesCarries |=
          joinAsDemanded(carry, loop.getCond().getArgument(index));
    }
    for (Region *region : {&loop.getBody(), &loop.getCond()})
      changesCarries |= visitBlock(region->front());
    changed |= changesCarries;
  }
  for (auto [index, operand] : llvm::enumerate(loop.getOperand())) {
    Value carry = loop.getBody().getArgument(index);
    if (analysis.getNatural(carry).isReplicated())
      changed |= joinAsDemanded(operand, carry);
    else
      changed |= join(operand, analysis.getNatural(carry));
  }
  return changed;
}
