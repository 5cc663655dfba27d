//===- BranchDestinations.cpp - One buffer per conditional result ---------===//

#include "BranchDestinations.h"
#include "DestinationRoots.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace amsp;
using bufferization::AllocTensorOp;
using bufferization::MaterializeInDestinationOp;

static bool isView(Operation *op) {
  return isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp>(op);
}

/// True if the buffer of `tensor` belongs to the values computed into it, and
/// not to a state or carry, whose next value goes there.
static bool hasBufferOfItsOwn(Value tensor) {
  Operation *root = getDestinationRoot(tensor).getDefiningOp();
  return isa_and_nonnull<tensor::EmptyOp, AllocTensorOp>(root);
}

/// What `tensor` is a view of, through all views.
static Value getViewed(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isView(op))
      break;
    tensor = op->getOperand(0);
  }
  return tensor;
}

/// True if nothing after `conditional` needs `tensor`, itself or a view of it.
static bool diesIn(Value tensor, Operation *conditional) {
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    Operation *top = conditional->getBlock()->findAncestorOpInBlock(*user);
    return top && (top == conditional || top->isBeforeInBlock(conditional)) &&
           (!isView(user) || diesIn(user->getResult(0), conditional));
  });
}

/// The loop carry or state argument whose next value `result` is, if any.
static Value findOldValue(OpResult result) {
  for (OpOperand &use : result.getUses()) {
    unsigned index = use.getOperandNumber();
    auto loop = dyn_cast<scf::ForOp>(use.getOwner()->getParentOp());
    if (loop && isa<scf::YieldOp>(use.getOwner()))
      return loop.getRegionIterArg(index);
    if (!isa<func::ReturnOp>(use.getOwner()))
      continue;
    auto step = cast<func::FuncOp>(use.getOwner()->getParentOp());
    if (auto argument =
            step.getResultAttrOfType<IntegerAttr>(index, kArgumentAttr))
      return step.getArgument(argument.getInt());
  }
  return {};
}

namespace {
/// The destinations of one conditional.
class BranchDestinations {
public:
  explicit BranchDestinations(Operation *conditional)
      : conditional(conditional) {}

  void place();

private:
  bool isDestinationRoot(Value root);
  bool canUpdate(Value tensor);
  Value findUpdatedTensor(OpResult result);
  void copyOverwritten(Region &branch);
  void write(Region &branch);

  Operation *conditional;
  /// Per result; null where it is no tensor.
  SmallVector<Value> destinations;
};
} // namespace

bool BranchDestinations::isDestinationRoot(Value root) {
  return llvm::any_of(destinations, [&](Value destination) {
    return destination && getDestinationRoot(destination) == root;
  });
}

bool BranchDestinations::canUpdate(Value tensor) {
  return tensor.getParentBlock() == conditional->getBlock() &&
         diesIn(getViewed(tensor), conditional) &&
         !isDestinationRoot(getDestinationRoot(tensor));
}

/// A tensor from before the conditional that `result` may overwrite: the one
/// whose next value it is, or one that a branch hands on.
Value BranchDestinations::findUpdatedTensor(OpResult result) {
  Value old = findOldValue(result);
  if (old && canUpdate(old))
    return old;
  for (Region &branch : conditional->getRegions()) {
    Value value =
        branch.front().getTerminator()->getOperand(result.getResultNumber());
    if (hasBufferOfItsOwn(value) && canUpdate(value))
      return value;
  }
  return {};
}

/// Copies what a branch hands on from the destination of another result, before
/// any of them is overwritten.
void BranchDestinations::copyOverwritten(Region &branch) {
  OpBuilder builder(branch.front().getTerminator());
  for (OpOperand &yielded : branch.front().getTerminator()->getOpOperands()) {
    Value destination = destinations[yielded.getOperandNumber()];
    if (!destination)
      continue;
    Value value = yielded.get();
    Value root = getDestinationRoot(value);
    if (root != getDestinationRoot(destination) && isDestinationRoot(root))
      yielded.set(AllocTensorOp::create(builder, conditional->getLoc(),
                                        cast<RankedTensorType>(value.getType()),
                                        ValueRange(), value));
  }
}

static Value copyElements(OpBuilder &builder, Location loc, Value value,
                          Value destination) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, destination.getType(), value, destination,
             ArrayRef{identity, identity}, loops,
             [](OpBuilder &body, Location at, ValueRange elements) {
               linalg::YieldOp::create(body, at, elements.front());
             })
      .getResult(0);
}

void BranchDestinations::write(Region &branch) {
  Location loc = conditional->getLoc();
  OpBuilder builder(branch.front().getTerminator());
  for (OpOperand &yielded : branch.front().getTerminator()->getOpOperands()) {
    Value value = yielded.get();
    Value destination = destinations[yielded.getOperandNumber()];
    if (!destination || value == destination)
      continue;
    // What is from before the branch must be copied. A `materialize` would let
    // the elimination of empty tensors compute it there, for all branches; so
    // would a `linalg.copy`.
    bool isFromBefore = value.getParentRegion()->isProperAncestor(&branch);
    yielded.set(isFromBefore ? copyElements(builder, loc, value, destination)
                             : MaterializeInDestinationOp::create(
                                   builder, loc, value, destination)
                                   .getResult());
  }
}

void BranchDestinations::place() {
  OpBuilder builder(conditional);
  for (OpResult result : conditional->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    Value destination = type ? findUpdatedTensor(result) : Value();
    // No `tensor.empty`: their elimination replaces one use, in one branch.
    if (type && !destination)
      destination = AllocTensorOp::create(builder, conditional->getLoc(), type,
                                          ValueRange());
    destinations.push_back(destination);
  }
  for (Region &branch : conditional->getRegions()) {
    copyOverwritten(branch);
    write(branch);
  }
}

void amsp::placeBranchResults(Operation *conditional) {
  BranchDestinations(conditional).place();
}
