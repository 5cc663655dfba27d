//===- PlacementAnalysis.cpp - Placements of every value of a step --------===//

#include "amsp/Placement/PlacementAnalysis.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/FlatFlow.h"
#include "amsp/Placement/MinimumCut.h"
#include "amsp/Placement/Recut.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace amsp;
using stablehlo::WhileOp;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static Operation *getYield(Region &region) {
  return region.front().getTerminator();
}

static std::optional<int64_t> getConstant(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)) ||
      !splat.getElementType().isInteger())
    return std::nullopt;
  return splat.getSplatValue<APInt>().getSExtValue();
}

std::optional<int64_t> amsp::getLoopTripCount(WhileOp loop) {
  auto compare = getYield(loop.getCond())
                     ->getOperand(0)
                     .getDefiningOp<stablehlo::CompareOp>();
  if (!compare ||
      compare.getComparisonDirection() != stablehlo::ComparisonDirection::LT)
    return std::nullopt;
  auto counter = dyn_cast<BlockArgument>(compare.getLhs());
  if (!counter || counter.getOwner() != &loop.getCond().front())
    return std::nullopt;
  unsigned index = counter.getArgNumber();
  auto next = getYield(loop.getBody())
                  ->getOperand(index)
                  .getDefiningOp<stablehlo::AddOp>();
  if (!next || next.getLhs() != loop.getBody().getArgument(index))
    return std::nullopt;
  std::optional<int64_t> first = getConstant(loop.getOperand()[index]);
  std::optional<int64_t> limit = getConstant(compare.getRhs());
  std::optional<int64_t> step = getConstant(next.getRhs());
  if (!first || !limit || !step || *step < 1)
    return std::nullopt;
  return std::max<int64_t>(0, llvm::divideCeil(*limit - *first, *step));
}

int64_t amsp::getTripCount(Operation *op) {
  int64_t count = 1;
  for (auto loop = op->getParentOfType<WhileOp>(); loop;
       loop = loop->getParentOfType<WhileOp>())
    count *= getLoopTripCount(loop).value_or(kUnknownTripCount);
  return count;
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
  } while (completePartials() || pullFlatCompletions() || accumulatePieces());
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

/// The placement of a loop's carry that begins in one and is handed on in
/// another placement.
static Placement joinCarry(const Placement &first, const Placement &next) {
  if (first == next || next.isReplicated())
    return first;
  if (first.isReplicated())
    return next;
  if (first.isFlat() && next.isPartial())
    return first;
  if (first.kind == Placement::PartialFlat &&
      next == Placement::partial(Reduction::Sum, PartialOver::Batch))
    return first;
  return Placement::replicated();
}

void PlacementAnalysis::visitWhile(WhileOp loop) {
  SmallVector<Placement> carries;
  for (auto [operand, argument] :
       llvm::zip_equal(loop.getOperand(), loop.getBody().getArguments()))
    carries.push_back(pieceCarries.contains(argument)
                          ? Placement::partialFlat(pieceCarries.at(argument))
                          : getPlacement(operand));
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

Placement PlacementAnalysis::getYielded(OpOperand &operand) const {
  Operation *terminator = operand.getOwner();
  if (auto loop = dyn_cast<WhileOp>(terminator->getParentOp())) {
    if (terminator->getParentRegion() == &loop.getCond())
      return Placement::replicated();
    return getNatural(loop.getResult(operand.getOperandNumber()));
  }
  if (std::optional<Placement> fixed = results[operand.getOperandNumber()])
    return *fixed;
  Placement placement = getPlacement(operand.get());
  return placement.isPartial() ? Placement::replicated() : placement;
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

/// Visits the ops of a step and of its loops, in program order; regions of
/// other ops (combiners, branches) belong to their op.
static void walkStep(Block &block, function_ref<void(Operation *)> visit) {
  for (Operation &op : block) {
    visit(&op);
    if (auto loop = dyn_cast<WhileOp>(op))
      for (Region *region : {&loop.getCond(), &loop.getBody()})
        walkStep(region->front(), visit);
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
  // What a branch captures is used whole.
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

bool PlacementAnalysis::demandFlat(Value value, unsigned strategy) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 0 || !getPlacement(value).isReplicated() ||
      !demanded.insert(value).second)
    return false;
  if (getNatural(value).isPartial()) {
    completions[value] = Placement::flat(ModelState::OS, strategy);
    return true;
  }
  bool changed = false;
  for (Value producer : getFlatProducers(value))
    if (cast<RankedTensorType>(producer.getType()).getNumElements() ==
        type.getNumElements())
      changed |= demandFlat(producer, strategy);
  return changed;
}

bool PlacementAnalysis::pullFlatCompletions() {
  demanded.clear();
  bool changed = false;
  auto demand = [&](Value value, const Placement &asked) {
    if (asked.isFlat())
      changed |= demandFlat(value, asked.strategy);
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
// Gradients accumulated over microbatches
//===----------------------------------------------------------------------===//

/// True if all that follows from the partial value, up to completions or to
/// `yield`, keeps the order that pieces are cut in.
static bool allUsesKeepFlatOrder(Value value, OpOperand *yield,
                                 const PlacementAnalysis &analysis) {
  SmallVector<Value> worklist = {value};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value current = worklist.pop_back_val();
    if (!seen.insert(current).second ||
        !analysis.getPlacement(current).isPartial())
      continue;
    for (OpOperand &use : current.getUses()) {
      if (&use == yield)
        continue;
      Operation *op = use.getOwner();
      if (!keepsFlatOrder(op))
        return false;
      llvm::append_range(worklist, op->getResults());
    }
  }
  return true;
}

bool PlacementAnalysis::accumulatePieces() {
  bool changed = false;
  Placement batchSum = Placement::partial(Reduction::Sum, PartialOver::Batch);
  for (auto &[completed, placement] : completions) {
    if (!placement.isFlat() || getNatural(completed) != batchSum)
      continue;
    SmallVector<Value> worklist = {completed};
    DenseSet<Value> seen;
    while (!worklist.empty()) {
      Value value = worklist.pop_back_val();
      if (!seen.insert(value).second || getNatural(value) != batchSum)
        continue;
      Operation *op = value.getDefiningOp();
      auto loop = dyn_cast_or_null<WhileOp>(op);
      if (!loop) {
        if (op && keepsFlatOrder(op))
          llvm::append_range(worklist, getFlatProducers(value));
        continue;
      }
      unsigned index = cast<OpResult>(value).getResultNumber();
      BlockArgument carry = loop.getBody().getArgument(index);
      OpOperand &yield = getYield(loop.getBody())->getOpOperand(index);
      if (allUsesKeepFlatOrder(carry, &yield, *this) &&
          allUsesKeepFlatOrder(value, nullptr, *this))
        changed |= pieceCarries.try_emplace(carry, placement.strategy).second;
    }
  }
  return changed;
}
