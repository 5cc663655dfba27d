//===- PullUp.cpp - Parts of replicated values ----------------------------===//
//
// A split or flat use of a replicated value is computed from the parts of what
// the value is computed from, so that nothing is computed whole and then cut.
//
//===----------------------------------------------------------------------===//

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/Partitioner.h"
#include "amsp/Support/TensorType.h"

using namespace mlir;
using namespace amsp;

/// Computes a replicated value's local part from the parts of what it is
/// computed from; null if its op cannot.
Value Partitioner::pullUp(Value value, const Placement &placement) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1)
    return {};
  if (isa<stablehlo::ConstantOp>(op))
    return pullConstant(op, placement);
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op))
    return pullIota(iota, placement);
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    if (getTensorType(broadcast.getOperand()).getNumElements() == 1)
      return pullElement(broadcast, placement);
  auto rules = dyn_cast<PlacementOpInterface>(op);
  if (!rules)
    return {};
  std::optional<SmallVector<Placement>> asked =
      rules.pullPlacement(placement, analysis.getContext());
  if (!asked)
    return {};
  SmallVector<Value> operands;
  for (auto [operand, operandPlacement] :
       llvm::zip_equal(op->getOperands(), *asked))
    operands.push_back(get(operand, operandPlacement));
  return emitLocal(op, {*asked, {placement}}, operands)->getResult(0);
}

Value Partitioner::pullConstant(Operation *op, const Placement &placement) {
  auto constant = cast<stablehlo::ConstantOp>(op);
  auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
  if (!splat)
    return {};
  RankedTensorType type =
      getLocalType(getTensorType(constant), placement, grids);
  return stablehlo::ConstantOp::create(builder, op->getLoc(),
                                       splat.resizeSplat(type));
}

/// One element is the same in every piece.
Value Partitioner::pullElement(stablehlo::BroadcastInDimOp broadcast,
                               const Placement &placement) {
  Location loc = broadcast.getLoc();
  RankedTensorType type =
      getLocalType(getTensorType(broadcast), placement, grids);
  Value element = get(broadcast.getOperand(), Placement::replicated());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  element = builder.createOrFold<stablehlo::ReshapeOp>(loc, scalar, element);
  return stablehlo::BroadcastInDimOp::create(builder, loc, type, element,
                                             ArrayRef<int64_t>{});
}

/// Of rows of the batch that are repeated along another dimension, and wanted
/// whole or cut along that: the placement in which the rows themselves are
/// taken to be repeated anew, which moves fewer bytes. Nothing of any other
/// value.
std::optional<Placement>
Partitioner::pullBroadcast(Value value, const Placement &placement) const {
  Placement natural = analysis.getPlacement(value);
  auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast || !natural.isSplit() || natural == placement ||
      getTensorType(broadcast.getOperand()).getNumElements() >=
          getTensorType(value).getNumElements())
    return std::nullopt;
  if (placement.isReplicated())
    return placement;
  if (!placement.isSplit())
    return std::nullopt;
  return cast<PlacementOpInterface>(*broadcast)
      .pullPlacement(placement, analysis.getContext())
      ->front();
}

namespace {
/// Integer arithmetic on tensors of one type.
struct IndexBuilder {
  OpBuilder &builder;
  Location loc;
  RankedTensorType type;

