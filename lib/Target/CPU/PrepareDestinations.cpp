//===- PrepareDestinations.cpp - A destination of its own for every op ----===//

#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace amsp {
#define GEN_PASS_DEF_PREPAREDESTINATIONS
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// Replaces a constant of one value by a fill before each of its users.
static void expandSplat(arith::ConstantOp constant, IRRewriter &rewriter) {
  auto type = dyn_cast<RankedTensorType>(constant.getType());
  auto value = dyn_cast<SplatElementsAttr>(constant.getValue());
  if (!type || !value || type.getRank() == 0)
    return;
  for (OpOperand &use :
       llvm::make_early_inc_range(constant->getResult(0).getUses())) {
    rewriter.setInsertionPoint(use.getOwner());
    Location loc = constant.getLoc();
    Value scalar = arith::ConstantOp::create(
        rewriter, loc, cast<TypedAttr>(value.getSplatValue<Attribute>()));
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    use.set(linalg::FillOp::create(rewriter, loc, scalar, empty).getResult(0));
  }
}

/// Gives each use but the first a clone of `op`, just before the user.
static void cloneForEachUse(Operation *op, IRRewriter &rewriter) {
  Value value = op->getResult(0);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  for (OpOperand *use : ArrayRef(uses).drop_back(uses.empty() ? 0 : 1)) {
    rewriter.setInsertionPoint(use->getOwner());
    use->set(rewriter.clone(*op)->getResult(0));
  }
}

/// Moves scalars and constants of one value into the bodies that read them. The
/// reshape of an empty tensor becomes an empty tensor, which each use can have
/// of its own.
static LogicalResult foldScalarsAndEmpties(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseOpsFusionPatterns(
      patterns, [](OpOperand *) { return false; });
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}

namespace {
/// Empty tensors that slices are inserted into. Each goes to the start of its
/// block, and each slice at once behind what it inserts: then all of them can
/// be computed in their place from their first op on, and nothing needs to be
/// moved for that, which would have the whole block numbered anew each time.
class AssembledTensors {
public:
  void place(func::FuncOp function);

private:
  void placeSlice(tensor::InsertSliceOp op);

  /// Places in the block, of slices that moved those of what they are behind.
  llvm::DenseMap<Operation *, int64_t> places;
  llvm::DenseSet<Operation *> assembled; // the tensors, and with more slices
};
} // namespace

void AssembledTensors::place(func::FuncOp function) {
  int64_t place = 0;
  SmallVector<tensor::InsertSliceOp> slices;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    places[op] = place++;
    if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
      slices.push_back(slice);
  });
  for (tensor::InsertSliceOp slice : slices)
    placeSlice(slice);
}

void AssembledTensors::placeSlice(tensor::InsertSliceOp op) {
  auto empty = op.getDest().getDefiningOp<tensor::EmptyOp>();
  if (empty && empty->getNumOperands() == 0 && assembled.insert(empty).second) {
    empty->moveBefore(empty->getBlock(), empty->getBlock()->begin());
    places[empty] = -1;
  }
  Operation *dest = op.getDest().getDefiningOp();
  Operation *source = op.getSource().getDefiningOp();
  bool isConstant = op->getNumOperands() == 2;
  if (!isConstant || !source || !assembled.contains(dest) ||
      source->getBlock() != op->getBlock() ||
      dest->getBlock() != op->getBlock())
    return;
  Operation *last = places[dest] >= places[source] ? dest : source;
  op->moveAfter(last);
  places[op] = places[last];
  assembled.insert(op);
}

namespace {
struct PrepareDestinations
    : amsp::impl::PrepareDestinationsBase<PrepareDestinations> {
  using PrepareDestinationsBase::PrepareDestinationsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (failed(foldScalarsAndEmpties(function)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    function.walk(
        [&](arith::ConstantOp constant) { expandSplat(constant, rewriter); });
    // Fills first: a cloned fill is one more user of its tensor.empty.
    SmallVector<Operation *> fills, empties;
    function.walk([&](linalg::FillOp op) { fills.push_back(op); });
    for (Operation *op : fills)
      cloneForEachUse(op, rewriter);
    function.walk([&](tensor::EmptyOp op) { empties.push_back(op); });
    for (Operation *op : empties)
      cloneForEachUse(op, rewriter);
    AssembledTensors().place(function);
  }
};
} // namespace
