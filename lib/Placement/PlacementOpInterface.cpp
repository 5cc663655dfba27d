//===- PlacementOpInterface.cpp - How ops carry placements ----------------===//

#include "amsp/Placement/PlacementOpInterface.h"
#include "Rules/Rules.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/StableHLO/IR/CHLOOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace amsp;

#include "amsp/Placement/PlacementOpInterface.cpp.inc"

Transfer amsp::getReplicatedTransfer(Operation *op) {
  Transfer transfer;
  transfer.operands.resize(op->getNumOperands());
  transfer.results.resize(op->getNumResults());
  return transfer;
}

bool amsp::isZero(Value value) {
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    return isZero(broadcast.getOperand());
  if (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>())
    return isZero(reshape.getOperand());
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)))
    return false;
  Attribute element = splat.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValue().isZero();
  if (auto number = dyn_cast<IntegerAttr>(element))
    return number.getValue().isZero();
  return false;
}

/// The partial sum in which two different ones meet, each with no more than a
/// local op.
static std::optional<Placement> joinPartialSums(const Placement &first,
                                                const Placement &second) {
  auto isPieces = [](const Placement &placement) {
    return placement.kind == Placement::PartialFlat;
  };
  Placement batch = Placement::partial(Reduction::Sum, PartialOver::Batch);
  if (!isPieces(first) && !isPieces(second))
    return batch;
  // A microbatch's sum joins the accumulated pieces.
  if (first == batch)
    return second;
  if (second == batch)
    return first;
  return std::nullopt;
}

std::optional<Placement>
rules::joinPartialOperands(ArrayRef<Placement> operands) {
  std::optional<Placement> joined;
  for (const Placement &placement : operands) {
    if (!placement.isPartial()) {
      if (!placement.isReplicated())
        return std::nullopt;
      continue;
    }
    if (placement.reduction != Reduction::Sum)
      return std::nullopt;
    if (!joined || *joined == placement) {
      joined = placement;
      continue;
    }
    joined = joinPartialSums(*joined, placement);
    if (!joined)
      return std::nullopt;
  }
  return joined;
}

void amsp::registerPlacementExternalModels(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, stablehlo::StableHLODialect *) {
        rules::attachElementwise(*context);
        rules::attachShape(*context);
        rules::attachContraction(*context);
        rules::attachIndexing(*context);
        rules::attachWindow(*context);
      });
  registry.addExtension(+[](MLIRContext *context, AMSPDialect *) {
    rules::attachAttention(*context);
  });
  registry.addExtension(+[](MLIRContext *context, chlo::CHLODialect *) {
    rules::attachCHLO(*context);
  });
}

Transfer rules::transferBilinear(Operation *op, ArrayRef<Placement> operands) {
  Transfer transfer = getReplicatedTransfer(op);
  for (unsigned side : {0, 1}) {
    const Placement &sum = operands[side];
    if (sum.kind != Placement::Partial || !sum.isPartialSum() ||
        !operands[1 - side].isReplicated())
      continue;
    transfer.operands[side] = sum;
    transfer.results.front() = sum;
    break;
  }
  return transfer;
}

bool rules::isSum(Region &region) {
  Block &block = region.front();
  Operation *yielded = block.getTerminator()->getOperand(0).getDefiningOp();
  return block.getNumArguments() == 2 &&
         isa_and_nonnull<stablehlo::AddOp>(yielded) &&
         llvm::equal(yielded->getOperands(), block.getArguments()) &&
         !getTensorType(yielded->getResult(0)).getElementType().isInteger(1);
}
