//===- Attention.cpp - Placement rules of attention -----------------------===//

#include "Rules.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"

using namespace mlir;
using namespace amsp;
using namespace amsp::rules;

/// The split of queries, L x heads x queries x elements, with which an
/// operand's split cuts attention into independent parts; nothing if it does
/// not.
template <typename AttentionOp>
static std::optional<Placement> getQuerySplit(AttentionOp op, unsigned operand,
                                              const Placement &split,
                                              const PlacementContext &context) {
  int64_t dim = split.dim;
  int64_t rank = getTensorType(op.getQ()).getRank();
  int64_t heads = rank - 3, queries = rank - 2;
  if (dim < heads)
    return split;
  if (dim == heads) {
    // The heads that share keys stay together.
    int64_t count = getTensorType(op.getK()).getDimSize(heads);
    int64_t pieces = split.hasPaddedRows() ? split.rows : context.batchPieces;
    return count % pieces == 0 ? std::optional(split) : std::nullopt;
  }
  bool isKeys = operand == 1 || operand == 2;
  if (dim != queries || isKeys)
    return std::nullopt;
  // A rank's rows would not know their place.
  return op.getCausal() ? std::nullopt : std::optional(split);
}

/// The placements of the operands that both ops have, with queries split.
template <typename AttentionOp>
static Transfer placeOperands(AttentionOp op, const Placement &split) {
  int64_t dim = split.dim;
  Transfer transfer = getReplicatedTransfer(op);
  int64_t queries = getTensorType(op.getQ()).getRank() - 2;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isKeys =
        &operand == &op.getKMutable() || &operand == &op.getVMutable();
    bool isRepeated = getTensorType(operand.get()).getDimSize(dim) == 1 &&
                      getTensorType(op.getQ()).getDimSize(dim) != 1;
    if ((isKeys && dim == queries) || isRepeated)
      continue;
    transfer.operands[operand.getOperandNumber()] = split;
  }
  return transfer;
}

template <typename AttentionOp>
static std::optional<Placement> getQuerySplit(AttentionOp op,
                                              ArrayRef<Placement> operands,
                                              const PlacementContext &context) {
  for (auto [index, placement] : llvm::enumerate(operands))
    if (placement.isSplit())
      if (auto split = getQuerySplit(op, index, placement, context))
        return split;
  return std::nullopt;
}

/// Of split queries, each rank's add to the gradients of keys and values, and
/// to that of a bias that all queries share; so with the bias of all rows.
static Placement placeResult(AttentionBackwardOp op, Value result,
                             const Placement &split) {
  int64_t dim = split.dim;
  RankedTensorType queries = getTensorType(op.getQ());
  bool isOfKeys = result == op.getDk() || result == op.getDv();
  bool isSum = isOfKeys ? dim == queries.getRank() - 2
                        : getTensorType(result).getDimSize(dim) == 1 &&
                              queries.getDimSize(dim) != 1;
  return isSum ? Placement::partial(Reduction::Sum, PartialOver::Batch) : split;
}

static Placement placeResult(AttentionOp, Value, const Placement &split) {
  return split;
}

namespace {
template <typename AttentionOp>
struct AttentionModel
    : PlacementOpInterface::ExternalModel<AttentionModel<AttentionOp>,
                                          AttentionOp> {
  Transfer transferPlacements(Operation *op, ArrayRef<Placement> operands,
                              const PlacementContext &context) const {
    auto attention = cast<AttentionOp>(op);
    std::optional<Placement> split =
        getQuerySplit(attention, operands, context);
    if (!split)
      return getReplicatedTransfer(op);
    Transfer transfer = placeOperands(attention, *split);
    for (auto [result, placement] :
         llvm::zip_equal(op->getResults(), transfer.results))
      placement = placeResult(attention, result, *split);
    return transfer;
  }
};
} // namespace

void rules::attachAttention(MLIRContext &context) {
  AttentionOp::attachInterface<AttentionModel<AttentionOp>>(context);
  AttentionBackwardOp::attachInterface<AttentionModel<AttentionBackwardOp>>(
      context);
}
