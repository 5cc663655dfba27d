//===- RankVariation.cpp - Which values differ between ranks --------------===//

#include "RankVariation.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace amsp;

static ArrayRef<Digit> getPlacementDigits(DictionaryAttr attrs) {
  auto placement =
      attrs ? attrs.getAs<PlacementAttr>(kPlacementAttr) : PlacementAttr();
  return placement ? placement.getDigits() : ArrayRef<Digit>();
}

/// The group of an op that has one.
static GroupAttr getGroup(Operation *op) {
  return op->getAttrOfType<GroupAttr>("group");
}

void RankVariation::collectBounds(func::FuncOp program,
                                  ArrayRef<int64_t> levels) {
  auto add = [&](ArrayRef<Digit> digits) {
    for (const Digit &digit : digits) {
      bounds.push_back(digit.stride);
      bounds.push_back(digit.stride * digit.size);
    }
  };
  int64_t world = 1;
  bounds.push_back(world);
  for (int64_t size : levels)
    bounds.push_back(world *= size);
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    add(getPlacementDigits(program.getArgAttrDict(i)));
  program.walk([&](Operation *op) {
    if (GroupAttr group = getGroup(op))
      add(group.getDigits());
  });
  llvm::sort(bounds);
  bounds.erase(llvm::unique(bounds), bounds.end());
  // Where the digits do not nest, they are told apart no further.
  for (size_t i = 0; i + 1 < bounds.size(); ++i)
    if (bounds[i + 1] % bounds[i] != 0 || bounds.back() > world) {
      bounds.assign({1, world});
      return;
    }
}

RankVariation::Set RankVariation::getDigits(ArrayRef<Digit> digits) const {
  Set set = 0;
  for (const Digit &digit : digits)
    for (size_t i = 0; i + 1 < bounds.size(); ++i)
      if (bounds[i] < digit.stride * digit.size && bounds[i + 1] > digit.stride)
        set |= Set(1) << i;
  return set;
}

std::string RankVariation::describe(Set set) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (size_t i = 0; i + 1 < bounds.size(); ++i)
    if (set & (Set(1) << i)) {
      stream << (text.empty() ? "" : ", ") << bounds[i] << ':'
             << bounds[i + 1] / bounds[i];
    }
  return text;
}

RankVariation::RankVariation(func::FuncOp program, ArrayRef<int64_t> levels) {
  collectBounds(program, levels);
  for (BlockArgument argument : program.getArguments())
    join(argument, getDigits(getPlacementDigits(
                       program.getArgAttrDict(argument.getArgNumber()))));
  for (Block &block : program.getBody())
    visit(block);
}

void RankVariation::join(Value value, Set set) {
  // Tensors without elements are equal.
  auto type = dyn_cast<ShapedType>(value.getType());
  if (type && type.hasStaticShape() && type.getNumElements() == 0)
    set = 0;
  Set &known = sets[value];
  changed |= (known | set) != known;
  known |= set;
}

RankVariation::Set RankVariation::getOperands(Operation *op) const {
  Set set = 0;
  for (Value operand : op->getOperands())
    set |= get(operand);
  return set;
}

bool RankVariation::isControl(Operation *op) {
  return isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp, scf::ForOp,
             scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(op);
}

RankVariation::Set RankVariation::getControl(Operation *op) const {
  return TypeSwitch<Operation *, Set>(op)
      .Case([&](stablehlo::WhileOp loop) {
        return get(loop.getCond().front().getTerminator()->getOperand(0));
      })
      .Case([&](scf::WhileOp loop) {
        return get(loop.getConditionOp().getCondition());
      })
      .Case([&](scf::ForOp loop) {
        return get(loop.getLowerBound()) | get(loop.getUpperBound()) |
               get(loop.getStep());
      })
      .Default([&](Operation *branch) { return get(branch->getOperand(0)); });
}

void RankVariation::visit(Block &block) {
  for (Operation &op : block)
    visit(op);
}

