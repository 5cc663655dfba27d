//===- PlaceResults.cpp - Buffers of a step's arguments and results -------===//

#include "BranchDestinations.h"
#include "DestinationRoots.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace amsp {
#define GEN_PASS_DEF_PLACERESULTS
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;
using bufferization::AllocTensorOp;
using bufferization::MaterializeInDestinationOp;
using bufferization::ToTensorOp;

static Value copyOf(OpBuilder &builder, Location loc, Value tensor) {
  return AllocTensorOp::create(builder, loc,
                               cast<RankedTensorType>(tensor.getType()),
                               ValueRange(), tensor);
}

/// The destination in the shape that `shaped` has before its reshape, at once
/// behind the destination, so that what computes it can write there.
template <typename OpTy>
static Value reshapeDestination(OpBuilder &builder, OpTy shaped,
                                Value destination) {
  using Reverse =
      std::conditional_t<std::is_same_v<OpTy, tensor::ExpandShapeOp>,
                         tensor::CollapseShapeOp, tensor::ExpandShapeOp>;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(destination);
  auto reshaped =
      Reverse::create(builder, shaped.getLoc(), shaped.getSrcType(),
                      destination, shaped.getReassociationIndices());
  // One op where it is read in this shape, too: the analysis does not see that
  // two are one buffer, and copies it instead of updating it in place.
  for (Operation *user : llvm::make_early_inc_range(destination.getUsers())) {
    auto other = dyn_cast<Reverse>(user);
    if (other && other != reshaped && other.getType() == reshaped.getType() &&
        other.getReassociation() == reshaped.getReassociation()) {
      other->replaceAllUsesWith(reshaped);
      other->erase();
    }
  }
  return reshaped;
}

static Value materialize(OpBuilder &builder, Location loc, Value source,
                         Value destination) {
  return MaterializeInDestinationOp::create(builder, loc, source, destination)
      .getResult();
}

/// The same for a result of the step: its reshape is that of its destination.
static Value materializeResult(OpBuilder &builder, Value source,
                               Value destination) {
  Location loc = source.getLoc();
  if (auto expand = source.getDefiningOp<tensor::ExpandShapeOp>()) {
    Value written =
        materializeResult(builder, expand.getSrc(),
                          reshapeDestination(builder, expand, destination));
    return tensor::ExpandShapeOp::create(builder, loc, expand.getResultType(),
                                         written,
                                         expand.getReassociationIndices());
  }
  if (auto collapse = source.getDefiningOp<tensor::CollapseShapeOp>()) {
    Value written =
        materializeResult(builder, collapse.getSrc(),
                          reshapeDestination(builder, collapse, destination));
    return tensor::CollapseShapeOp::create(builder, loc,
                                           collapse.getResultType(), written,
                                           collapse.getReassociationIndices());
  }
  return materialize(builder, loc, source, destination);
}

static MemRefType getBufferType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// True if a nested loop makes `value` by updating `carry`: it is in the
/// carry's buffer already. (Upstream's analysis takes a copy onto itself for a
/// conflict if the two are equal only through a nested loop.)
static bool isUpdatedByNestedLoop(Value value, Value carry) {
  while (isa_and_nonnull<scf::ForOp, scf::WhileOp>(value.getDefiningOp())) {
    value = getTiedInit(value.getDefiningOp(), cast<OpResult>(value));
    if (value == carry)
      return true;
  }
  return false;
}

/// True if an op that does not run before the loop uses `value`, too.
static bool isUsedBesideLoop(Value value, OpOperand &init) {
  Operation *loop = init.getOwner();
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    if (&use == &init)
      return false;
    Operation *user = loop->getBlock()->findAncestorOpInBlock(*use.getOwner());
    return !user || !user->isBeforeInBlock(loop);
  });
}

/// A carry that begins with a value that is read later gets a copy of it. The
/// analysis would copy, too; but the elimination of empty tensors looks through
/// the loop first, and would have the value made where the loop's result goes.
static void copySharedInits(LoopLikeOpInterface loop) {
  OpBuilder builder(loop);
  for (OpOperand &init : loop.getInitsMutable()) {
    Value value = init.get();
    if (isa<RankedTensorType>(value.getType()) &&
        value.getDefiningOp<DestinationStyleOpInterface>() &&
        isUsedBesideLoop(value, init))
      init.set(copyOf(builder, loop.getLoc(), value));
  }
}

