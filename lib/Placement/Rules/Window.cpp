//===- Window.cpp - Placement rules of windows, convolutions, sorting -----===//

#include "Rules.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace amsp;
using namespace amsp::rules;
using stablehlo::WindowDimension;

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

namespace {
struct ConvolutionModel
    : PlacementOpInterface::ExternalModel<ConvolutionModel,
                                          stablehlo::ConvolutionOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto convolution = cast<stablehlo::ConvolutionOp>(op);
    if (operands[0].isSplit() || operands[1].isSplit())
      return transferSplit(convolution, operands);
    return transferBilinear(op, operands);
  }

private:
  /// Where the batch is a dimension that groups cut, ranks and groups would
  /// have to agree: the operands are gathered.
  static Transfer transferSplit(stablehlo::ConvolutionOp op,
                                ArrayRef<Placement> operands) {
    stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
    Transfer transfer = getReplicatedTransfer(op);
    auto isSplitAlong = [&](unsigned side, int64_t dim) {
      return operands[side].isSplit() && operands[side].dim == dim;
    };
    if (op.getFeatureGroupCount() == 1 &&
        (isSplitAlong(0, numbers.getInputFeatureDimension()) ||
         isSplitAlong(1, numbers.getKernelInputFeatureDimension()))) {
      // Summed over: the gradient of a kernel.
      const Placement &split = operands[operands[0].isSplit() ? 0 : 1];
      transfer.operands = {
          split.withDim(numbers.getInputFeatureDimension()),
          split.withDim(numbers.getKernelInputFeatureDimension())};
      transfer.results.front() =
          Placement::partial(Reduction::Sum, PartialOver::Batch);
    } else if (op.getBatchGroupCount() == 1 &&
               isSplitAlong(0, numbers.getInputBatchDimension())) {
      transfer.operands.front() = operands.front();
      transfer.results.front() =
          operands.front().withDim(numbers.getOutputBatchDimension());
    } else if (op.getBatchGroupCount() == 1 && op.getFeatureGroupCount() == 1 &&
               isSplitAlong(1, numbers.getKernelOutputFeatureDimension())) {
      transfer.operands.back() = operands.back();
      transfer.results.front() =
          operands.back().withDim(numbers.getOutputFeatureDimension());
    }
    return transfer;
  }
};

//===----------------------------------------------------------------------===//
// reduce_window, select_and_scatter
//===----------------------------------------------------------------------===//

} // namespace

/// Whether windows leave the elements along the placement's dimension apart.
static bool keepsSplit(const Placement &placement,
                       ArrayRef<WindowDimension> window) {
  return placement.isSplit() && window[placement.dim].isTrivial();
}

namespace {
struct ReduceWindowModel
    : PlacementOpInterface::ExternalModel<ReduceWindowModel,
                                          stablehlo::ReduceWindowOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto reduce = cast<stablehlo::ReduceWindowOp>(op);
    ArrayRef<Placement> inputs = operands.take_front(reduce.getInputs().size());
    std::optional<unsigned> split =
        findPlacement(inputs, [](auto &p) { return p.isSplit(); });
    if (split && keepsSplit(inputs[*split], reduce.getWindow()))
      return inputTransfer(op, inputs.size(), inputs[*split]);
    // Padding adds nothing to a sum.
    if (!split && inputs.size() == 1 &&
        inputs.front().kind == Placement::Partial &&
        inputs.front().isPartialSum() && isSum(reduce.getBody()) &&
        isZero(reduce.getInitValues().front()))
      return inputTransfer(op, 1, inputs.front());
    return getReplicatedTransfer(op);
  }

private:
  static Transfer inputTransfer(Operation *op, size_t inputs,
                                const Placement &placement) {
    Transfer transfer = getReplicatedTransfer(op);
    for (size_t i = 0; i < inputs; ++i)
      transfer.operands[i] = placement;
    llvm::fill(transfer.results, placement);
    return transfer;
  }
};

struct SelectAndScatterModel
    : PlacementOpInterface::ExternalModel<SelectAndScatterModel,
                                          stablehlo::SelectAndScatterOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto scatter = cast<stablehlo::SelectAndScatterOp>(op);
    Transfer transfer = getReplicatedTransfer(op);
    std::optional<unsigned> split = findPlacement(
        operands.take_front(2), [](auto &p) { return p.isSplit(); });
    if (split && keepsSplit(operands[*split], scatter.getWindow())) {
      transfer.operands[0] = transfer.operands[1] = operands[*split];
      transfer.results[0] = operands[*split];
      return transfer;
    }
    // Linear in what is scattered.
    const Placement &source = operands[1];
    if (!split && source.kind == Placement::Partial && source.isPartialSum() &&
        operands[0].isReplicated() && isSum(scatter.getScatter()) &&
        isZero(scatter.getInitValue())) {
      transfer.operands[1] = source;
      transfer.results[0] = source;
    }
    return transfer;
  }
};

//===----------------------------------------------------------------------===//
// sort
//===----------------------------------------------------------------------===//

struct SortModel
    : PlacementOpInterface::ExternalModel<SortModel, stablehlo::SortOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto sort = cast<stablehlo::SortOp>(op);
    auto dimension = static_cast<int64_t>(sort.getDimension());
    if (dimension < 0)
      dimension += getTensorType(sort.getInputs().front()).getRank();
    Transfer transfer = getReplicatedTransfer(op);
    std::optional<unsigned> split =
        findPlacement(operands, [](auto &p) { return p.isSplit(); });
    if (!split || operands[*split].dim == dimension)
      return transfer;
    llvm::fill(transfer.operands, operands[*split]);
    llvm::fill(transfer.results, operands[*split]);
    return transfer;
  }
};
} // namespace

void rules::attachWindow(MLIRContext &context) {
  using namespace stablehlo;
  ConvolutionOp::attachInterface<ConvolutionModel>(context);
  ReduceWindowOp::attachInterface<ReduceWindowModel>(context);
  SelectAndScatterOp::attachInterface<SelectAndScatterModel>(context);
  SortOp::attachInterface<SortModel>(context);
}
