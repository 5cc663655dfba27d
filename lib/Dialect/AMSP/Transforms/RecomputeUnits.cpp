//===- RecomputeUnits.cpp - Forward passes that backward runs again -------===//

#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace amsp {
#define GEN_PASS_DEF_RECOMPUTEUNITS
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// What only brings a parameter to its use.
static bool isOfUse(Operation *op) {
  return isa<stablehlo::ConvertOp, stablehlo::TransposeOp, stablehlo::ReshapeOp,
             stablehlo::BroadcastInDimOp, stablehlo::SliceOp>(op);
}

namespace {
/// The ops of a unit's forward pass: those of a block from its first use of a
/// parameter to the first of the next unit.
struct Segment {
  StringRef unit;
  unsigned begin = 0, end = 0;
};

/// The forward pass of a step, in the block that holds it.
class ForwardPass {
public:
  explicit ForwardPass(func::FuncOp step);

  /// In program order. The last unit ends where nobody knows, so it has none.
  ArrayRef<Segment> getSegments() const { return segments; }
  /// Computes again, behind the forward pass, what later ops need of the
  /// segment's values. Returns the number of values that are no longer kept.
  unsigned recompute(const Segment &segment);

private:
  /// What is computed again of a segment: values, their uses behind the forward
  /// pass, and the first op of the block that is or holds one.
  struct SavedValues {
    SmallVector<Value> values;
    SmallVector<OpOperand *> uses;
    Operation *firstUser = nullptr;
  };
  SavedValues findSaved(const Segment &segment) const;
  /// The ops that make the values, in program order, back to what is there at
  /// that time, which is added to `inputs`.
  SmallVector<Operation *> findMakers(const Segment &segment,
                                      ArrayRef<Value> values,
                                      llvm::SetVector<Value> &inputs) const;
  void findFirstUses(func::FuncOp step);
  void number();
  /// The op of the block that is or holds this one; null if none does.
  Operation *getOp(Operation *op) const {
    return block->findAncestorOpInBlock(*op);
  }
  bool isIn(const Segment &segment, Operation *op) const {
    auto position = positions.find(op);
    return position != positions.end() && position->second >= segment.begin &&
           position->second < segment.end;
  }
  bool isNeededForward(const Segment &segment, Value value) const;
  SmallVector<OpOperand *> getLateUses(Value value) const;

  Block *block = nullptr;
  SmallVector<Segment> segments;
  /// The first use of the last unit.
  unsigned last = 0;
  llvm::DenseMap<Operation *, unsigned> positions;
  SmallVector<Operation *> ops;
  /// Uses of each unit's parameters, in program order.
  llvm::MapVector<StringRef, Operation *> firstUses;
  llvm::DenseSet<Value> parameters; // and what is made of them alone
};
} // namespace

void ForwardPass::findFirstUses(func::FuncOp step) {
  llvm::DenseMap<Value, StringRef> unitOf;
  for (BlockArgument argument : step.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto role = step.getArgAttrOfType<RoleAttr>(index, kRoleAttr);
    auto unit = step.getArgAttrOfType<StringAttr>(index, kUnitAttr);
    if (role && unit && role.getValue() == Role::Param)
      unitOf[argument] = unit.getValue();
  }
  step.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == step)
      return;
    for (Value operand : op->getOperands()) {
      auto unit = unitOf.find(operand);
      if (unit == unitOf.end())
        continue;
      StringRef name = unit->second;
      if (isOfUse(op)) {
        unitOf[op->getResult(0)] = name;
        continue;
      }
      // Forward comes first: its block is that of the first use of all.
      if (!block)
        block = op->getBlock();
      if (Operation *holder = getOp(op))
        firstUses.insert({name, holder});
    }
  });
  for (auto &[value, unit] : unitOf)
    parameters.insert(value);
}

void ForwardPass::number() {
  positions.clear();
  ops.clear();
  for (Operation &op : *block) {
    positions[&op] = ops.size();
    ops.push_back(&op);
  }
}

ForwardPass::ForwardPass(func::FuncOp step) {
  findFirstUses(step);
  if (!block)
    return;
  number();
  // By position; of one op that is the first use of several units, in the order
  // they were found.
  SmallVector<std::tuple<unsigned, size_t, StringRef>> uses;
  for (auto &[name, op] : firstUses)
    uses.push_back({positions.lookup(op), uses.size(), name});
  llvm::sort(uses);
  for (size_t i = 0; i + 1 < uses.size(); ++i) {
    unsigned begin = std::get<0>(uses[i]), end = std::get<0>(uses[i + 1]);
    if (begin < end)
      segments.push_back({std::get<2>(uses[i]), begin, end});
  }
  if (!uses.empty())
    last = std::get<0>(uses.back());
}

/// Whether the forward pass of a later unit reads the value.
bool ForwardPass::isNeededForward(const Segment &segment, Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *op = getOp(user);
    auto position = positions.find(op);
    return position != positions.end() && position->second >= segment.end &&
           position->second <= last;
  });
}

