//===- LoopStacks.cpp - What a scan saves of each iteration ---------------===//

#include "LoopStacks.h"
#include "amsp/Placement/CountedLoop.h"
#include "amsp/Support/TensorType.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace amsp;
using stablehlo::DynamicSliceOp;
using stablehlo::DynamicUpdateSliceOp;
using stablehlo::WhileOp;

static bool areZero(ValueRange indices) {
  return llvm::all_of(
      indices, [](Value index) { return matchPattern(index, m_Zero()); });
}

/// What the slice is without its first dimension; null if it is not made of
/// that.
static Value getRow(Value slice) {
  Operation *maker = slice.getDefiningOp();
  if (isa_and_present<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(
          maker) &&
      getTensorType(maker->getOperand(0)).getShape() ==
          getTensorType(slice).getShape().drop_front())
    return maker->getOperand(0);
  return Value();
}

LoopStacks::LoopStacks(WhileOp loop) : loop(loop) {
  std::optional<CountedLoop> counted = getCountedLoop(loop);
  if (!counted || counted->first != 0 || counted->step != 1)
    return;
  Block &body = loop.getBody().front();
  counter = body.getArgument(counted->counter);
  trips = counted->trips;
  for (auto [carry, yielded] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    auto store = yielded.getDefiningOp<DynamicUpdateSliceOp>();
    Value argument = body.getArgument(carry);
    if (!store || store->getBlock() != &body || !store->hasOneUse() ||
        store.getOperand() != argument || !argument.hasOneUse() ||
        !loop.getCond().getArgument(carry).use_empty())
      continue;
    RankedTensorType type = getTensorType(argument);
    SmallVector<int64_t> slice(type.getShape());
    if (slice.empty() || slice.front() != trips ||
        store.getStartIndices().front() != counter ||
        !areZero(store.getStartIndices().drop_front()))
      continue;
    slice.front() = 1;
    Value update = store.getUpdate();
    if (getTensorType(update).getShape() != ArrayRef(slice))
      continue;
    saved.try_emplace(update, stacks.size());
    if (Value row = getRow(update))
      saved.try_emplace(row, stacks.size());
    stacks.push_back({static_cast<unsigned>(carry), store});
  }
}

const Stack *LoopStacks::lookup(Value value) const {
  auto found = saved.find(value);
  return found == saved.end() ? nullptr : &stacks[found->second];
}

bool LoopStacks::holds(const Stack &stack, Value value) {
  stablehlo::DynamicUpdateSliceOp store = stack.store;
  return store.getUpdate() == value || getRow(store.getUpdate()) == value;
}

void LoopStacks::drop(const Stack &stack) {
  Block &body = loop.getBody().front();
  body.getTerminator()->setOperand(stack.carry, body.getArgument(stack.carry));
  stack.store->erase();
}

bool amsp::isSliceRead(DynamicSliceOp slice, Value stack) {
  return slice && slice.getOperand() == stack &&
         slice.getSliceSizes().front() == 1 &&
         slice.getSliceSizes().drop_front() ==
             getTensorType(stack).getShape().drop_front() &&
         areZero(slice.getStartIndices().drop_front());
}
