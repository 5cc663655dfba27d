//===- PlacementAnalysis.cpp - Placements of every value of a step --------===//

#include "amsp/Placement/PlacementAnalysis.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/FlatFlow.h"
#include "amsp/Placement/MinimumCut.h"
#include "amsp/Placement/PlacementDemand.h"
#include "amsp/Placement/Recut.h"
#include "amsp/Placement/Stacks.h"
#include "amsp/Placement/WholeValues.h"
#include "amsp/Support/TensorType.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace amsp;
using stablehlo::CaseOp;
using stablehlo::WhileOp;

static Operation *getYield(Region &region) {
  return region.front().getTerminator();
}

//===----------------------------------------------------------------------===//
// Natural placements
//===----------------------------------------------------------------------===//

PlacementAnalysis::PlacementAnalysis(func::FuncOp step,
                                     ArrayRef<Placement> arguments,
                                     ArrayRef<std::optional<Placement>> results,
                                     PlacementContext context)
    : step(step), results(results), context(context) {
  for (auto [argument, placement] :
       llvm::zip_equal(step.getArguments(), arguments))
    setNatural(argument, placement);
  run();
}

void PlacementAnalysis::run() {
  // Each round decides more completions or flat placements, of which there are
  // finitely many.
  do {
    visitBlock(step.getBody().front());
  } while (completePartials() || pullFlatCompletions() ||
           placeGradientCarries() || placeDemandedCarries() ||
           keepWholeValues());
  // A sum that is completed in a loop is complete behind it.
  completions.remove_if(
      [&](auto &entry) { return !getNatural(entry.first).isPartial(); });
}

void PlacementAnalysis::setNatural(Value value, const Placement &placement) {
  natural[value] = placement;
}

Placement PlacementAnalysis::getNatural(Value value) const {
  return natural.lookup(value);
}

Placement PlacementAnalysis::getPlacement(Value value) const {
  Placement placement = getNatural(value);
  if (placement.isPartial())
    if (const auto *it = completions.find(value); it != completions.end())
      return it->second;
  if (auto it = recuts.find(value); it != recuts.end())
    return it->second;
  if (placement.isFlat() && wholes.contains(value))
    return Placement::replicated();
  return placement;
}

Transfer PlacementAnalysis::getTransfer(Operation *op) const {
  auto rules = dyn_cast<PlacementOpInterface>(op);
  if (!rules)
    return getReplicatedTransfer(op);
  SmallVector<Placement> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getPlacement(operand));
  return rules.transferPlacements(operands, context);
}

void PlacementAnalysis::visitBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (auto loop = dyn_cast<WhileOp>(op)) {
      visitWhile(loop);
      continue;
    }
    if (auto branches = dyn_cast<CaseOp>(op)) {
      visitCase(branches);
      continue;
    }
    ++numVisits;
    Transfer transfer = getTransfer(&op);
    for (auto [result, placement] :
         llvm::zip_equal(op.getResults(), transfer.results)) {
      setNatural(result, placement);
      recuts.erase(result);
    }
    SmallVector<Placement> operands = llvm::map_to_vector(
        op.getOperands(), [&](Value value) { return getPlacement(value); });
    if (auto recut = getRecut(&op, operands, transfer, context))
      recuts[op.getResult(0)] = *recut;
  }
}

/// A sum over the batch, in pieces of G or not.
static bool isGradientSum(const Placement &placement) {
  return placement.kind == Placement::PartialFlat ||
         placement == Placement::partial(Reduction::Sum, PartialOver::Batch);
}

/// The placement of a loop's carry that begins in one and is handed on in
/// another placement.
static Placement joinCarry(const Placement &first, const Placement &next) {
  if (first == next || next.isReplicated())
    return first;
  if (first.isReplicated())
    return next;
  if (first.isFlat() && (next.isFlat() || next.isPartial()))
    return first;
  if (first.kind == Placement::PartialFlat && isGradientSum(next) &&
      (next.kind == Placement::Partial || next.strategy == first.strategy))
    return first;
  return Placement::replicated();
}

void PlacementAnalysis::visitWhile(WhileOp loop) {
  SmallVector<Placement> carries;
  for (auto [operand, argument] :
       llvm::zip_equal(loop.getOperand(), loop.getBody().getArguments())) {
    if (gradientCarries.contains(argument))
      carries.push_back(gradientCarries.lookup(argument));
    else if (demandedCarries.contains(argument))
      carries.push_back(demandedCarries.lookup(argument));
    else
      carries.push_back(getPlacement(operand));
  }
  // Carries that met placements which do not join; they stay replicated, so
  // the iteration ends.
  SmallVector<bool> conflicts(carries.size(), false);
  bool changed = true;
  while (changed) {
    changed = false;
    for (Region *region : {&loop.getCond(), &loop.getBody()}) {
      for (auto [argument, carry] :
           llvm::zip_equal(region->getArguments(), carries))
        setNatural(argument, carry);
      visitBlock(region->front());
    }
    for (auto [index, operand] :
         llvm::enumerate(getYield(loop.getBody())->getOperands())) {
      if (conflicts[index])
        continue;
      Placement joined = joinCarry(carries[index], getPlacement(operand));
      if (joined == carries[index])
        continue;
      conflicts[index] = joined.isReplicated();
      carries[index] = joined;
      changed = true;
    }
  }
  for (auto [result, carry] : llvm::zip_equal(loop.getResults(), carries))
    setNatural(result, carry);
}

