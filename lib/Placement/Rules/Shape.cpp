//===- Shape.cpp - Placement rules of ops that move elements --------------===//

#include "Rules.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/FlatFlow.h"

using namespace mlir;
using namespace amsp;
using namespace amsp::rules;

using MaybePlacements = std::optional<SmallVector<Placement>>;

/// A transfer of an op with one tensor operand, the first: `operand` to
/// `result`, all others replicated.
static Transfer firstOperandTransfer(Operation *op, const Placement &operand,
                                     const Placement &result) {
  Transfer transfer = getReplicatedTransfer(op);
  transfer.operands.front() = operand;
  transfer.results.front() = result;
  return transfer;
}

/// Ops that map the elements of one operand linearly keep partial values.
static bool isKeptPartial(const Placement &placement) {
  return placement.kind == Placement::Partial;
}

//===----------------------------------------------------------------------===//
// broadcast_in_dim, transpose, reshape
//===----------------------------------------------------------------------===//

namespace {
struct BroadcastModel
    : PlacementOpInterface::ExternalModel<BroadcastModel,
                                          stablehlo::BroadcastInDimOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto broadcast = cast<stablehlo::BroadcastInDimOp>(op);
    const Placement &operand = operands.front();
    if (operand.isSplit()) {
      int64_t dim = broadcast.getBroadcastDimensions()[operand.dim];
      if (sizesAgree(broadcast, operand.dim, dim))
        return firstOperandTransfer(op, operand, operand.withDim(dim));
    }
    if (isKeptPartial(operand))
      return firstOperandTransfer(op, operand, operand);
    if (operand.isInPieces() && keepsFlatOrder(op)) {
      int64_t keep =
          operand.keep == 0
              ? 0
              : broadcast.getBroadcastDimensions()[operand.keep - 1] + 1;
      return firstOperandTransfer(op, operand, operand.withKeep(keep));
    }
    return getReplicatedTransfer(op);
  }

  void localizeAttributes(Operation *op, Operation *local,
                          const Transfer &transfer) const {
    const Placement &operand = transfer.operands.front();
    bool isWhole = local->getOperandTypes() == op->getOperandTypes() &&
                   local->getResultTypes() == op->getResultTypes();
    if (!operand.isInPieces() || isWhole)
      return;
    auto broadcast = cast<stablehlo::BroadcastInDimOp>(local);
    SmallVector<int64_t> dims(
        broadcast.getBroadcastDimensions().take_front(operand.keep));
    dims.push_back(transfer.results.front().keep);
    broadcast.setBroadcastDimensions(dims);
  }

  MaybePlacements pullPlacement(Operation *op, const Placement &result,
                                const PlacementContext &) const {
    auto broadcast = cast<stablehlo::BroadcastInDimOp>(op);
    if (!result.isSplit()) {
      // Along whole rows, an element is the same in every piece.
      if (llvm::all_of(broadcast.getBroadcastDimensions(),
                       [&](int64_t dim) { return dim < result.keep; }))
        return SmallVector<Placement>{Placement::replicated()};
      return std::nullopt;
    }
    const int64_t *position =
        llvm::find(broadcast.getBroadcastDimensions(), result.dim);
    int64_t index = position - broadcast.getBroadcastDimensions().begin();
    if (position != broadcast.getBroadcastDimensions().end() &&
        sizesAgree(broadcast, index, result.dim))
      return SmallVector<Placement>{result.withDim(index)};
    return SmallVector<Placement>{Placement::replicated()};
  }

private:
  static bool sizesAgree(stablehlo::BroadcastInDimOp op, int64_t operandDim,
                         int64_t resultDim) {
    return getTensorType(op.getOperand()).getDimSize(operandDim) ==
           getTensorType(op.getResult()).getDimSize(resultDim);
  }
};

struct TransposeModel
    : PlacementOpInterface::ExternalModel<TransposeModel,
                                          stablehlo::TransposeOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    ArrayRef<int64_t> permutation =
        cast<stablehlo::TransposeOp>(op).getPermutation();
    const Placement &operand = operands.front();
    if (operand.isSplit()) {
      int64_t dim = llvm::find(permutation, operand.dim) - permutation.begin();
      return firstOperandTransfer(op, operand, operand.withDim(dim));
    }
    if (isKeptPartial(operand))
      return firstOperandTransfer(op, operand, operand);
    return getReplicatedTransfer(op);
  }

  MaybePlacements pullPlacement(Operation *op, const Placement &result,
                                const PlacementContext &) const {
    if (!result.isSplit())
      return std::nullopt;
    ArrayRef<int64_t> permutation =
        cast<stablehlo::TransposeOp>(op).getPermutation();
    return SmallVector<Placement>{result.withDim(permutation[result.dim])};
  }
};
} // namespace

