//===- Indexing.cpp - Placement rules of gathers, scatters, dynamic slices ===//

#include "Rules.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/OwnPositions.h"

using namespace mlir;
using namespace amsp;
using namespace amsp::rules;

/// Position of a value in a list of dimensions.
static std::optional<int64_t> findDim(ArrayRef<int64_t> dims, int64_t dim) {
  const int64_t *it = llvm::find(dims, dim);
  if (it == dims.end())
    return std::nullopt;
  return it - dims.begin();
}

/// The dimensions below `rank` that are in none of the lists.
static SmallVector<int64_t>
getOtherDims(int64_t rank, std::initializer_list<ArrayRef<int64_t>> lists) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (llvm::none_of(lists, [&](ArrayRef<int64_t> list) {
          return llvm::is_contained(list, dim);
        }))
      dims.push_back(dim);
  return dims;
}

/// Number of a dimension of an index tensor among those that are not the index
/// vector's.
static int64_t getIndexBatch(int64_t dim, int64_t indexVectorDim) {
  return dim > indexVectorDim ? dim - 1 : dim;
}
/// The reverse.
static int64_t getIndexDim(int64_t batch, int64_t indexVectorDim) {
  return batch >= indexVectorDim ? batch + 1 : batch;
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

namespace {
struct GatherModel
    : PlacementOpInterface::ExternalModel<GatherModel, stablehlo::GatherOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto gather = cast<stablehlo::GatherOp>(op);
    stablehlo::GatherDimensionNumbersAttr numbers =
        gather.getDimensionNumbers();
    const Placement &operand = operands[0], &indices = operands[1];
    SmallVector<int64_t> batchDims = getOtherDims(
        getTensorType(gather.getResult()).getRank(), {numbers.getOffsetDims()});
    Transfer transfer = getReplicatedTransfer(op);

    // Rows along an offset dimension that every slice takes whole.
    if (operand.isSplit() && !indices.isSplit()) {
      SmallVector<int64_t> offsets = getOtherDims(
          getTensorType(gather.getOperand()).getRank(),
          {numbers.getCollapsedSliceDims(), numbers.getOperandBatchingDims()});
      std::optional<int64_t> offset = findDim(offsets, operand.dim);
      if (offset &&
          gather.getSliceSizes()[operand.dim] ==
              getTensorType(gather.getOperand()).getDimSize(operand.dim)) {
        transfer.operands[0] = operand;
        transfer.results[0] = operand.withDim(numbers.getOffsetDims()[*offset]);
        return transfer;
      }
    }

    // Rows along a batching dimension of both, or of the indices alone.
    std::optional<int64_t> indexDim;
    if (indices.isSplit()) {
      indexDim = indices.dim;
    } else if (operand.isSplit()) {
      if (std::optional<int64_t> batching =
              findDim(numbers.getOperandBatchingDims(), operand.dim))
        indexDim = numbers.getStartIndicesBatchingDims()[*batching];
    }
    if (indexDim && *indexDim != numbers.getIndexVectorDim()) {
      const Placement &split = indices.isSplit() ? indices : operand;
      transfer.operands[1] = split.withDim(*indexDim);
      if (std::optional<int64_t> batching =
              findDim(numbers.getStartIndicesBatchingDims(), *indexDim))
        transfer.operands[0] =
            split.withDim(numbers.getOperandBatchingDims()[*batching]);
      transfer.results[0] = split.withDim(
          batchDims[getIndexBatch(*indexDim, numbers.getIndexVectorDim())]);
      return transfer;
    }
    // Each rank picks what it has.
    if (operand.isSplit() && picksPositions(gather, operand.dim)) {
      transfer.operands[0] = operand;
      transfer.results[0] =
          Placement::partial(Reduction::Sum, PartialOver::Batch);
      return transfer;
    }
    // Reading is linear in what is read.
    if (operand.kind == Placement::Partial && indices.isReplicated()) {
      transfer.operands[0] = operand;
      transfer.results[0] = operand;
    }
    return transfer;
  }

  void localizeAttributes(Operation *op, Operation *local,
                          const Transfer &transfer) const {
    const Placement &operand = transfer.operands.front();
    if (!operand.isSplit())
      return;
    auto gather = cast<stablehlo::GatherOp>(op);
    SmallVector<int64_t> sizes(gather.getSliceSizes());
    // A batching dimension has slices of size 1, which stay.
    sizes[operand.dim] =
        std::min(sizes[operand.dim],
                 getTensorType(local->getOperand(0)).getDimSize(operand.dim));
    cast<stablehlo::GatherOp>(local).setSliceSizes(sizes);
  }
};

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