/// Makes a loop's condition hand on all carries in order, which simplifications
/// of what nothing reads undo: each carry keeps one buffer through both
/// regions.
static LogicalResult handOnAllCarries(scf::WhileOp loop) {
  Block &before = *loop.getBeforeBody();
  scf::ConditionOp condition = loop.getConditionOp();
  if (condition.getArgs() == ValueRange(before.getArguments()))
    return success();
  for (Value handed : condition.getArgs())
    if (!llvm::is_contained(before.getArguments(), handed))
      return loop.emitError("a value of a loop's condition leaves the loop");
  IRRewriter rewriter(loop);
  Location loc = loop.getLoc();
  auto whole = scf::WhileOp::create(rewriter, loc, before.getArgumentTypes(),
                                    loop.getInits(), nullptr, nullptr);
  SmallVector<Value> handedOn, results;
  Block *after = whole.getAfterBody();
  for (Value handed : condition.getArgs()) {
    unsigned number = cast<BlockArgument>(handed).getArgNumber();
    handedOn.push_back(after->getArgument(number));
    results.push_back(whole.getResult(number));
  }
  rewriter.mergeBlocks(&before, whole.getBeforeBody(),
                       whole.getBeforeArguments());
  rewriter.mergeBlocks(loop.getAfterBody(), after, handedOn);
  rewriter.modifyOpInPlace(condition, [&] {
    condition.getArgsMutable().assign(whole.getBeforeArguments());
  });
  rewriter.replaceOp(loop, results);
  return success();
}

/// Sends the values that a loop carries back to the buffers they came in. What
/// may be in the buffer of another carry is copied first, before any of them is
/// overwritten.
static void placeLoopCarries(Block::BlockArgListType carries,
                             scf::YieldOp yield) {
  OpBuilder builder(yield);
  for (auto [index, carry] : llvm::enumerate(carries)) {
    Value next = yield.getOperand(index);
    if (!isa<RankedTensorType>(next.getType()))
      continue;
    Value root = getDestinationRoot(next);
    if (root != carry && llvm::is_contained(carries, root))
      yield.setOperand(index, copyOf(builder, yield.getLoc(), next));
  }
  for (auto [index, carry] : llvm::enumerate(carries)) {
    Value next = yield.getOperand(index);
    if (isa<RankedTensorType>(next.getType()) && next != carry &&
        !isUpdatedByNestedLoop(next, carry))
      yield.setOperand(index, materialize(builder, next.getLoc(), next, carry));
  }
}

//===----------------------------------------------------------------------===//
// The step's function
//===----------------------------------------------------------------------===//

namespace {
/// Rewrites the function's signature and return.
class StepBoundary {
public:
  explicit StepBoundary(func::FuncOp step)
      : step(step), builder(step.getBody()),
        terminator(
            cast<func::ReturnOp>(step.getBody().back().getTerminator())) {}

  /// Finds the destinations; nothing is changed yet.
  LogicalResult verify();
  void rewrite();

private:
  bool isState(unsigned argument) {
    return static_cast<bool>(step.getArgAttr(argument, kResultAttr));
  }
  /// May be overwritten once it is read: the step's end writes its new value. A
  /// state that is handed on as it is is not written there, and has to stay.
  bool isUpdated(unsigned argument) {
    auto result = step.getArgAttrOfType<IntegerAttr>(argument, kResultAttr);
    return result &&
           terminator.getOperand(result.getInt()) != step.getArgument(argument);
  }
  LogicalResult verifyTypes();
  LogicalResult findDestinations();
  void convertArguments();
  void addResultBuffers();
  void copyFromOtherStates();
  void writeResults();

  func::FuncOp step;
  OpBuilder builder;
  func::ReturnOp terminator;
  /// Per result: the argument that it updates, if any.
  SmallVector<std::optional<unsigned>> updated;
  /// Per argument: its tensor.
  SmallVector<Value> tensors;
  /// Per result: buffer to write, and the tensor that stands for it.
  SmallVector<std::pair<Value, Value>> destinations;
};
} // namespace

LogicalResult StepBoundary::verifyTypes() {
  auto verify = [&](TypeRange types, StringRef what) -> LogicalResult {
    for (auto [index, type] : llvm::enumerate(types)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !tensor.hasStaticShape())
        return step.emitError() << what << " " << index
                                << " is no tensor of static shape: " << type;
    }
    return success();
  };
  return failure(failed(verify(step.getArgumentTypes(), "argument")) ||
                 failed(verify(step.getResultTypes(), "result")));
}

LogicalResult StepBoundary::findDestinations() {
  for (unsigned i = 0, e = step.getNumResults(); i < e; ++i) {
    std::optional<unsigned> argument;
    if (auto attr = step.getResultAttrOfType<IntegerAttr>(i, kArgumentAttr)) {
      argument = attr.getInt();
      if (*argument >= step.getNumArguments() ||
          step.getArgumentTypes()[*argument] != step.getResultTypes()[i])
        return step.emitError() << "result " << i << " and argument "
                                << *argument << ", its buffer, do not match";
    }
    updated.push_back(argument);
  }
  return success();
}