/// A result is in the pieces that some branches hand on, if they agree; others
/// cut theirs. Sums are completed in the branches.
void PlacementAnalysis::visitCase(CaseOp branches) {
  for (Region &branch : branches.getBranches())
    visitBlock(branch.front());
  for (auto [index, result] : llvm::enumerate(branches.getResults())) {
    Placement joined = Placement::replicated();
    bool agree = true;
    for (Region &branch : branches.getBranches()) {
      Placement next = getPlacement(getYield(branch)->getOperand(index));
      if (!next.isSplit() && !next.isFlat())
        continue;
      agree &= joined.isReplicated() || joined == next;
      joined = next;
    }
    setNatural(result, agree ? joined : Placement::replicated());
  }
}

Placement PlacementAnalysis::getYielded(OpOperand &operand) const {
  Operation *terminator = operand.getOwner();
  if (auto branches = dyn_cast<CaseOp>(terminator->getParentOp()))
    return getNatural(branches.getResult(operand.getOperandNumber()));
  if (auto loop = dyn_cast<WhileOp>(terminator->getParentOp())) {
    if (terminator->getParentRegion() == &loop.getCond())
      return Placement::replicated();
    return getNatural(loop.getResult(operand.getOperandNumber()));
  }
  if (std::optional<Placement> fixed = results[operand.getOperandNumber()])
    return *fixed;
  Placement placement = getPlacement(operand.get());
  bool isWhole = placement.isPartial() || placement.hasPaddedRows();
  return isWhole ? Placement::replicated() : placement;
}

//===----------------------------------------------------------------------===//
// Completion of partial values
//===----------------------------------------------------------------------===//

namespace {
/// The graph of partial values: an edge leads from an operand to a result that
/// is partial because of it.
class PartialGraph {
public:
  explicit PartialGraph(const PlacementAnalysis &analysis)
      : analysis(analysis) {}

  bool isPartial(Value value) const {
    return analysis.getPlacement(value).isPartial();
  }

  void addEdge(Value from, Value to) {
    if (!isPartial(from) || !isPartial(to))
      return;
    cut.addEdge(getNode(from), getNode(to));
    fed.insert(to);
  }
  void addSink(Value value) {
    if (!isPartial(value))
      return;
    cut.addSink(getNode(value));
    hasSinks = true;
  }

  /// The values to complete.
  SmallVector<Value> solve() {
    if (!hasSinks)
      return {};
    for (auto [node, value] : llvm::enumerate(values))
      if (!fed.contains(value))
        cut.addSource(node);
    return llvm::map_to_vector(cut.solve(),
                               [&](unsigned node) { return values[node]; });
  }

private:
  unsigned getNode(Value value) {
    auto [it, inserted] = nodes.try_emplace(value, values.size());
    if (inserted) {
      auto type = cast<RankedTensorType>(value.getType());
      int64_t bits = type.getElementTypeBitWidth();
      if (isa<FloatType>(type.getElementType()))
        bits = std::max<int64_t>(bits, analysis.getContext().minSumBits);
      int64_t bytes = type.getNumElements() * llvm::divideCeil(bits, 8);
      cut.addNode(bytes * getTripCountOf(value));
      values.push_back(value);
    }
    return it->second;
  }

  static int64_t getTripCountOf(Value value) {
    if (Operation *op = value.getDefiningOp())
      return getTripCount(op);
    return getTripCount(&value.getParentBlock()->front());
  }

  const PlacementAnalysis &analysis;
  MinimumCut cut;
  DenseMap<Value, unsigned> nodes;
  SmallVector<Value> values;
  DenseSet<Value> fed;
  bool hasSinks = false;
};
} // namespace

/// Visits the ops of a step, of its loops and branches, in program order;
/// combiners belong to their op.
static void walkStep(Block &block, function_ref<void(Operation *)> visit) {
  for (Operation &op : block) {
    visit(&op);
    if (isa<WhileOp, CaseOp>(op))
      for (Region &region : op.getRegions())
        walkStep(region.front(), visit);
  }
}

