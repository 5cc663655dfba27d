//===- SplitMicrobatches.cpp - A step as a loop over parts of its batch ---===//
//
// Microbatching is data parallelism over time. The step is partitioned for as
// many ranks as there are microbatches, with nothing but the batch cut: what a
// rank would compute of its rows becomes the body of a loop, whose counter is
// the rank's number, and what ranks would add up is added up in carries.
//
//===----------------------------------------------------------------------===//

#include "RowProgram.h"
#include "StepArguments.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/IR/CheapOps.h"
#include "amsp/Dialect/AMSP/Transforms/HloBuilder.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace amsp {
#define GEN_PASS_DEF_SPLITMICROBATCHES
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// Rows of the batch arguments; fails if the count does not divide them.
static FailureOr<SmallVector<int64_t>> getBatchRows(func::FuncOp step,
                                                    int64_t count) {
  SmallVector<int64_t> rows;
  for (BlockArgument argument : step.getArguments()) {
    if (getRole(step, argument.getArgNumber()) != Role::Batch)
      continue;
    rows.push_back(getTensorType(argument).getDimSize(0));
    if (count < 1 || rows.back() % count != 0)
      return step.emitError(kCannotSplit)
             << "batch argument '"
             << getArgumentName(step, argument.getArgNumber()) << "' has "
             << rows.back() << " rows, which " << count
             << " microbatches do not divide";
  }
  if (rows.empty())
    return step.emitError(kCannotSplit) << "it has no batch argument";
  return rows;
}

/// The operand that the op, elementwise and linear in it, scales; null for
/// other ops.
static Value getScaled(Operation *op, const RowAnalysis &analysis) {
  if (isa_and_nonnull<stablehlo::NegOp>(op))
    return op->getOperand(0);
  if (!isa_and_nonnull<stablehlo::MulOp, stablehlo::DivOp>(op))
    return {};
  bool isFirst = analysis.isOfRows(op->getOperand(0));
  bool isSecond = analysis.isOfRows(op->getOperand(1));
  if (isFirst && !isSecond)
    return op->getOperand(0);
  if (isSecond && !isFirst && isa<stablehlo::MulOp>(op))
    return op->getOperand(1);
  return {};
}

/// What the loop adds up for a sum: constant factors come behind it.
static Value getSummand(Value operand, const RowAnalysis &analysis) {
  while (Value scaled = getScaled(operand.getDefiningOp(), analysis))
    operand = scaled;
  return operand;
}

namespace {
/// Writes the step as a loop over microbatches.
class LoopBuilder {
public:
  LoopBuilder(func::FuncOp step, RowProgram &program,
              const RowAnalysis &analysis, int64_t count, int64_t rows)
      : step(step), program(program), from(program.function->getBody().front()),
        analysis(analysis), count(count), rows(rows),
        builder(step.getContext()), loc(step.getLoc()) {}

  /// Replaces the step's body.
  void run();

private:
  /// A value cut into microbatches: the dimension that counts them, and the
  /// type of one.
  struct Cut {
    SmallVector<int64_t> shape;
    int64_t dim;
    RankedTensorType part;
  };
  Cut getCut(RankedTensorType whole, int64_t dim) const;
  Value makeAhead(Value value);
  void cloneIntoLoop(Operation *op);
  Value makeInLoop(Value value);
  Value lowerRankOp(Operation *op);
  Value takePart(Value value, const Cut &cut);
  void addCarries();
  void buildBody();
  void scaleSum(Value operand, Value result, Value total);
  void buildRest();
  Value joinParts(Value stacked, const Cut &cut, RankedTensorType whole);

  func::FuncOp step;
  RowProgram &program;
  Block &from;
  const RowAnalysis &analysis;
  int64_t count, rows;
  OpBuilder builder;
  Location loc;
  /// From the rank's program to values outside the loop, and in its body.
  IRMapping outside, inside;
  stablehlo::WhileOp loop;
  Value counter;
  /// Results that are split, by number, and the carries that collect them.
  SmallVector<unsigned> collected;
  SmallVector<Value> initial;
};
} // namespace

LoopBuilder::Cut LoopBuilder::getCut(RankedTensorType whole,
                                     int64_t dim) const {
  Cut cut;
  int64_t size = whole.getDimSize(dim);
  SmallVector<int64_t> part(whole.getShape());
  part[dim] = size / count;
  cut.part = whole.clone(part);
  llvm::append_range(cut.shape, whole.getShape().take_front(dim));
  if (program.order == RowOrder::Blocks) {
    cut.dim = dim;
    cut.shape.append({count, size / count});
  } else {
    cut.dim = dim + 1;
    cut.shape.append({rows / count, count});
    if (size != rows)
      cut.shape.push_back(size / rows);
  }
  llvm::append_range(cut.shape, whole.getShape().drop_front(dim + 1));
  return cut;
}