void StepBoundary::convertArguments() {
  for (BlockArgument argument : step.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    argument.setType(getBufferType(type));
    auto tensor =
        ToTensorOp::create(builder, argument.getLoc(), type, argument,
                           /*restrict=*/true,
                           /*writable=*/isUpdated(argument.getArgNumber()));
    argument.replaceAllUsesExcept(tensor, tensor);
    tensors.push_back(tensor);
  }
}

void StepBoundary::addResultBuffers() {
  unsigned numArguments = step.getNumArguments();
  SmallVector<DictionaryAttr> attrs;
  for (unsigned i = 0; i < numArguments; ++i)
    attrs.push_back(step.getArgAttrDict(i));
  for (auto [index, type] : llvm::enumerate(step.getResultTypes())) {
    if (updated[index]) {
      unsigned argument = *updated[index];
      destinations.emplace_back(step.getArgument(argument), tensors[argument]);
      continue;
    }
    Location loc = terminator.getOperand(index).getLoc();
    Value buffer = step.getBody().addArgument(getBufferType(type), loc);
    Value tensor = ToTensorOp::create(builder, loc, type, buffer,
                                      /*restrict=*/true, /*writable=*/true);
    destinations.emplace_back(buffer, tensor);
    attrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        kResultBufferAttr, builder.getI64IntegerAttr(index))));
  }
  for (DictionaryAttr &attr : attrs)
    if (!attr)
      attr = builder.getDictionaryAttr({});
  step.setType(builder.getFunctionType(step.getBody().getArgumentTypes(), {}));
  step.setAllArgAttrs(attrs);
  step->removeAttr(step.getResAttrsAttrName());
}

/// A result that may be in another argument's buffer is read before any
/// argument is overwritten.
void StepBoundary::copyFromOtherStates() {
  builder.setInsertionPoint(terminator);
  for (OpOperand &result : terminator->getOpOperands()) {
    Value root = getDestinationRoot(result.get());
    auto *argument = llvm::find(tensors, root);
    if (root != destinations[result.getOperandNumber()].second &&
        argument != tensors.end() &&
        isState(std::distance(tensors.begin(), argument)))
      result.set(copyOf(builder, terminator.getLoc(), result.get()));
  }
}

void StepBoundary::writeResults() {
  SmallVector<std::pair<Value, Value>> written;
  for (auto [value, destination] :
       llvm::zip_equal(terminator.getOperands(), destinations))
    if (value != destination.second)
      written.emplace_back(
          materializeResult(builder, value, destination.second),
          destination.first);
  // Nothing is left to copy here once both are one buffer; it keeps the value.
  for (auto [value, buffer] : written)
    MaterializeInDestinationOp::create(builder, value.getLoc(), TypeRange(),
                                       value, buffer, /*restrict=*/false,
                                       /*writable=*/true);
  terminator->setOperands({});
}

LogicalResult StepBoundary::verify() {
  return failure(failed(verifyTypes()) || failed(findDestinations()));
}

void StepBoundary::rewrite() {
  builder.setInsertionPointToStart(&step.getBody().front());
  convertArguments();
  addResultBuffers();
  copyFromOtherStates();
  writeResults();
}

namespace {
struct PlaceResults : amsp::impl::PlaceResultsBase<PlaceResults> {
  using PlaceResultsBase::PlaceResultsBase;

  void runOnOperation() override {
    func::FuncOp step = getOperation();
    if (!step.getBody().hasOneBlock()) {
      step.emitError("expected a step of one block");
      return signalPassFailure();
    }
    StepBoundary boundary(step);
    if (failed(boundary.verify()))
      return signalPassFailure();
    SmallVector<scf::WhileOp> loops;
    step.walk([&](scf::WhileOp loop) { loops.push_back(loop); });
    for (scf::WhileOp loop : loops)
      if (failed(handOnAllCarries(loop)))
        return signalPassFailure();
    step.walk([](Operation *op) {
      if (isa<scf::ForOp, scf::WhileOp>(op))
        copySharedInits(cast<LoopLikeOpInterface>(op));
      if (auto loop = dyn_cast<scf::ForOp>(op))
        placeLoopCarries(loop.getRegionIterArgs(),
                         cast<scf::YieldOp>(loop.getBody()->getTerminator()));
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        placeLoopCarries(loop.getAfterArguments(), loop.getYieldOp());
      else if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
        placeBranchResults(op);
    });
    boundary.rewrite();
    // The numbers of ops that passes left have no room between them. The next
    // pass inserts ops and asks for their order: without room, all of the block
    // would be numbered anew each time.
    step.walk([](Block *block) { block->recomputeOpOrder(); });
  }
};
} // namespace
