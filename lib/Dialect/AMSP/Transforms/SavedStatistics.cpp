//===- SavedStatistics.cpp - Statistics that a scan of layers saves -------===//

#include "SavedStatistics.h"
#include "LoopStacks.h"
#include "amsp/Dialect/AMSP/Transforms/HloBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace amsp;
using stablehlo::DynamicSliceOp;
using stablehlo::WhileOp;

namespace {

/// Whether values of another loop, in the iteration that reads the slices of
/// one index, are those that a loop computed in the iteration of that index.
class SameIteration {
public:
  explicit SameIteration(const LoopStacks &stacks) : stacks(stacks) {}

  bool match(Operation *now, Operation *then);
  /// The index that is read; null if no slice was met.
  Value getIndex() const { return index; }

private:
  bool match(Value now, Value then);
  bool isRead(Value now, Value then);
  bool isSlice(DynamicSliceOp now, DynamicSliceOp then);
  bool isIndex(Value value);

  const LoopStacks &stacks;
  Value index;
  /// Pairs that were met already. One difference ends it all, so that these are
  /// equal unless it is over.
  DenseSet<std::pair<Value, Value>> known;
};

/// An attention of a loop's body, and one of another loop that computes its
/// statistics again.
struct Repeated {
  AttentionOp then, now;
  Value index;
};

} // namespace

/// The value that optimization barriers hand on.
static Value skipBarriers(Value value) {
  while (auto barrier = value.getDefiningOp<stablehlo::OptimizationBarrierOp>())
    value = barrier->getOperand(cast<OpResult>(value).getResultNumber());
  return value;
}

//===----------------------------------------------------------------------===//
// What is the same
//===----------------------------------------------------------------------===//

/// The first index that is seen is the one.
bool SameIteration::isIndex(Value value) {
  if (!index)
    index = value;
  return index == value;
}

/// Whether `now` is a slice of the stack in which `then` is saved, in its type.
bool SameIteration::isRead(Value now, Value then) {
  Value read = now;
  if (auto reshape = read.getDefiningOp<stablehlo::ReshapeOp>())
    read = reshape.getOperand();
  auto slice = read.getDefiningOp<DynamicSliceOp>();
  if (!slice || now.getType() != then.getType())
    return false;
  for (const Stack &stack : stacks.getStacks())
    if (LoopStacks::holds(stack, then) &&
        isSliceRead(slice, WhileOp(stacks.loop).getResult(stack.carry)))
      return isIndex(slice.getStartIndices().front());
  return false;
}

/// Slices of one stack that was there before both loops, such as parameters. An
/// index beyond its ends is that of its last slice in both.
bool SameIteration::isSlice(DynamicSliceOp now, DynamicSliceOp then) {
  Value stack = then.getOperand();
  return now.getOperand() == stack &&
         then.getStartIndices().front() == stacks.getCounter() &&
         getTensorType(stack).getDimSize(0) == stacks.getTrips() &&
         isSliceRead(then, stack) && isSliceRead(now, stack) &&
         isIndex(now.getStartIndices().front());
}

bool SameIteration::match(Value now, Value then) {
  now = skipBarriers(now);
  then = skipBarriers(then);
  if (!known.insert({now, then}).second)
    return true;
  Region &body = WhileOp(stacks.loop).getBody();
  if (!body.isAncestor(then.getParentRegion()))
    return now == then;
  if (isRead(now, then))
    return true;
  Operation *maker = now.getDefiningOp(), *other = then.getDefiningOp();
  return maker && other &&
         cast<OpResult>(now).getResultNumber() ==
             cast<OpResult>(then).getResultNumber() &&
         match(maker, other);
}

bool SameIteration::match(Operation *now, Operation *then) {
  auto slice = dyn_cast<DynamicSliceOp>(now);
  auto other = dyn_cast<DynamicSliceOp>(then);
  if (slice && other && isSlice(slice, other))
    return true;
  return OperationEquivalence::isEquivalentTo(
      now, then,
      [&](Value left, Value right) { return success(match(left, right)); },
      [&](Value left, Value right) { known.insert({left, right}); },
      OperationEquivalence::IgnoreLocations);
}

//===----------------------------------------------------------------------===//
// Stacks of statistics
//===----------------------------------------------------------------------===//

/// Zeros for the indices of a slice, but for the first.
static SmallVector<Value> getIndices(HloBuilder &hlo, Value first,
                                     RankedTensorType stack) {
  auto type = cast<RankedTensorType>(first.getType());
  SmallVector<Value> indices(stack.getRank(), hlo.zeros(type));
  indices.front() = first;
  return indices;
}