struct ScatterModel
    : PlacementOpInterface::ExternalModel<ScatterModel, stablehlo::ScatterOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto scatter = cast<stablehlo::ScatterOp>(op);
    if (scatter.getInputs().size() != 1)
      return getReplicatedTransfer(op);
    const Placement &input = operands[0], &indices = operands[1],
                    &updates = operands[2];
    if (updates.isSplit())
      return transferFromUpdates(scatter, updates);
    if (indices.isSplit())
      if (std::optional<int64_t> dim = getUpdateDim(scatter, indices.dim))
        return transferFromUpdates(scatter, indices.withDim(*dim));
    if (input.isSplit())
      if (std::optional<int64_t> dim = findUpdateDim(scatter, input.dim))
        return transferFromUpdates(scatter, input.withDim(*dim));
    // Each rank takes what goes into its piece.
    if (input.isSplit() && writesPositions(scatter, input.dim)) {
      Transfer transfer = getReplicatedTransfer(op);
      transfer.operands[0] = transfer.results[0] = input;
      return transfer;
    }
    // A sum of sums.
    std::optional<Placement> joined = joinPartialOperands({input, updates});
    Transfer transfer = getReplicatedTransfer(op);
    if (joined && joined->kind == Placement::Partial &&
        indices.isReplicated() && isSum(scatter.getUpdateComputation())) {
      transfer.operands[0] = transfer.operands[2] = *joined;
      transfer.results[0] = *joined;
    }
    return transfer;
  }

  std::optional<SmallVector<Placement>>
  pullPlacement(Operation *op, const Placement &result,
                const PlacementContext &) const {
    auto scatter = cast<stablehlo::ScatterOp>(op);
    if (!result.isSplit() || scatter.getInputs().size() != 1)
      return std::nullopt;
    if (std::optional<int64_t> dim = findUpdateDim(scatter, result.dim)) {
      Transfer transfer = transferFromUpdates(scatter, result.withDim(*dim));
      if (transfer.results.front() == result)
        return transfer.operands;
    }
    if (!writesPositions(scatter, result.dim))
      return std::nullopt;
    return SmallVector<Placement>{result, Placement::replicated(),
                                  Placement::replicated()};
  }

