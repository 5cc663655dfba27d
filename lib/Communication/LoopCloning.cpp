//===- LoopCloning.cpp - Iterations beside their loop ---------------------===//

#include "LoopCloning.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/IterationBoundary.h"

using namespace mlir;
using namespace amsp;
using stablehlo::WhileOp;

LoopCloner::LoopCloner(WhileOp loop, const CountedLoop &counted)
    : loop(loop), counted(counted) {
  loop->getParentOfType<func::FuncOp>().walk([&](Operation *op) {
    if (auto gather = dyn_cast<AllGatherOp>(op);
        gather && gather.getWindowAttr())
      nextWindow = std::max(nextWindow, gather.getWindowAttr().getInt() + 1);
    if (auto number = op->getAttrOfType<IntegerAttr>(kIterationAttr))
      iteration = std::max(iteration, number.getInt() + 1);
  });
}

Value LoopCloner::getConstant(OpBuilder &builder, int64_t value) const {
  auto type =
      cast<RankedTensorType>(loop.getOperand()[counted.counter].getType());
  APInt number(type.getElementTypeBitWidth(), static_cast<uint64_t>(value),
               /*isSigned=*/true);
  return stablehlo::ConstantOp::create(builder, loop.getLoc(),
                                       DenseElementsAttr::get(type, number));
}

Value LoopCloner::getCount(OpBuilder &builder, int64_t iteration) const {
  return getConstant(builder, counted.getCount(iteration));
}

Value LoopCloner::getStep(OpBuilder &builder) const {
  return getConstant(builder, counted.step);
}

Value LoopCloner::getSeparated(OpBuilder &builder, Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 0 && isa<IntegerType>(type.getElementType()))
    return value;
  auto barrier = stablehlo::OptimizationBarrierOp::create(
      builder, loop.getLoc(), value.getType(), value);
  barrier->setAttr(kIterationAttr, builder.getI64IntegerAttr(iteration));
  return barrier->getResult(0);
}

void LoopCloner::separate(OpBuilder &builder, IRMapping &mapping,
                          function_ref<bool(Operation *)> predicate) {
  Block &body = loop.getBody().front();
  llvm::SetVector<Value> read;
  for (Operation &op : body.without_terminator()) {
    if (!predicate(&op))
      continue;
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        bool isOutside = !loop.getBody().isAncestor(operand.getParentRegion());
        if (!isOutside && !mapping.contains(operand))
          continue;
        Operation *made = operand.getDefiningOp();
        if (!isOutside || !isa_and_nonnull<stablehlo::ConstantOp>(made))
          read.insert(operand);
      }
    });
  }
  for (Value value : read)
    mapping.map(value, getSeparated(builder, mapping.lookupOrDefault(value)));
  ++iteration;
}

void LoopCloner::separate(OpBuilder &builder, MutableArrayRef<Value> values) {
  for (Value &value : values)
    value = getSeparated(builder, value);
  ++iteration;
}

void LoopCloner::cloneBody(OpBuilder &builder, IRMapping &mapping,
                           function_ref<bool(Operation *)> predicate) {
  llvm::DenseMap<int64_t, int64_t> windows;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    if (!predicate(&op))
      continue;
    builder.clone(op, mapping)->walk([&](AllGatherOp gather) {
      IntegerAttr window = gather.getWindowAttr();
      if (!window)
        return;
      auto [it, isNew] = windows.try_emplace(window.getInt(), nextWindow);
      nextWindow += isNew;
      gather.setWindowAttr(builder.getI64IntegerAttr(it->second));
    });
  }
}

SmallVector<Value> LoopCloner::getYielded(const IRMapping &mapping) const {
  return llvm::map_to_vector(
      loop.getBody().front().getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

WhileOp LoopCloner::createLoop(OpBuilder &builder, ArrayRef<Value> carries,
                               int64_t end) const {
  Location loc = loop.getLoc();
  Value limit = getCount(builder, end);
  TypeRange types = ValueRange(carries).getTypes();
  auto created = WhileOp::create(builder, loc, types, carries);
  SmallVector<Location> locs(carries.size(), loc);
  Block *cond = builder.createBlock(&created.getCond(), {}, types, locs);
  Operation *terminator = loop.getCond().front().getTerminator();
  IRMapping mapping;
  auto compare =
      terminator->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  mapping.map(compare.getLhs(), cond->getArgument(counted.counter));
  mapping.map(compare.getRhs(), limit);
  builder.clone(*compare, mapping);
  builder.clone(*terminator, mapping);
  builder.createBlock(&created.getBody(), {}, types, locs);
  return created;
}