/// One pass over a loop: from its operands and from the end of its body.
void RankVariation::visitLoopOnce(Operation &op) {
  auto hand = [&](ValueRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip_equal(from, to))
      join(target, get(source) | getControl(&op));
  };
  auto getYielded = [](Block &block) {
    return block.getTerminator()->getOperands();
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    join(loop.getInductionVar(), getControl(&op));
    hand(loop.getInitArgs(), loop.getRegionIterArgs());
    visit(*loop.getBody());
    hand(getYielded(*loop.getBody()), loop.getRegionIterArgs());
    hand(loop.getRegionIterArgs(), op.getResults());
    return;
  }
  // Both kinds of while: the condition first.
  Block &condition = op.getRegion(0).front();
  Block &body = op.getRegion(1).front();
  hand(op.getOperands(), condition.getArguments());
  visit(condition);
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    hand(loop.getConditionOp().getArgs(), body.getArguments());
    hand(loop.getConditionOp().getArgs(), op.getResults());
  } else {
    hand(condition.getArguments(), body.getArguments());
    hand(condition.getArguments(), op.getResults());
  }
  visit(body);
  hand(getYielded(body), condition.getArguments());
}

void RankVariation::visitLoop(Operation &op) {
  bool changedBefore = changed;
  do {
    changedBefore |= changed;
    changed = false;
    visitLoopOnce(op);
  } while (changed);
  changed = changedBefore;
}

void RankVariation::visitBranch(Operation &op) {
  Set control = getControl(&op);
  for (Region &region : op.getRegions()) {
    if (region.empty())
      continue;
    visit(region.front());
    Operation *end = region.front().getTerminator();
    for (auto [yielded, result] :
         llvm::zip_equal(end->getOperands(), op.getResults()))
      join(result, get(yielded) | control);
  }
}

/// Through the body, as independent computations may share an op, and a
/// destination may count only as a place.
void RankVariation::visitLinalg(Operation &op) {
  Block &body = op.getRegion(0).front();
  for (auto [operand, argument] :
       llvm::zip_equal(op.getOperands(), body.getArguments()))
    join(argument, get(operand));
  visit(body);
  for (auto [yielded, result] :
       llvm::zip_equal(body.getTerminator()->getOperands(), op.getResults()))
    join(result, get(yielded));
}

/// An op whose regions compute with what they are given and what they capture.
void RankVariation::visitOpaque(Operation &op) {
  Set set = getOperands(&op);
  for (Region &region : op.getRegions())
    region.walk([&](Operation *nested) { set |= getOperands(nested); });
  for (Value result : op.getResults())
    join(result, set);
}

/// True if the op is one of the amsp dialect that has a rule of its own.
bool RankVariation::visitAMSPOp(Operation &op) {
  GroupAttr group = getGroup(&op);
  Set members = group ? getDigits(group.getDigits()) : 0;
  if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    bool scatters = collective.getKind() == CollectiveKind::ReduceScatter ||
                    collective.getKind() == CollectiveKind::AllToAll;
    for (auto [operand, result] :
         llvm::zip_equal(op.getOperands(), op.getResults()))
      join(result, scatters ? get(operand) | members : get(operand) & ~members);
    return true;
  }
  if (auto await = dyn_cast<AwaitOp>(op)) {
    for (auto [operand, result] :
         llvm::zip_equal(op.getOperands(), op.getResults()))
      join(result, get(operand));
    return true;
  }
  if (!group)
    return false;
  for (Value result : op.getResults())
    join(result, getOperands(&op) | members);
  return true;
}

void RankVariation::visit(Operation &op) {
  if (visitAMSPOp(op))
    return;
  if (isa<stablehlo::WhileOp, scf::ForOp, scf::WhileOp>(op))
    return visitLoop(op);
  if (isControl(&op))
    return visitBranch(op);
  if (isa<linalg::LinalgOp>(op) && op.getNumResults() > 0)
    return visitLinalg(op);
  visitOpaque(op);
}