/// The part of this iteration.
Value LoopBuilder::takePart(Value value, const Cut &cut) {
  RankedTensorType type = getTensorType(value);
  Value view;
  {
    // Outside the loop, if the value is.
    OpBuilder::InsertionGuard guard(builder);
    if (value.getParentRegion() == &step.getBody() &&
        builder.getInsertionBlock()->getParentOp() != step)
      builder.setInsertionPoint(loop);
    view = stablehlo::ReshapeOp::create(builder, loc, type.clone(cut.shape),
                                        value);
  }
  SmallVector<int64_t> sizes(cut.shape);
  sizes[cut.dim] = 1;
  HloBuilder hlo = {builder, loc};
  SmallVector<Value> starts(sizes.size(), hlo.constant(0));
  starts[cut.dim] = counter;
  Value slice = stablehlo::DynamicSliceOp::create(
      builder, loc, type.clone(sizes), view, starts, sizes);
  return hlo.reshape(slice, cut.part.getShape());
}

/// The whole of what the iterations stacked.
Value LoopBuilder::joinParts(Value stacked, const Cut &cut,
                             RankedTensorType whole) {
  HloBuilder hlo = {builder, loc};
  SmallVector<int64_t> shape(cut.shape);
  shape.erase(shape.begin() + cut.dim);
  shape.insert(shape.begin(), count);
  Value parts = hlo.reshape(stacked, shape);
  SmallVector<int64_t> order;
  for (int64_t i = 0, e = shape.size(); i < e; ++i)
    order.push_back(i < cut.dim ? i + 1 : i == cut.dim ? 0 : i);
  Value ordered = stablehlo::TransposeOp::create(
      builder, loc, whole.clone(cut.shape), parts, order);
  return hlo.reshape(ordered, whole.getShape());
}

/// A value that does not depend on the rows, computed here if it is not there.
Value LoopBuilder::makeAhead(Value value) {
  if (Value known = outside.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  llvm::SetVector<Value> needed(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), needed);
  for (Value operand : needed)
    makeAhead(operand);
  builder.clone(*op, outside);
  return outside.lookup(value);
}

Value LoopBuilder::makeInLoop(Value value) {
  if (Value known = inside.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  // Cheap enough to be computed in each iteration, as exported loops do.
  if (op && isMemoryPass(op)) {
    cloneIntoLoop(op);
    return inside.lookup(value);
  }
  Value made;
  if (analysis.isOfRows(value)) { // an argument
    auto index = cast<BlockArgument>(value).getArgNumber();
    Value whole = step.getArgument(index);
    made = takePart(whole, getCut(getTensorType(whole), 0));
  } else {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loop);
    made = makeAhead(value);
  }
  inside.map(value, made);
  return made;
}

void LoopBuilder::cloneIntoLoop(Operation *op) {
  llvm::SetVector<Value> needed(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), needed);
  for (Value operand : needed)
    makeInLoop(operand);
  Operation *clone = builder.clone(*op, inside);
  SmallVector<Operation *> ofRank;
  clone->walk([&](Operation *inner) {
    if (isa<GroupIndexOp, LocalSliceOp, KeepOnFirstOp>(inner))
      ofRank.push_back(inner);
  });
  for (Operation *inner : ofRank) {
    Value made = lowerRankOp(inner);
    inner->getResult(0).replaceAllUsesWith(made);
    if (inner == clone)
      inside.map(op->getResult(0), made);
    inner->erase();
  }
}

/// The rank is the iteration.
Value LoopBuilder::lowerRankOp(Operation *op) {
  if (isa<GroupIndexOp>(op))
    return counter;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Value value = op->getOperand(0);
  if (auto slice = dyn_cast<LocalSliceOp>(op))
    return takePart(value,
                    getCut(getTensorType(value), slice.getDim().value_or(0)));
  HloBuilder hlo = {builder, op->getLoc()};
  Value isFirst = stablehlo::CompareOp::create(
      builder, op->getLoc(), counter, hlo.constant(0),
      stablehlo::ComparisonDirection::EQ,
      stablehlo::ComparisonTypeAttr::get(builder.getContext(),
                                         stablehlo::ComparisonType::SIGNED));
  return stablehlo::SelectOp::create(builder, op->getLoc(), isFirst, value,
                                     hlo.zeros(getTensorType(value)));
}

/// The counter, the sums from zero, and the results that are collected.
void LoopBuilder::addCarries() {
  HloBuilder hlo = {builder, loc};
  initial.push_back(hlo.constant(0));
  for (AllReduceOp sum : analysis.getSums())
    for (Value operand : sum.getOperands())
      initial.push_back(hlo.zeros(getTensorType(operand)));
  for (OpOperand &operand : from.getTerminator()->getOpOperands()) {
    if (!program.splitResults[operand.getOperandNumber()])
      continue;
    collected.push_back(operand.getOperandNumber());
    RankedTensorType part = getTensorType(operand.get());
    SmallVector<int64_t> shape(part.getShape());
    shape.insert(shape.begin(), count);
    initial.push_back(hlo.zeros(part.clone(shape)));
  }
  loop = stablehlo::WhileOp::create(
      builder, loc, TypeRange(ValueRange(initial).getTypes()), initial);
}

