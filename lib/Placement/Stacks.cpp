//===- Stacks.cpp - Values that loops take apart --------------------------===//

#include "amsp/Placement/Stacks.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/FlatFlow.h"
#include "amsp/Placement/Placement.h"
#include "amsp/Support/TensorType.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace amsp;
using stablehlo::WhileOp;

/// One more than the last dimension in which the shapes differ.
static int64_t countDiffering(ArrayRef<int64_t> whole,
                              ArrayRef<int64_t> slice) {
  int64_t rank = whole.size();
  while (rank > 0 && whole[rank - 1] == slice[rank - 1])
    --rank;
  return rank;
}

int64_t amsp::getSlicedDims(stablehlo::DynamicUpdateSliceOp op) {
  return countDiffering(getTensorType(op.getOperand()).getShape(),
                        getTensorType(op.getUpdate()).getShape());
}

/// The fewest leading dimensions of an operand whose rows, when it is reshaped,
/// are those that `keep` leading dimensions of the result index, or parts of
/// them: a loop that is unrolled slices several rows at once.
static int64_t mapKeptBack(RankedTensorType operand, RankedTensorType result,
                           int64_t keep) {
  if (keep == 0)
    return 0;
  int64_t rows = ShapedType::getNumElements(result.getShape().take_front(keep));
  for (int64_t kept = 0; kept < operand.getRank(); ++kept) {
    int64_t own =
        ShapedType::getNumElements(operand.getShape().take_front(kept));
    if (own >= rows && mapKeep(operand, result, kept))
      return kept;
  }
  return 0;
}

namespace {
class StackFinder {
public:
  /// Leading dimensions along which loops slice the value, or what is computed
  /// from it elementwise.
  int64_t getKept(Value value);

private:
  int64_t getKept(OpOperand &use);

  llvm::DenseMap<Value, int64_t> known;
};
} // namespace

int64_t StackFinder::getKept(Value value) {
  // What a loop hands on to itself adds nothing.
  auto [it, isNew] = known.try_emplace(value, 0);
  if (!isNew)
    return it->second;
  int64_t kept = 0;
  for (OpOperand &use : value.getUses())
    kept = std::max(kept, getKept(use));
  if (kept >= getTensorType(value).getRank())
    kept = 0;
  return known[value] = kept;
}

int64_t StackFinder::getKept(OpOperand &use) {
  Operation *op = use.getOwner();
  unsigned index = use.getOperandNumber();
  if (auto loop = dyn_cast<WhileOp>(op))
    return std::max(getKept(loop.getBody().getArgument(index)),
                    getKept(loop.getResult(index)));
  if (auto loop = dyn_cast<WhileOp>(op->getParentOp());
      loop && op->hasTrait<OpTrait::IsTerminator>() &&
      op->getParentRegion() == &loop.getBody())
    return std::max(getKept(loop.getBody().getArgument(index)),
                    getKept(loop.getResult(index)));
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op)) {
    if (index != 0 || !op->getParentOfType<WhileOp>())
      return 0;
    int64_t sliced = countDiffering(getTensorType(use.get()).getShape(),
                                    slice.getSliceSizes());
    return std::max(sliced, getKept(slice.getResult()));
  }
  if (op->getNumResults() == 0 || !keepsFlatOrder(op))
    return 0;
  Value result =
      op->getNumResults() == 1 ? op->getResult(0) : op->getResult(index);
  RankedTensorType type = getTensorType(result);
  if (type.getNumElements() != getTensorType(use.get()).getNumElements())
    return 0;
  return mapKeptBack(getTensorType(use.get()), type, getKept(result));
}

SmallVector<int64_t> amsp::findKeptDims(func::FuncOp step) {
  StackFinder finder;
  llvm::EquivalenceClasses<unsigned> alike;
  Operation *terminator = step.getBody().front().getTerminator();
  SmallVector<int64_t> kept;
  for (BlockArgument argument : step.getArguments()) {
    kept.push_back(finder.getKept(argument));
    alike.insert(argument.getArgNumber());
  }
  for (auto [index, result] : llvm::enumerate(terminator->getOperands())) {
    // A master's new value makes that of its copy, which it does not read.
    std::optional<unsigned> first;
    if (auto updated =
            step.getResultAttrOfType<mlir::IntegerAttr>(index, kArgumentAttr))
      first = updated.getInt();
    for (Value source : getFlatSources(result)) {
      auto argument = dyn_cast<BlockArgument>(source);
      if (!argument || argument.getOwner() != &step.getBody().front() ||
          getTensorType(argument).getShape() !=
              getTensorType(result).getShape())
        continue;
      if (!first)
        first = argument.getArgNumber();
      alike.unionSets(*first, argument.getArgNumber());
    }
  }
  SmallVector<int64_t> most(kept.size(), 0);
  for (auto [argument, count] : llvm::enumerate(kept)) {
    int64_t &ofClass = most[alike.getLeaderValue(argument)];
    ofClass = std::max(ofClass, count);
  }
  for (auto [argument, count] : llvm::enumerate(kept))
    count = most[alike.getLeaderValue(argument)];
  return kept;
}