/// Uses behind the forward pass.
SmallVector<OpOperand *> ForwardPass::getLateUses(Value value) const {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses()) {
    auto position = positions.find(getOp(use.getOwner()));
    if (position != positions.end() && position->second > last)
      uses.push_back(&use);
  }
  return uses;
}

ForwardPass::SavedValues ForwardPass::findSaved(const Segment &segment) const {
  SavedValues saved;
  unsigned first = ops.size();
  for (unsigned i = segment.begin; i < segment.end; ++i)
    for (Value result : ops[i]->getResults()) {
      if (parameters.contains(result) || isNeededForward(segment, result) ||
          ops[i]->hasTrait<OpTrait::ConstantLike>())
        continue;
      SmallVector<OpOperand *> late = getLateUses(result);
      if (late.empty())
        continue;
      saved.values.push_back(result);
      llvm::append_range(saved.uses, late);
      for (OpOperand *use : late)
        first = std::min(first, positions.lookup(getOp(use->getOwner())));
    }
  if (!saved.values.empty())
    saved.firstUser = ops[first];
  return saved;
}

SmallVector<Operation *>
ForwardPass::findMakers(const Segment &segment, ArrayRef<Value> values,
                        llvm::SetVector<Value> &inputs) const {
  llvm::DenseSet<Operation *> needed;
  SmallVector<Value> open(values);
  auto visit = [&](Operation *op, Value operand) {
    bool isInside = op->isAncestor(operand.getParentRegion()->getParentOp());
    if (isInside || parameters.contains(operand))
      return;
    Operation *definition = operand.getDefiningOp();
    bool isAgain = definition && isIn(segment, definition) &&
                   !isNeededForward(segment, operand);
    if (isAgain)
      open.push_back(operand);
    else if (!definition || !definition->hasTrait<OpTrait::ConstantLike>())
      inputs.insert(operand);
  };
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (needed.insert(op).second)
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          visit(op, operand);
      });
  }
  // In program order, so that one step gives one program.
  SmallVector<Operation *> makers;
  for (unsigned i = segment.begin; i < segment.end; ++i)
    if (needed.contains(ops[i]))
      makers.push_back(ops[i]);
  return makers;
}

unsigned ForwardPass::recompute(const Segment &segment) {
  SavedValues saved = findSaved(segment);
  if (saved.values.empty())
    return 0;
  llvm::SetVector<Value> inputs;
  SmallVector<Operation *> makers = findMakers(segment, saved.values, inputs);
  OpBuilder builder(saved.firstUser);
  IRMapping mapping;
  SmallVector<Value> barred = inputs.takeVector();
  // Else what is computed twice would be joined again.
  if (!barred.empty()) {
    auto barrier = stablehlo::OptimizationBarrierOp::create(
        builder, saved.firstUser->getLoc(), ValueRange(barred).getTypes(),
        barred);
    mapping.map(barred, barrier.getResults());
  }
  for (Operation *op : makers)
    builder.clone(*op, mapping);
  for (OpOperand *use : saved.uses)
    use->set(mapping.lookup(use->get()));
  return saved.values.size();
}

std::vector<std::string> amsp::getRecomputableUnits(func::FuncOp step) {
  std::vector<std::string> units;
  ForwardPass forward(step);
  for (const Segment &segment : forward.getSegments())
    units.push_back(segment.unit.str());
  return units;
}

/// Null units: all that can be.
static FailureOr<std::pair<unsigned, unsigned>>
recompute(func::FuncOp step, std::optional<ArrayRef<std::string>> units) {
  ForwardPass forward(step);
  ArrayRef<Segment> segments = forward.getSegments();
  for (const std::string &unit : units.value_or(ArrayRef<std::string>())) {
    bool isKnown = llvm::any_of(
        segments, [&](const Segment &segment) { return segment.unit == unit; });
    if (!isKnown)
      return step.emitError()
             << "unit '" << unit
             << "' cannot be computed again: only one whose forward pass "
                "another unit's follows can";
  }
  std::pair<unsigned, unsigned> counts;
  // Clones are behind the forward pass, so the segments stay.
  for (const Segment &segment : segments)
    if (!units || llvm::is_contained(*units, segment.unit.str())) {
      ++counts.first;
      counts.second += forward.recompute(segment);
    }
  return counts;
}

LogicalResult amsp::recomputeUnits(func::FuncOp step,
                                   ArrayRef<std::string> units) {
  return success(succeeded(recompute(step, units)));
}

namespace {
struct RecomputeUnits : amsp::impl::RecomputeUnitsBase<RecomputeUnits> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<std::string> names(units.begin(), units.end());
    std::optional<ArrayRef<std::string>> wanted;
    if (!names.empty())
      wanted = names;
    auto counts = recompute(getOperation(), wanted);
    if (failed(counts))
      return signalPassFailure();
    numUnits += counts->first;
    numValues += counts->second;
  }
};
} // namespace