/// The loop with one more stack, of what its body computes in each iteration.
static WhileOp addStack(WhileOp loop, unsigned counter, int64_t trips,
                        Value saved) {
  RankedTensorType row = getTensorType(saved);
  SmallVector<int64_t> shape(row.getShape());
  shape.insert(shape.begin(), trips);
  RankedTensorType type = row.clone(shape);
  OpBuilder builder(loop);
  HloBuilder hlo = {builder, saved.getLoc()};
  SmallVector<Value> operands(loop.getOperand());
  operands.push_back(
      hlo.broadcast(hlo.zeros(row.clone(ArrayRef<int64_t>{})), shape));
  auto larger = WhileOp::create(builder, loop.getLoc(),
                                TypeRange(ValueRange(operands)), operands);
  larger.getCond().takeBody(loop.getCond());
  larger.getBody().takeBody(loop.getBody());
  larger.getCond().addArgument(type, saved.getLoc());
  Value stack = larger.getBody().addArgument(type, saved.getLoc());
  Block &body = larger.getBody().front();
  Operation *yield = body.getTerminator();
  builder.setInsertionPoint(yield);
  shape.front() = 1;
  Value stored = stablehlo::DynamicUpdateSliceOp::create(
      builder, saved.getLoc(), type, stack, hlo.reshape(saved, shape),
      getIndices(hlo, body.getArgument(counter), type));
  yield->insertOperands(yield->getNumOperands(), stored);
  for (auto [before, after] : llvm::zip(loop.getResults(), larger.getResults()))
    before.replaceAllUsesWith(after);
  loop.erase();
  return larger;
}

/// Reads a row of the stack where `value` was computed.
static void replaceByRow(Value value, Value stack, Value index) {
  OpBuilder builder(value.getDefiningOp());
  HloBuilder hlo = {builder, value.getLoc()};
  RankedTensorType type = getTensorType(stack);
  SmallVector<int64_t> shape(type.getShape());
  shape.front() = 1;
  Value slice =
      DynamicSliceOp::create(builder, value.getLoc(), type.clone(shape), stack,
                             getIndices(hlo, index, type), shape);
  value.replaceAllUsesWith(hlo.reshape(slice, getTensorType(value).getShape()));
}

/// The attentions of loops behind the loop, in its block, that compute no more
/// than statistics, those of an attention of the loop's body.
static SmallVector<Repeated> findRepeated(const LoopStacks &stacks) {
  SmallVector<Repeated> found;
  WhileOp loop = stacks.loop;
  SmallVector<AttentionOp> made(loop.getBody().front().getOps<AttentionOp>());
  if (stacks.getStacks().empty() || made.empty())
    return found;
  for (Operation *next = loop->getNextNode(); next;
       next = next->getNextNode()) {
    auto reader = dyn_cast<WhileOp>(next);
    if (!reader)
      continue;
    for (auto now : reader.getBody().front().getOps<AttentionOp>()) {
      if (!now.getResult().use_empty())
        continue;
      for (AttentionOp then : made) {
        SameIteration same(stacks);
        if (!same.match(now.getOperation(), then) || !same.getIndex())
          continue;
        found.push_back({then, now, same.getIndex()});
        break;
      }
    }
  }
  return found;
}

static unsigned saveStatistics(WhileOp loop) {
  LoopStacks stacks(loop);
  llvm::MapVector<Operation *, SmallVector<Repeated>> byMaker;
  for (const Repeated &repeated : findRepeated(stacks))
    byMaker[repeated.then].push_back(repeated);
  unsigned count = 0;
  for (auto &[maker, readers] : byMaker) {
    for (unsigned result : {1, 2}) {
      loop = addStack(loop, stacks.getCounter().getArgNumber(),
                      stacks.getTrips(), maker->getResult(result));
      for (Repeated &reader : readers)
        replaceByRow(reader.now->getResult(result), loop.getResults().back(),
                     reader.index);
    }
    for (Repeated &reader : readers)
      reader.now.erase();
    count += readers.size();
  }
  return count;
}

unsigned amsp::saveStatisticsOfScans(Operation *root) {
  SmallVector<WhileOp> loops;
  root->walk([&](WhileOp loop) { loops.push_back(loop); });
  unsigned count = 0;
  for (WhileOp loop : loops)
    count += saveStatistics(loop);
  return count;
}
