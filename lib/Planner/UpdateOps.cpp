//===- UpdateOps.cpp - The optimizer's part of a step ---------------------===//

#include "amsp/Planner/UpdateOps.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace amsp;
using stablehlo::CaseOp;
using stablehlo::WhileOp;

/// What an op reads, its regions included.
static llvm::SetVector<Value> getReadValues(Operation *op) {
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  return read;
}

namespace {
/// The values that differ between ranks with their parts of the batch: what
/// follows from batch arguments other than through a reduction over ranks.
class BatchValues {
public:
  explicit BatchValues(func::FuncOp step);

  /// Whether the op reads one.
  bool areReadBy(Operation *op) const {
    return llvm::any_of(getReadValues(op),
                        [&](Value value) { return values.contains(value); });
  }

private:
  void visit(Block &block);
  void visit(WhileOp loop);
  void visit(CaseOp branches);
  /// Whether `to` was not known to be one and `from` is.
  bool spread(Value from, Value to) {
    return values.contains(from) && values.insert(to).second;
  }

  DenseSet<Value> values;
};
} // namespace

BatchValues::BatchValues(func::FuncOp step) {
  for (BlockArgument argument : step.getArguments()) {
    auto role =
        step.getArgAttrOfType<RoleAttr>(argument.getArgNumber(), kRoleAttr);
    if (role && role.getValue() == Role::Batch)
      values.insert(argument);
  }
  visit(step.getBody().front());
}

void BatchValues::visit(Block &block) {
  for (Operation &op : block.without_terminator()) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (auto loop = dyn_cast<WhileOp>(op))
      visit(loop);
    else if (auto branches = dyn_cast<CaseOp>(op))
      visit(branches);
    else if (!(collective && collective.getCombiner()) && areReadBy(&op))
      values.insert(op.result_begin(), op.result_end());
  }
}

void BatchValues::visit(WhileOp loop) {
  Block &body = loop.getBody().front();
  for (auto [operand, argument] :
       llvm::zip_equal(loop.getOperand(), body.getArguments()))
    spread(operand, argument);
  // Each round finds another carry, or is the last.
  for (bool changed = true; changed;) {
    changed = false;
    visit(body);
    for (auto [next, argument] : llvm::zip_equal(
             body.getTerminator()->getOperands(), body.getArguments()))
      changed |= spread(next, argument);
  }
  for (auto [argument, result] :
       llvm::zip_equal(body.getArguments(), loop.getResults()))
    spread(argument, result);
}

void BatchValues::visit(CaseOp branches) {
  for (Region &branch : branches.getBranches()) {
    visit(branch.front());
    for (auto [handed, result] :
         llvm::zip_equal(branch.front().getTerminator()->getOperands(),
                         branches.getResults()))
      spread(handed, result);
  }
}

DenseSet<Operation *> amsp::getUpdateOps(func::FuncOp step) {
  BatchValues batch(step);
  Operation *terminator = step.getBody().front().getTerminator();
  SmallVector<Value> open;
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    auto role = step.getArgAttrOfType<RoleAttr>(i, kRoleAttr);
    auto result = step.getArgAttrOfType<IntegerAttr>(i, kResultAttr);
    if (role && result &&
        llvm::is_contained({Role::Param, Role::OptState}, role.getValue()))
      open.push_back(terminator->getOperand(result.getInt()));
  }
  DenseSet<Operation *> ops;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || batch.areReadBy(op) || !ops.insert(op).second)
      continue;
    llvm::append_range(open, getReadValues(op));
  }
  return ops;
}