/// The dimension of `to` that is cut as that of `from` is, a split one, when
/// the elements keep their row-major order: the two begin at the same stride,
/// and whole pieces remain, or whole rows of what has padding.
static std::optional<int64_t> mapReshapedDim(RankedTensorType from,
                                             RankedTensorType to,
                                             const Placement &split,
                                             const PlacementContext &context) {
  int64_t dim = split.dim;
  int64_t pieces = split.hasPaddedRows() ? split.rows : context.batchPieces;
  int64_t before = ShapedType::getNumElements(from.getShape().take_front(dim));
  int64_t prefix = 1;
  for (auto [index, size] : llvm::enumerate(to.getShape())) {
    // Dimensions of size 1 at the same place cannot be the cut one.
    if (prefix == before && (size != 1 || from.getDimSize(dim) == 1)) {
      // Only the leading part of merged dimensions is contiguous, and it is
      // the leading one if everything before it is equal.
      int64_t inner =
          ShapedType::getNumElements(from.getShape().drop_front(dim + 1));
      int64_t piece = from.getDimSize(dim) / pieces * inner;
      int64_t toInner =
          ShapedType::getNumElements(to.getShape().drop_front(index + 1));
      if (size % pieces == 0 && size / pieces * toInner == piece)
        return index;
      return std::nullopt;
    }
    prefix *= size;
  }
  return std::nullopt;
}

namespace {
struct ReshapeModel
    : PlacementOpInterface::ExternalModel<ReshapeModel, stablehlo::ReshapeOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &context) const {
    auto reshape = cast<stablehlo::ReshapeOp>(op);
    RankedTensorType from = getTensorType(reshape.getOperand());
    RankedTensorType to = getTensorType(reshape.getResult());
    const Placement &operand = operands.front();
    if (operand.isSplit()) {
      if (std::optional<int64_t> dim =
              mapReshapedDim(from, to, operand, context))
        return firstOperandTransfer(op, operand, operand.withDim(*dim));
      return getReplicatedTransfer(op);
    }
    if (isKeptPartial(operand))
      return firstOperandTransfer(op, operand, operand);
    // Row-major order is what a flat placement cuts, so it stays if whole rows
    // do; a scalar is never flat.
    if (operand.isInPieces() && to.getRank() > 0)
      if (std::optional<int64_t> keep = mapKeep(from, to, operand.keep))
        return firstOperandTransfer(op, operand, operand.withKeep(*keep));
    return getReplicatedTransfer(op);
  }

  MaybePlacements pullPlacement(Operation *op, const Placement &result,
                                const PlacementContext &context) const {
    auto reshape = cast<stablehlo::ReshapeOp>(op);
    RankedTensorType from = getTensorType(reshape.getOperand());
    if (!result.isSplit()) {
      std::optional<int64_t> keep =
          mapKeep(getTensorType(reshape.getResult()), from, result.keep);
      if (from.getRank() == 0 || !keep)
        return std::nullopt;
      return SmallVector<Placement>{result.withKeep(*keep)};
    }
    std::optional<int64_t> dim = mapReshapedDim(
        getTensorType(reshape.getResult()), from, result, context);
    if (!dim)
      return std::nullopt;
    return SmallVector<Placement>{result.withDim(*dim)};
  }
};

//===----------------------------------------------------------------------===//
// slice, pad, reverse, concatenate
//===----------------------------------------------------------------------===//

struct SliceModel
    : PlacementOpInterface::ExternalModel<SliceModel, stablehlo::SliceOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto slice = cast<stablehlo::SliceOp>(op);
    const Placement &operand = operands.front();
    if ((operand.isSplit() && isWhole(slice, operand.dim)) ||
        isKeptPartial(operand) || takesRows(slice, operand))
      return firstOperandTransfer(op, operand, operand);
    return getReplicatedTransfer(op);
  }

  MaybePlacements pullPlacement(Operation *op, const Placement &result,
                                const PlacementContext &) const {
    auto slice = cast<stablehlo::SliceOp>(op);
    if ((result.isSplit() && isWhole(slice, result.dim)) ||
        takesRows(slice, result))
      return SmallVector<Placement>{result};
    return std::nullopt;
  }

  void localizeAttributes(Operation *op, Operation *local,
                          const Transfer &transfer) const {
    if (transfer.results.front().isInPieces() &&
        local->getResult(0).getType() != op->getResult(0).getType())
      localizeRows(cast<stablehlo::SliceOp>(local),
                   transfer.results.front().keep);
    if (!transfer.results.front().isSplit())
      return;
    int64_t dim = transfer.results.front().dim;
    SmallVector<int64_t> limits(cast<stablehlo::SliceOp>(op).getLimitIndices());
    limits[dim] = getTensorType(local->getResult(0)).getDimSize(dim);
    cast<stablehlo::SliceOp>(local).setLimitIndices(limits);
  }