  Value count(int64_t dim) const {
    return stablehlo::IotaOp::create(builder, loc, type,
                                     builder.getI64IntegerAttr(dim));
  }
  Value constant(int64_t value) const {
    Attribute number = builder.getIntegerAttr(type.getElementType(), value);
    return stablehlo::ConstantOp::create(builder, loc,
                                         SplatElementsAttr::get(type, number));
  }
  /// This rank's number in the group times `length`, plus `value`.
  Value moveOn(Value value, ArrayRef<Digit> digits, int64_t length) const {
    Value rank = GroupIndexOp::create(
        builder, loc, RankedTensorType::get({}, builder.getI32Type()),
        GroupAttr::get(builder.getContext(), digits));
    rank =
        stablehlo::ConvertOp::create(builder, loc, rank, type.getElementType());
    rank = stablehlo::BroadcastInDimOp::create(builder, loc, type, rank,
                                               ArrayRef<int64_t>{});
    if (length != 1)
      rank = stablehlo::MulOp::create(builder, loc, rank, constant(length));
    return stablehlo::AddOp::create(builder, loc, value, rank);
  }
  /// A position along a dimension with so many rows of `inner` elements: in
  /// the last one, where it is behind it.
  Value repeatLastRow(Value value, int64_t rows, int64_t inner) const {
    Value row = stablehlo::MinOp::create(builder, loc, divide(value, inner),
                                         constant(rows - 1));
    if (inner == 1)
      return row;
    Value first = stablehlo::MulOp::create(builder, loc, row, constant(inner));
    return stablehlo::AddOp::create(builder, loc, first,
                                    remainder(value, inner));
  }
  /// As `moveOn`, where the rank has every n-th row of n ranks and `inner`
  /// elements of each.
  Value interleave(Value value, ArrayRef<Digit> digits, int64_t inner) const {
    Value rows =
        stablehlo::MulOp::create(builder, loc, divide(value, inner),
                                 constant(getGroupSize(digits) * inner));
    Value first = moveOn(rows, digits, inner);
    if (inner == 1)
      return first;
    return stablehlo::AddOp::create(builder, loc, first,
                                    remainder(value, inner));
  }
  Value divide(Value value, int64_t by) const {
    if (by == 1)
      return value;
    return stablehlo::DivOp::create(builder, loc, value, constant(by));
  }
  Value remainder(Value value, int64_t by) const {
    return stablehlo::RemOp::create(builder, loc, value, constant(by));
  }
};
} // namespace

Value Partitioner::pullIota(stablehlo::IotaOp iota,
                            const Placement &placement) {
  RankedTensorType global = getTensorType(iota);
  RankedTensorType type = getLocalType(global, placement, grids);
  auto dim = static_cast<int64_t>(iota.getIotaDimension());
  // The dimension that is cut, of the local value.
  int64_t cut = placement.isSplit() ? placement.dim : placement.keep;
  bool isElsewhere = placement.isSplit() ? dim != cut : dim < cut;
  if (isElsewhere || type == global)
    return stablehlo::IotaOp::create(builder, iota.getLoc(), type,
                                     iota.getIotaDimensionAttr());
  // Positions in all pieces, padding included, have to be numbers.
  SmallVector<Digit> digits =
      placement.isSplit()
          ? grids.front().getWorldDigits()
          : grids[placement.strategy].getDigits(placement.state);
  int64_t length = type.getDimSize(cut);
  bool isLong = length * getGroupSize(digits) > INT32_MAX;
  Type integer = isLong ? builder.getI64Type() : builder.getI32Type();
  IndexBuilder index = {builder, iota.getLoc(), type.clone(integer)};
  int64_t inner = 0;
  if (placement.isSplit() && interleavedRows)
    inner = global.getDimSize(cut) / interleavedRows;
  Value position = inner > 0 ? index.interleave(index.count(cut), digits, inner)
                             : index.moveOn(index.count(cut), digits, length);
  if (placement.hasPaddedRows())
    position = index.repeatLastRow(position, placement.rows,
                                   global.getDimSize(cut) / placement.rows);
  if (placement.isFlat()) {
    ArrayRef<int64_t> inner = global.getShape().drop_front(dim + 1);
    position = index.divide(position, ShapedType::getNumElements(inner));
    // Of the outermost dimension of a row nothing is left to divide by, but
    // padding would count on.
    if (dim > placement.keep)
      position = index.remainder(position, global.getDimSize(dim));
  }
  return stablehlo::ConvertOp::create(builder, iota.getLoc(), position,
                                      type.getElementType());
}
