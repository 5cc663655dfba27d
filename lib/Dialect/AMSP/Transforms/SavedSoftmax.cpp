//===- SavedSoftmax.cpp - What a scan saves of its softmaxes --------------===//

#include "SavedSoftmax.h"
#include "AttentionMatcher.h"
#include "LoopInvariants.h"
#include "LoopStacks.h"
#include "amsp/Support/TensorType.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace amsp;
using stablehlo::DynamicSliceOp;
using stablehlo::DynamicUpdateSliceOp;
using stablehlo::WhileOp;

namespace {

/// The slices that are read of a stack at one index of one block.
using ReadPlace = std::pair<Block *, Value>;

/// Computes a softmax of a loop's body again where its slices are read.
class SoftmaxRecomputation {
public:
  SoftmaxRecomputation(LoopStacks &stacks, AttentionMatcher &matcher)
      : stacks(stacks), matcher(matcher) {}

  /// False, and nothing has changed, if what reads the slices is no gradient of
  /// an attention then.
  bool run(stablehlo::DotGeneralOp scores);

private:
  /// Finds the stacks that hold values of the softmax, and where they are read.
  bool findReads();
  bool replaceReads();
  Value rebuild(Value value, const ReadPlace &place, OpBuilder &builder);
  Value readSlice(const Stack &stack, Value value, const ReadPlace &place,
                  OpBuilder &builder);
  void undo();

  LoopStacks &stacks;
  AttentionMatcher &matcher;
  SmallVector<const Stack *> dropped;
  llvm::MapVector<ReadPlace, SmallVector<std::pair<DynamicSliceOp, Value>>>
      reads;
  DenseMap<ReadPlace, IRMapping> mappings;
  SmallVector<Operation *> created;
  SmallVector<std::pair<OpOperand *, Value>> replaced;
};

} // namespace

bool SoftmaxRecomputation::findReads() {
  for (const Stack &stack : stacks.getStacks()) {
    DynamicUpdateSliceOp store = stack.store;
    if (!matcher.isFollowed(store.getUpdate()))
      continue;
    dropped.push_back(&stack);
    Value result = stacks.loop.getResult(stack.carry);
    for (Operation *user : result.getUsers()) {
      auto slice = dyn_cast<DynamicSliceOp>(user);
      if (!isSliceRead(slice, result))
        return false;
      reads[{slice->getBlock(), slice.getStartIndices().front()}].push_back(
          {slice, store.getUpdate()});
    }
  }
  return !reads.empty();
}

Value SoftmaxRecomputation::readSlice(const Stack &stack, Value value,
                                      const ReadPlace &place,
                                      OpBuilder &builder) {
  Value result = stacks.loop.getResult(stack.carry);
  Location loc = value.getLoc();
  // What reads it already has to be the same value for the matcher.
  Value slice;
  for (Operation *user : result.getUsers())
    if (auto read = dyn_cast<DynamicSliceOp>(user);
        isSliceRead(read, result) && read->getBlock() == place.first &&
        read.getStartIndices().front() == place.second)
      slice = read;
  if (!slice) {
    DynamicUpdateSliceOp store = stack.store;
    SmallVector<Value> indices(store.getStartIndices());
    indices.front() = place.second;
    for (Value &index : MutableArrayRef(indices).drop_front())
      index = rebuild(index, place, builder);
    RankedTensorType type = getTensorType(store.getUpdate());
    slice = DynamicSliceOp::create(builder, loc, type, result, indices,
                                   type.getShape());
    created.push_back(slice.getDefiningOp());
  }
  if (slice.getType() == value.getType())
    return slice;
  for (Operation *user : slice.getUsers())
    if (isa<stablehlo::ReshapeOp>(user) && user->getBlock() == place.first &&
        user->getResult(0).getType() == value.getType())
      return user->getResult(0);
  auto reshaped =
      stablehlo::ReshapeOp::create(builder, loc, value.getType(), slice);
  created.push_back(reshaped);
  return reshaped;
}

