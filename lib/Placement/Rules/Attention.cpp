//===- Attention.cpp - Placement rules of attention -----------------------===//

#include "Rules.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"

using namespace mlir;
using namespace amsp;
using namespace amsp::rules;

/// The dimension of queries, L x heads x queries x elements, along which an
/// operand's split cuts attention into independent parts; nothing if it does
/// not.
template <typename AttentionOp>
static std::optional<int64_t> getQueryDim(AttentionOp op, unsigned operand,
                                          int64_t dim,
                                          const PlacementContext &context) {
  int64_t rank = getTensorType(op.getQ()).getRank();
  int64_t heads = rank - 3, queries = rank - 2;
  if (dim < heads)
    return dim;
  if (dim == heads) {
    // The heads that share keys stay together.
    int64_t count = getTensorType(op.getK()).getDimSize(heads);
    bool isWhole = count % context.batchPieces == 0;
    return isWhole ? std::optional(dim) : std::nullopt;
  }
  bool isKeys = operand == 1 || operand == 2;
  if (dim != queries || isKeys)
    return std::nullopt;
  // A rank's rows would not know their place.
  return op.getCausal() ? std::nullopt : std::optional(dim);
}

/// The placements of the operands that both ops have, with queries split along
/// `dim`.
template <typename AttentionOp>
static Transfer placeOperands(AttentionOp op, int64_t dim) {
  Transfer transfer = getReplicatedTransfer(op);
  int64_t queries = getTensorType(op.getQ()).getRank() - 2;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isKeys =
        &operand == &op.getKMutable() || &operand == &op.getVMutable();
    bool isRepeated = getTensorType(operand.get()).getDimSize(dim) == 1 &&
                      getTensorType(op.getQ()).getDimSize(dim) != 1;
    if ((isKeys && dim == queries) || isRepeated)
      continue;
    transfer.operands[operand.getOperandNumber()] = Placement::split(dim);
  }
  return transfer;
}

template <typename AttentionOp>
static std::optional<int64_t> getQueryDim(AttentionOp op,
                                          ArrayRef<Placement> operands,
                                          const PlacementContext &context) {
  for (auto [index, placement] : llvm::enumerate(operands))
    if (placement.isSplit())
      if (auto dim = getQueryDim(op, index, placement.dim, context))
        return dim;
  return std::nullopt;
}

namespace {
struct AttentionModel
    : PlacementOpInterface::ExternalModel<AttentionModel, AttentionOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &context) const {
    auto attention = cast<AttentionOp>(op);
    std::optional<int64_t> dim = getQueryDim(attention, operands, context);
    if (!dim)
      return getReplicatedTransfer(op);
    Transfer transfer = placeOperands(attention, *dim);
    llvm::fill(transfer.results, Placement::split(*dim));
    return transfer;
  }
};

/// Of split queries, each rank's add to the gradients of keys and values.
struct AttentionBackwardModel
    : PlacementOpInterface::ExternalModel<AttentionBackwardModel,
                                          AttentionBackwardOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &context) const {
    auto attention = cast<AttentionBackwardOp>(op);
    std::optional<int64_t> dim = getQueryDim(attention, operands, context);
    if (!dim)
      return getReplicatedTransfer(op);
    Transfer transfer = placeOperands(attention, *dim);
    bool isSum = *dim == getTensorType(attention.getQ()).getRank() - 2;
    Placement split = Placement::split(*dim);
    Placement ofKeys =
        isSum ? Placement::partial(Reduction::Sum, PartialOver::Batch) : split;
    transfer.results = {split, ofKeys, ofKeys};
    return transfer;
  }
};
} // namespace

void rules::attachAttention(MLIRContext &context) {
  AttentionOp::attachInterface<AttentionModel>(context);
  AttentionBackwardOp::attachInterface<AttentionBackwardModel>(context);
}