private:
  /// A piece has one dimension behind the kept ones, which is taken whole.
  static void localizeRows(stablehlo::SliceOp local, int64_t keep) {
    RankedTensorType type = getTensorType(local.getResult());
    SmallVector<int64_t> starts(local.getStartIndices().take_front(keep));
    SmallVector<int64_t> limits(local.getLimitIndices().take_front(keep));
    SmallVector<int64_t> strides(local.getStrides().take_front(keep));
    starts.push_back(0);
    limits.push_back(type.getShape().back());
    strides.push_back(1);
    local.setStartIndices(starts);
    local.setLimitIndices(limits);
    local.setStrides(strides);
  }

  /// True if what is in pieces is sliced along kept dimensions only.
  static bool takesRows(stablehlo::SliceOp slice, const Placement &placement) {
    RankedTensorType type = getTensorType(slice.getOperand());
    return placement.isInPieces() && placement.keep < type.getRank() &&
           llvm::all_of(
               llvm::seq(placement.keep, type.getRank()),
               [&](int64_t dim) { return isWhole(slice, dim); });
  }

  static bool isWhole(stablehlo::SliceOp slice, int64_t dim) {
    return getTensorType(slice.getOperand()).getDimSize(dim) ==
           getTensorType(slice.getResult()).getDimSize(dim);
  }
};

struct PadModel
    : PlacementOpInterface::ExternalModel<PadModel, stablehlo::PadOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto pad = cast<stablehlo::PadOp>(op);
    const Placement &operand = operands.front();
    bool keepsSplit = operand.isSplit() &&
                      pad.getEdgePaddingLow()[operand.dim] == 0 &&
                      pad.getEdgePaddingHigh()[operand.dim] == 0 &&
                      pad.getInteriorPadding()[operand.dim] == 0;
    bool keepsPartial = isKeptPartial(operand) && operand.isPartialSum() &&
                        isZero(pad.getPaddingValue());
    if (keepsSplit || keepsPartial)
      return firstOperandTransfer(op, operand, operand);
    return getReplicatedTransfer(op);
  }
};

struct ReverseModel
    : PlacementOpInterface::ExternalModel<ReverseModel, stablehlo::ReverseOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto reverse = cast<stablehlo::ReverseOp>(op);
    const Placement &operand = operands.front();
    if (isKeptPartial(operand) ||
        (operand.isSplit() &&
         !llvm::is_contained(reverse.getDimensions(), operand.dim)))
      return firstOperandTransfer(op, operand, operand);
    return getReplicatedTransfer(op);
  }
};

struct ConcatenateModel
    : PlacementOpInterface::ExternalModel<ConcatenateModel,
                                          stablehlo::ConcatenateOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    auto concatenate = cast<stablehlo::ConcatenateOp>(op);
    auto dimension = static_cast<int64_t>(concatenate.getDimension());
    std::optional<unsigned> split =
        findPlacement(operands, [](auto &p) { return p.isSplit(); });
    if (split && operands[*split].dim != dimension)
      return uniform(op, operands[*split]);
    if (std::optional<Placement> flat = joinRows(concatenate, operands))
      return uniform(op, *flat);
    std::optional<Placement> joined = joinPartialOperands(operands);
    if (joined && joined->kind == Placement::Partial)
      return uniform(op, *joined);
    return getReplicatedTransfer(op);
  }

  MaybePlacements pullPlacement(Operation *op, const Placement &result,
                                const PlacementContext &) const {
    auto concatenate = cast<stablehlo::ConcatenateOp>(op);
    if (result.isSplit() &&
        result.dim != static_cast<int64_t>(concatenate.getDimension()))
      return uniform(op, result).operands;
    return std::nullopt;
  }

private:
  /// The placement in which flat operands are stacked: all of them can keep the
  /// joined dimension, without being cut anew.
  static std::optional<Placement> joinRows(stablehlo::ConcatenateOp op,
                                           ArrayRef<Placement> operands) {
    std::optional<unsigned> flat =
        findPlacement(operands, [](auto &p) { return p.isFlat(); });
    int64_t keep = static_cast<int64_t>(op.getDimension()) + 1;
    if (!flat || keep == getTensorType(op.getResult()).getRank())
      return std::nullopt;
    for (auto [operand, placement] :
         llvm::zip_equal(op.getInputs(), operands)) {
      RankedTensorType type = getTensorType(operand);
      if (placement.isFlat() &&
          mapKeep(type, type, keep) != mapKeep(type, type, placement.keep))
        return std::nullopt;
    }
    return operands[*flat].withKeep(keep);
  }

  static Transfer uniform(Operation *op, const Placement &placement) {
    Transfer transfer = getReplicatedTransfer(op);
    llvm::fill(transfer.operands, placement);
    llvm::fill(transfer.results, placement);
    return transfer;
  }
};

/// Each operand keeps its placement.
struct BarrierModel
    : PlacementOpInterface::ExternalModel<BarrierModel,
                                          stablehlo::OptimizationBarrierOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &) const {
    return {SmallVector<Placement>(operands), SmallVector<Placement>(operands)};
  }
};
} // namespace

void rules::attachShape(MLIRContext &context) {
  using namespace stablehlo;
  BroadcastInDimOp::attachInterface<BroadcastModel>(context);
  TransposeOp::attachInterface<TransposeModel>(context);
  ReshapeOp::attachInterface<ReshapeModel>(context);
  SliceOp::attachInterface<SliceModel>(context);
  PadOp::attachInterface<PadModel>(context);
  ReverseOp::attachInterface<ReverseModel>(context);
  ConcatenateOp::attachInterface<ConcatenateModel>(context);
  OptimizationBarrierOp::attachInterface<BarrierModel>(context);
}