void LoopBuilder::buildBody() {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(ValueRange(initial).getTypes());
  SmallVector<Location> locations(types.size(), loc);
  Block *cond = builder.createBlock(&loop.getCond(), {}, types, locations);
  HloBuilder hlo = {builder, loc};
  Value goesOn = stablehlo::CompareOp::create(
      builder, loc, cond->getArgument(0), hlo.constant(count),
      stablehlo::ComparisonDirection::LT,
      stablehlo::ComparisonTypeAttr::get(builder.getContext(),
                                         stablehlo::ComparisonType::SIGNED));
  stablehlo::ReturnOp::create(builder, loc, goesOn);
  Block *body = builder.createBlock(&loop.getBody(), {}, types, locations);
  counter = body->getArgument(0);
  SmallVector<Value> yielded;
  unsigned carry = 1;
  for (Operation &op : from.without_terminator()) {
    if (!analysis.isOfRows(&op))
      continue;
    auto sum = dyn_cast<AllReduceOp>(op);
    if (!sum) {
      cloneIntoLoop(&op);
      continue;
    }
    for (Value operand : sum.getOperands())
      yielded.push_back(stablehlo::AddOp::create(
          builder, op.getLoc(), body->getArgument(carry++),
          makeInLoop(getSummand(operand, analysis))));
  }
  for (unsigned result : collected) {
    Value part = makeInLoop(from.getTerminator()->getOperand(result));
    SmallVector<int64_t> shape(getTensorType(part).getShape());
    shape.insert(shape.begin(), 1);
    SmallVector<Value> starts(shape.size(), hlo.constant(0));
    starts.front() = counter;
    Value stack = body->getArgument(carry++);
    yielded.push_back(stablehlo::DynamicUpdateSliceOp::create(
        builder, loc, stack.getType(), stack, hlo.reshape(part, shape),
        starts));
  }
  Value next = stablehlo::AddOp::create(builder, loc, counter, hlo.constant(1));
  yielded.insert(yielded.begin(), next);
  stablehlo::ReturnOp::create(builder, loc, yielded);
  // The factors of sums.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Gives a sum its factors, behind the loop.
void LoopBuilder::scaleSum(Value operand, Value result, Value total) {
  SmallVector<Operation *> factors;
  Value summand = operand;
  while (Value scaled = getScaled(summand.getDefiningOp(), analysis)) {
    factors.push_back(summand.getDefiningOp());
    summand = scaled;
  }
  outside.map(summand, total);
  for (Operation *factor : llvm::reverse(factors)) {
    for (Value other : factor->getOperands())
      makeAhead(other);
    builder.clone(*factor, outside);
  }
  outside.map(result, outside.lookup(operand));
  outside.erase(summand);
  for (Operation *factor : factors)
    outside.erase(factor->getResult(0));
}

/// What follows from the sums, and what has nothing to do with the rows.
void LoopBuilder::buildRest() {
  unsigned carry = 1;
  for (AllReduceOp sum : analysis.getSums())
    for (auto [operand, result] :
         llvm::zip_equal(sum.getOperands(), sum.getResults()))
      scaleSum(operand, result, loop.getResult(carry++));
  Operation *terminator = from.getTerminator();
  for (unsigned result : collected) {
    auto whole = cast<RankedTensorType>(step.getResultTypes()[result]);
    outside.map(terminator->getOperand(result),
                joinParts(loop.getResult(carry++),
                          getCut(whole, *program.splitResults[result]), whole));
  }
  for (Operation &op : from.without_terminator()) {
    bool isMade = op.getNumResults() > 0 && outside.contains(op.getResult(0));
    if (!analysis.isOfRows(&op) && !isMade)
      builder.clone(op, outside);
  }
  builder.clone(*terminator, outside);
}

void LoopBuilder::run() {
  Block &old = step.getBody().front();
  for (auto [argument, local] :
       llvm::zip_equal(old.getArguments(), from.getArguments())) {
    if (analysis.isOfRows(local))
      continue;
    outside.map(local, argument);
    inside.map(local, argument);
  }
  // The arguments stay; ops go in the reverse order of their uses.
  while (!old.empty()) {
    old.back().dropAllUses();
    old.back().erase();
  }
  builder.setInsertionPointToEnd(&old);
  addCarries();
  buildBody();
  buildRest();
}

LogicalResult amsp::splitMicrobatches(func::FuncOp step, int64_t count) {
  FailureOr<SmallVector<int64_t>> rows = getBatchRows(step, count);
  if (failed(rows))
    return failure();
  if (count == 1)
    return success();
  RowProgram program = partitionRows(step, count, *rows);
  RowAnalysis analysis(*program.function);
  if (failed(analysis.run()))
    return failure();
  LoopBuilder(step, program, analysis, count, rows->front()).run();
  return success();
}

namespace {
struct SplitMicrobatches
    : amsp::impl::SplitMicrobatchesBase<SplitMicrobatches> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(splitMicrobatches(getOperation(), count)))
      return signalPassFailure();
    numMicrobatches += count;
  }
};
} // namespace