private:
  /// Operand dimensions that updates address by a window, in window order.
  static SmallVector<int64_t> getWindowDims(stablehlo::ScatterOp scatter) {
    stablehlo::ScatterDimensionNumbersAttr numbers =
        scatter.getScatterDimensionNumbers();
    return getOtherDims(
        getTensorType(scatter.getInputs().front()).getRank(),
        {numbers.getInsertedWindowDims(), numbers.getInputBatchingDims()});
  }

  static SmallVector<int64_t> getScatterDims(stablehlo::ScatterOp scatter) {
    return getOtherDims(
        getTensorType(scatter.getUpdates().front()).getRank(),
        {scatter.getScatterDimensionNumbers().getUpdateWindowDims()});
  }

  /// The updates' dimension that a dimension of the indices becomes.
  static std::optional<int64_t> getUpdateDim(stablehlo::ScatterOp scatter,
                                             int64_t indexDim) {
    int64_t vectorDim =
        scatter.getScatterDimensionNumbers().getIndexVectorDim();
    if (indexDim == vectorDim)
      return std::nullopt;
    return getScatterDims(scatter)[getIndexBatch(indexDim, vectorDim)];
  }

  /// The updates' dimension, of a window or batching, that an input's dimension
  /// is.
  static std::optional<int64_t> findUpdateDim(stablehlo::ScatterOp scatter,
                                              int64_t inputDim) {
    stablehlo::ScatterDimensionNumbersAttr numbers =
        scatter.getScatterDimensionNumbers();
    if (std::optional<int64_t> window =
            findDim(getWindowDims(scatter), inputDim))
      return numbers.getUpdateWindowDims()[*window];
    if (std::optional<int64_t> batching =
            findDim(numbers.getInputBatchingDims(), inputDim))
      return getUpdateDim(scatter,
                          numbers.getScatterIndicesBatchingDims()[*batching]);
    return std::nullopt;
  }

  /// `split`: that of the updates.
  static Transfer transferFromUpdates(stablehlo::ScatterOp scatter,
                                      const Placement &split) {
    int64_t dim = split.dim;
    stablehlo::ScatterDimensionNumbersAttr numbers =
        scatter.getScatterDimensionNumbers();
    Transfer transfer = getReplicatedTransfer(scatter);
    auto input = getTensorType(scatter.getInputs().front());
    auto updates = getTensorType(scatter.getUpdates().front());
    // Along a window dimension that every update covers whole.
    if (std::optional<int64_t> window =
            findDim(numbers.getUpdateWindowDims(), dim)) {
      int64_t inputDim = getWindowDims(scatter)[*window];
      if (input.getDimSize(inputDim) != updates.getDimSize(dim))
        return transfer;
      transfer.operands[2] = split;
      transfer.operands[0] = transfer.results[0] = split.withDim(inputDim);
      return transfer;
    }
    int64_t batch = *findDim(getScatterDims(scatter), dim);
    int64_t indexDim = getIndexDim(batch, numbers.getIndexVectorDim());
    if (std::optional<int64_t> batching =
            findDim(numbers.getScatterIndicesBatchingDims(), indexDim)) {
      int64_t inputDim = numbers.getInputBatchingDims()[*batching];
      transfer.operands = {split.withDim(inputDim), split.withDim(indexDim),
                           split};
      transfer.results[0] = split.withDim(inputDim);
      return transfer;
    }
    // Each rank adds its own rows' updates.
    if (isSum(scatter.getUpdateComputation())) {
      Placement sum = Placement::partial(Reduction::Sum, PartialOver::Batch);
      transfer.operands = {sum, split.withDim(indexDim), split};
      transfer.results[0] = sum;
    }
    return transfer;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// dynamic_slice, dynamic_update_slice
//===----------------------------------------------------------------------===//

/// True if a value in pieces, and a slice of it, differ along kept dimensions
/// only.
static bool isAlongKept(ArrayRef<int64_t> whole, ArrayRef<int64_t> slice,
                        const Placement &placement) {
  return placement.isInPieces() &&
         placement.keep < static_cast<int64_t>(whole.size()) &&
         whole.drop_front(placement.keep) == slice.drop_front(placement.keep);
}

/// Leaves a start index for each kept dimension and one for the pieces, which
/// are taken whole; the indices begin at operand `first`.
static void truncateIndices(Operation *local, unsigned first, int64_t keep) {
  unsigned count = first + keep + 1;
  local->eraseOperands(count, local->getNumOperands() - count);
}

namespace {
struct DynamicSliceModel
    : PlacementOpInterface::ExternalModel<DynamicSliceModel,
                                          stablehlo::DynamicSliceOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto slice = cast<stablehlo::DynamicSliceOp>(op);
    const Placement &operand = operands.front();
    Transfer transfer = getReplicatedTransfer(op);
    bool isWhole =
        operand.isSplit() &&
        slice.getSliceSizes()[operand.dim] ==
            getTensorType(slice.getOperand()).getDimSize(operand.dim);
    if (isWhole || operand.kind == Placement::Partial ||
        isAlongKept(getTensorType(slice.getOperand()).getShape(),
                    slice.getSliceSizes(), operand)) {
      transfer.operands[0] = operand;
      transfer.results[0] = operand;
    }
    return transfer;
  }

  void localizeAttributes(Operation *op, Operation *local,
                          const Transfer &transfer) const {
    const Placement &operand = transfer.operands.front();
    SmallVector<int64_t> sizes(
        cast<stablehlo::DynamicSliceOp>(op).getSliceSizes());
    RankedTensorType result = getTensorType(local->getResult(0));
    if (operand.isInPieces() && result != op->getResult(0).getType()) {
      truncateIndices(local, 1, operand.keep);
      sizes.truncate(operand.keep);
      sizes.push_back(result.getShape().back());
      cast<stablehlo::DynamicSliceOp>(local).setSliceSizes(sizes);
    }
    if (!operand.isSplit())
      return;
    sizes[operand.dim] =
        getTensorType(local->getResult(0)).getDimSize(operand.dim);
    cast<stablehlo::DynamicSliceOp>(local).setSliceSizes(sizes);
  }
};