/// Adds the edges and sinks of an op, given the placements it takes and gives.
static void addToGraph(PartialGraph &graph, Operation *op,
                       const Transfer &transfer) {
  bool isBarrier = isa<stablehlo::OptimizationBarrierOp>(op);
  for (auto [index, operand, asked] :
       llvm::enumerate(op->getOperands(), transfer.operands)) {
    if (!asked.isPartial()) {
      graph.addSink(operand);
      continue;
    }
    for (OpResult result : op->getResults())
      if (!isBarrier || result.getResultNumber() == index)
        graph.addEdge(operand, result);
  }
  // Branches have edges of their own; what a combiner captures is used whole.
  if (isa<CaseOp>(op))
    return;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    graph.addSink(value);
}

static void addToGraph(PartialGraph &graph, WhileOp loop,
                       const PlacementAnalysis &analysis) {
  Operation *yield = getYield(loop.getBody());
  for (auto [index, result] : llvm::enumerate(loop.getResults())) {
    for (Value from : {loop.getOperand()[index], yield->getOperand(index)}) {
      if (!analysis.getNatural(result).isPartial()) {
        graph.addSink(from);
        continue;
      }
      graph.addEdge(from, result);
      for (Region *region : {&loop.getCond(), &loop.getBody()})
        graph.addEdge(from, region->getArgument(index));
    }
  }
}

bool PlacementAnalysis::completePartials() {
  PartialGraph graph(*this);
  walkStep(step.getBody().front(), [&](Operation *op) {
    if (auto loop = dyn_cast<WhileOp>(op)) {
      addToGraph(graph, loop, *this);
    } else if (op->hasTrait<OpTrait::IsTerminator>()) {
      auto loop = dyn_cast<WhileOp>(op->getParentOp());
      if (loop && op->getParentRegion() == &loop.getBody())
        return; // part of the loop's own edges
      for (OpOperand &operand : op->getOpOperands())
        if (!getYielded(operand).isPartial())
          graph.addSink(operand.get());
    } else {
      addToGraph(graph, op, getTransfer(op));
    }
  });
  SmallVector<Value> cut = graph.solve();
  for (Value value : cut)
    completions[value] = Placement::replicated();
  return !cut.empty();
}

//===----------------------------------------------------------------------===//
// Flat completions: gradients
//===----------------------------------------------------------------------===//

bool PlacementAnalysis::demandFlat(Value value, const Placement &asked) {
  RankedTensorType type = getTensorType(value);
  if (type.getRank() == 0 || !getPlacement(value).isReplicated() ||
      !demanded.insert(value).second)
    return false;
  if (getNatural(value).isPartial()) {
    completions[value] =
        Placement::flat(ModelState::OS, asked.keep, asked.strategy);
    return true;
  }
  bool changed = false;
  for (Value producer : getFlatProducers(value)) {
    if (getTensorType(producer).getNumElements() != type.getNumElements())
      continue;
    if (std::optional<int64_t> kept =
            mapKeep(type, getTensorType(producer), asked.keep))
      changed |= demandFlat(producer, asked.withKeep(*kept));
  }
  // The slices of a stack.
  auto update = value.getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
  if (update && getSlicedDims(update) <= asked.keep) {
    changed |= demandFlat(update.getOperand(), asked);
    changed |= demandFlat(update.getUpdate(), asked);
  }
  return changed;
}

bool PlacementAnalysis::pullFlatCompletions() {
  demanded.clear();
  bool changed = false;
  auto demand = [&](Value value, const Placement &asked) {
    if (asked.isFlat())
      changed |= demandFlat(value, asked);
  };
  walkStep(step.getBody().front(), [&](Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      for (OpOperand &operand : op->getOpOperands())
        demand(operand.get(), getYielded(operand));
    } else if (!isa<WhileOp>(op)) {
      for (auto [operand, asked] :
           llvm::zip_equal(op->getOperands(), getTransfer(op).operands))
        demand(operand, asked);
    }
  });
  return changed;
}

//===----------------------------------------------------------------------===//
// Gradients that loops accumulate or stack
//===----------------------------------------------------------------------===//

/// The leading dimensions that a result of the op keeps whole if the operand
/// keeps `keep`; nothing if the op does not keep the order that pieces are cut
/// in.
static std::optional<int64_t> getResultKeep(OpOperand &operand, Value result,
                                            int64_t keep) {
  Operation *op = operand.getOwner();
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op)) {
    if (operand.getOperandNumber() == 0 && getSlicedDims(update) <= keep)
      return keep;
    return std::nullopt;
  }
  if (!keepsFlatOrder(op))
    return std::nullopt;
  return mapKeep(getTensorType(operand.get()), getTensorType(result), keep);
}