/// Ops that cost little, of values that are no softmax's.
static bool isCheap(Operation *op) {
  return isa<stablehlo::ConstantOp, stablehlo::IotaOp,
             stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp,
             stablehlo::TransposeOp, stablehlo::ConvertOp, stablehlo::CompareOp,
             stablehlo::AndOp, stablehlo::SelectOp, stablehlo::AddOp,
             stablehlo::SubtractOp, stablehlo::MulOp, stablehlo::DivOp>(op);
}

Value SoftmaxRecomputation::rebuild(Value value, const ReadPlace &place,
                                    OpBuilder &builder) {
  IRMapping &mapping = mappings[place];
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (!stacks.loop.getBody().isAncestor(value.getParentRegion()))
    return value;
  bool isSoftmax = matcher.isFollowed(value);
  if (const Stack *stack = isSoftmax ? nullptr : stacks.lookup(value)) {
    Value read = readSlice(*stack, value, place, builder);
    mapping.map(value, read);
    return read;
  }
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || (!isSoftmax && !isCheap(op)))
    return Value();
  for (Value operand : op->getOperands()) {
    Value made = rebuild(operand, place, builder);
    if (!made)
      return Value();
    mapping.map(operand, made);
  }
  created.push_back(builder.clone(*op, mapping));
  return mapping.lookup(value);
}

bool SoftmaxRecomputation::replaceReads() {
  for (auto &[place, slices] : reads) {
    Operation *first = slices.front().first;
    for (auto [slice, update] : slices)
      if (slice->isBeforeInBlock(first))
        first = slice;
    OpBuilder builder(first);
    for (auto [slice, update] : slices) {
      Value made = rebuild(update, place, builder);
      if (!made)
        return false;
      for (OpOperand &use : llvm::make_early_inc_range(slice->getUses())) {
        replaced.push_back({&use, slice});
        use.set(made);
      }
    }
    sortTopologically(place.first);
  }
  return true;
}

void SoftmaxRecomputation::undo() {
  for (auto [use, value] : replaced)
    use->set(value);
  for (Operation *op : llvm::reverse(created))
    op->erase();
}

bool SoftmaxRecomputation::run(stablehlo::DotGeneralOp scores) {
  if (!findReads())
    return false;
  bool isFound = replaceReads();
  for (auto &[place, slices] : reads) {
    Value again = isFound ? mappings[place].lookupOrNull(scores) : Value();
    if (!again) {
      isFound = false;
      break;
    }
    std::optional<AttentionMatch> match =
        AttentionMatcher(again.getDefiningOp<stablehlo::DotGeneralOp>())
            .match();
    isFound = match && match->hasBackward();
    if (!isFound)
      break;
  }
  if (!isFound) {
    undo();
    return false;
  }
  for (auto &[place, slices] : reads)
    for (auto [slice, update] : slices)
      slice->erase();
  for (const Stack *stack : dropped)
    stacks.drop(*stack);
  return true;
}

/// Returns the number of softmaxes of a loop's body that are no longer saved.
static unsigned recomputeSoftmaxes(WhileOp loop) {
  unsigned count = 0;
  SmallVector<stablehlo::DotGeneralOp> dots(
      loop.getBody().front().getOps<stablehlo::DotGeneralOp>());
  for (stablehlo::DotGeneralOp dot : dots) {
    LoopStacks stacks(loop);
    DenseSet<Operation *> stores;
    for (const Stack &stack : stacks.getStacks())
      stores.insert(stack.store);
    if (stores.empty())
      break;
    AttentionMatcher matcher(dot);
    matcher.ignore(stores);
    std::optional<AttentionMatch> match = matcher.match();
    if (match && match->result && !match->hasBackward())
      count += SoftmaxRecomputation(stacks, matcher).run(dot);
  }
  if (count > 0)
    hoistInvariants(loop);
  return count;
}

unsigned amsp::recomputeSavedSoftmaxes(Operation *root) {
  SmallVector<WhileOp> loops;
  root->walk([&](WhileOp loop) { loops.push_back(loop); });
  unsigned count = 0;
  for (WhileOp loop : loops)
    count += recomputeSoftmaxes(loop);
  return count;
}