struct DynamicUpdateSliceModel
    : PlacementOpInterface::ExternalModel<DynamicUpdateSliceModel,
                                          stablehlo::DynamicUpdateSliceOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto update = cast<stablehlo::DynamicUpdateSliceOp>(op);
    Transfer transfer = getReplicatedTransfer(op);
    ArrayRef<Placement> tensors = operands.take_front(2);
    std::optional<unsigned> split =
        findPlacement(tensors, [](auto &p) { return p.isSplit(); });
    if (split && coversWhole(update, tensors[*split].dim))
      return assign(transfer, tensors[*split]);
    if (std::optional<Placement> flat = getFlat(update, tensors))
      return assign(transfer, *flat);
    std::optional<Placement> joined = joinPartialOperands(tensors);
    if (joined &&
        (joined->kind == Placement::Partial ||
         isAlongKept(getTensorType(update.getOperand()).getShape(),
                     getTensorType(update.getUpdate()).getShape(), *joined)))
      return assign(transfer, *joined);
    return transfer;
  }

  void localizeAttributes(Operation *op, Operation *local,
                          const Transfer &transfer) const {
    const Placement &result = transfer.results.front();
    if (result.isInPieces() &&
        local->getResult(0).getType() != op->getResult(0).getType())
      truncateIndices(local, 2, result.keep);
  }

private:
  /// The flat placement in which slices are written into a stack: that of the
  /// stack, else the one in which the update's rows are the stack's.
  static std::optional<Placement> getFlat(stablehlo::DynamicUpdateSliceOp op,
                                          ArrayRef<Placement> tensors) {
    std::optional<unsigned> flat =
        findPlacement(tensors, [](auto &p) { return p.isFlat(); });
    if (!flat)
      return std::nullopt;
    RankedTensorType stack = getTensorType(op.getOperand());
    RankedTensorType update = getTensorType(op.getUpdate());
    Placement placement = tensors[*flat];
    if (*flat == 1) {
      int64_t keep = placement.keep;
      for (int64_t dim = keep; dim < stack.getRank(); ++dim)
        if (stack.getDimSize(dim) != update.getDimSize(dim))
          keep = dim + 1;
      if (mapKeep(update, update, keep) !=
          mapKeep(update, update, placement.keep))
        return std::nullopt;
      placement.keep = keep;
    }
    if (!isAlongKept(stack.getShape(), update.getShape(), placement))
      return std::nullopt;
    return placement;
  }

  static bool coversWhole(stablehlo::DynamicUpdateSliceOp op, int64_t dim) {
    return getTensorType(op.getOperand()).getDimSize(dim) ==
           getTensorType(op.getUpdate()).getDimSize(dim);
  }
  static Transfer assign(Transfer transfer, const Placement &placement) {
    transfer.operands[0] = transfer.operands[1] = placement;
    transfer.results[0] = placement;
    return transfer;
  }
};
} // namespace

void rules::attachIndexing(MLIRContext &context) {
  using namespace stablehlo;
  GatherOp::attachInterface<GatherModel>(context);
  ScatterOp::attachInterface<ScatterModel>(context);
  DynamicSliceOp::attachInterface<DynamicSliceModel>(context);
  DynamicUpdateSliceOp::attachInterface<DynamicUpdateSliceModel>(context);
}