/// True if all that follows from the partial value, up to completions, to
/// `yield`, or to carries that are in pieces, keeps the order that pieces are
/// cut in.
bool PlacementAnalysis::keepsPieces(Value value, int64_t keep,
                                    OpOperand *yield) const {
  auto reachesPieces = [&](OpOperand &use) {
    auto loop = dyn_cast<WhileOp>(use.getOwner()->getParentOp());
    return loop && use.getOwner() == getYield(loop.getBody()) &&
           gradientCarries.contains(
               loop.getBody().getArgument(use.getOperandNumber()));
  };
  SmallVector<std::pair<Value, int64_t>> worklist = {{value, keep}};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    auto [current, kept] = worklist.pop_back_val();
    if (!seen.insert(current).second || !getPlacement(current).isPartial())
      continue;
    for (OpOperand &use : current.getUses()) {
      if (&use == yield || reachesPieces(use))
        continue;
      Operation *op = use.getOwner();
      if (op->hasTrait<OpTrait::IsTerminator>())
        return false;
      for (Value result : op->getResults()) {
        std::optional<int64_t> next = getResultKeep(use, result, kept);
        if (!next)
          return false;
        worklist.push_back({result, *next});
      }
    }
  }
  return true;
}

/// True if the loop writes slices into the carry and does nothing else with it.
static bool isStacked(BlockArgument carry, OpOperand &yield) {
  Value value = yield.get();
  while (auto update = value.getDefiningOp<stablehlo::DynamicUpdateSliceOp>()) {
    value = update.getOperand();
    if (!value.hasOneUse())
      return false;
  }
  return value == carry && value != yield.get();
}

bool PlacementAnalysis::placeGradientCarry(WhileOp loop, unsigned index,
                                           const Placement &placement) {
  BlockArgument carry = loop.getBody().getArgument(index);
  OpOperand &yield = getYield(loop.getBody())->getOpOperand(index);
  // A complete slice may be read in any way, a sum of pieces in none.
  if (!gradientCarries.contains(carry) &&
      keepsPieces(carry, placement.keep, &yield) &&
      (placement.isFlat() ||
       keepsPieces(loop.getResult(index), placement.keep, nullptr)))
    gradientCarries[carry] = placement;
  return gradientCarries.contains(carry);
}

bool PlacementAnalysis::placeGradientCarries() {
  size_t before = gradientCarries.size();
  for (auto &[completed, placement] : completions) {
    if (!placement.isFlat())
      continue;
    SmallVector<std::pair<Value, Placement>> worklist = {
        {completed, placement}};
    DenseSet<Value> seen;
    while (!worklist.empty()) {
      auto [value, pieces] = worklist.pop_back_val();
      if (!seen.insert(value).second || !isGradientSum(getNatural(value)))
        continue;
      Operation *op = value.getDefiningOp();
      if (auto loop = dyn_cast_or_null<WhileOp>(op)) {
        unsigned index = cast<OpResult>(value).getResultNumber();
        OpOperand &yield = getYield(loop.getBody())->getOpOperand(index);
        if (isStacked(loop.getBody().getArgument(index), yield)) {
          // Each slice is complete once.
          if (pieces.keep > 0)
            placeGradientCarry(loop, index, pieces);
          continue;
        }
        pieces = Placement::partialFlat(pieces.keep, pieces.strategy);
        if (placeGradientCarry(loop, index, pieces))
          worklist.push_back({yield.get(), pieces});
        continue;
      }
      if (!op || !keepsFlatOrder(op))
        continue;
      for (Value producer : getFlatProducers(value))
        if (std::optional<int64_t> keep = mapKeep(
                getTensorType(value), getTensorType(producer), pieces.keep))
          worklist.push_back({producer, pieces.withKeep(*keep)});
    }
  }
  return gradientCarries.size() != before;
}

//===----------------------------------------------------------------------===//
// Carries of which each rank needs its piece
//===----------------------------------------------------------------------===//

/// Random bits, for one: a loop of elementwise ops over counters, for masks of
/// the batch's rows or for new state in pieces.
bool PlacementAnalysis::placeDemandedCarries() {
  SmallVector<BlockArgument> candidates;
  walkStep(step.getBody().front(), [&](Operation *op) {
    auto loop = dyn_cast<WhileOp>(op);
    if (!loop)
      return;
    for (BlockArgument carry : loop.getBody().getArguments())
      if (getTensorType(carry).getRank() > 0 &&
          getNatural(carry).isReplicated() && !demandedCarries.contains(carry))
        candidates.push_back(carry);
  });
  if (candidates.empty())
    return false;
  PlacementDemand demand(step, *this);
  bool changed = false;
  for (BlockArgument carry : candidates)
    if (std::optional<Placement> pieces = demand.getPieces(carry)) {
      demandedCarries[carry] = *pieces;
      changed = true;
    }
  return changed;
}

bool PlacementAnalysis::keepWholeValues() {
  SmallVector<Value> found = findWholeValues(step, *this);
  wholes.insert(found.begin(), found.end());
  return !found.empty();
}
