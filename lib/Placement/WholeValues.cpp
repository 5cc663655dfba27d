//===- WholeValues.cpp - Flat values that are gathered once ---------------===//

#include "amsp/Placement/WholeValues.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/FlatFlow.h"

using namespace mlir;
using namespace amsp;
using stablehlo::CaseOp;
using stablehlo::WhileOp;

namespace {
/// What becomes of a flat value in its block.
struct Fate {
  /// An op takes it whole, or a copy in another shape or type.
  bool isTakenWhole = false;
  /// An op takes whole what follows from it elementwise.
  bool leadsToWhole = false;
};

class WholeValueFinder {
public:
  explicit WholeValueFinder(const PlacementAnalysis &analysis)
      : analysis(analysis) {}

  void visitBlock(Block &block);

  SmallVector<Value> found;

private:
  void visitUse(OpOperand &use, Fate &fate);

  const PlacementAnalysis &analysis;
  DenseMap<Value, Fate> fates;
};
} // namespace

static bool isCopy(Operation *op) {
  return isa<stablehlo::BroadcastInDimOp, stablehlo::ConvertOp,
             stablehlo::ReshapeOp>(op);
}

void WholeValueFinder::visitUse(OpOperand &use, Fate &fate) {
  Operation *op = use.getOwner();
  if (op->getBlock() != use.get().getParentBlock() ||
      op->hasTrait<OpTrait::IsTerminator>() || isa<CaseOp, WhileOp>(op))
    return;
  Transfer transfer = analysis.getTransfer(op);
  fate.isTakenWhole |= transfer.operands[use.getOperandNumber()].isReplicated();
  if (op->getNumResults() != 1 || !keepsFlatOrder(op))
    return;
  Fate next = fates.lookup(op->getResult(0));
  fate.leadsToWhole |= next.leadsToWhole;
  (isCopy(op) ? fate.isTakenWhole : fate.leadsToWhole) |= next.isTakenWhole;
}

void WholeValueFinder::visitBlock(Block &block) {
  // Uses come before what they use.
  for (Operation &op : llvm::reverse(block)) {
    if (isa<CaseOp, WhileOp>(op)) {
      for (Region &region : op.getRegions())
        visitBlock(region.front());
      continue;
    }
    if (op.getNumResults() != 1 ||
        !analysis.getPlacement(op.getResult(0)).isFlat())
      continue;
    Fate fate;
    for (OpOperand &use : op.getResult(0).getUses())
      visitUse(use, fate);
    fates[op.getResult(0)] = fate;
    // Gradients are completed to pieces.
    bool isMadeFlat = analysis.getNatural(op.getResult(0)).isFlat();
    if (isMadeFlat && fate.isTakenWhole && fate.leadsToWhole && !isCopy(&op) &&
        op.hasTrait<stablehlo::Elementwise>())
      found.push_back(op.getResult(0));
  }
}

SmallVector<Value> amsp::findWholeValues(func::FuncOp step,
                                         const PlacementAnalysis &analysis) {
  WholeValueFinder finder(analysis);
  finder.visitBlock(step.getBody().front());
  return std::move(finder.found);
}
