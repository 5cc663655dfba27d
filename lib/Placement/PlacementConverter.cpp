//===- PlacementConverter.cpp - Collectives between placements ------------===//

#include "amsp/Placement/PlacementConverter.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace amsp;

/// A conversion under way: where to build, and what of.
struct PlacementConverter::Step {
  OpBuilder &builder;
  Location loc;
  Value local;
  RankedTensorType global;
  const CollectiveTag &tag;
  /// Of the flat side.
  int64_t keep;

  Step with(Value value) const {
    return {builder, loc, value, global, tag, keep};
  }

  ArrayAttr getParts(std::optional<int64_t> dim, int64_t kept) const {
    StringAttr unit =
        tag.unit.empty() ? StringAttr() : builder.getStringAttr(tag.unit);
    Attribute part =
        PartAttr::get(builder.getContext(), dim, kept, tag.parameter, unit);
    return builder.getArrayAttr(part);
  }
  /// The flattened part of a collective, or its part cut along `dim`.
  ArrayAttr getParts(std::optional<int64_t> dim) const {
    return getParts(dim, dim ? 0 : keep);
  }
  GroupAttr getGroup(ArrayRef<Digit> digits) const {
    return GroupAttr::get(builder.getContext(), digits);
  }
  IntegerAttr getDim(std::optional<int64_t> dim) const {
    return dim ? builder.getI64IntegerAttr(*dim) : IntegerAttr();
  }

  IntegerAttr getKeep(std::optional<int64_t> dim) const {
    return builder.getI64IntegerAttr(dim ? 0 : keep);
  }

  /// A piece may have the type of the whole: of one element on two ranks, each
  /// has one, and one of them is padding.
  bool isSame(ArrayRef<Digit> digits, RankedTensorType type) const {
    return getGroupSize(digits) == 1 && local.getType() == type;
  }

  // Over a group of one rank these change no more than the shape, which
  // amsp-lower-local-ops writes as a reshape.

  Value allGather(ArrayRef<Digit> digits, RankedTensorType type,
                  std::optional<int64_t> dim = std::nullopt) const {
    if (isSame(digits, type))
      return local;
    IntegerAttr window =
        tag.window ? builder.getI64IntegerAttr(*tag.window) : IntegerAttr();
    return AllGatherOp::create(builder, loc, TypeRange(type), local,
                               getGroup(digits), getParts(dim), window)
        .getResult(0);
  }
  Value reduceScatter(ArrayRef<Digit> digits, RankedTensorType type,
                      Reduction reduction,
                      std::optional<int64_t> dim = std::nullopt) const {
    if (getGroupSize(digits) == 1)
      return localSlice(digits, type, dim);
    return ReduceScatterOp::create(
               builder, loc, TypeRange(type), local,
               ReductionAttr::get(builder.getContext(), reduction),
               getGroup(digits), getParts(dim))
        .getResult(0);
  }
  Value allReduce(ArrayRef<Digit> digits, Reduction reduction) const {
    if (getGroupSize(digits) == 1)
      return local;
    return AllReduceOp::create(
               builder, loc, TypeRange(local.getType()), local,
               ReductionAttr::get(builder.getContext(), reduction),
               getGroup(digits), getParts(/*dim=*/std::nullopt, /*kept=*/0))
        .getResult(0);
  }
  Value localSlice(ArrayRef<Digit> digits, RankedTensorType type,
                   std::optional<int64_t> dim = std::nullopt) const {
    if (isSame(digits, type))
      return local;
    return LocalSliceOp::create(builder, loc, type, local, getGroup(digits),
                                getDim(dim), getKeep(dim));
  }

  /// Of the whole value: with so many elements along the dimension, the last
  /// of the rows being repeated.
  Value repeatLastRow(const Placement &split, int64_t size) const {
    RankedTensorType type = cast<RankedTensorType>(local.getType());
    int64_t dim = split.dim, length = type.getDimSize(dim);
    if (size == length)
      return local;
    int64_t row = length / split.rows;
    SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1);
    starts[dim] = length - row;
    Value last = stablehlo::SliceOp::create(builder, loc, local, starts,
                                            type.getShape(), strides);
    // As a dimension of its own that the row is repeated along.
    SmallVector<int64_t> shape(type.getShape()), dims;
    shape[dim] = row;
    shape.insert(shape.begin() + dim, (size - length) / row);
    for (int64_t i = 0; i < type.getRank(); ++i)
      dims.push_back(i < dim ? i : i + 1);
    Value repeated = stablehlo::BroadcastInDimOp::create(
        builder, loc, type.clone(shape), last, dims);
    shape.erase(shape.begin() + dim);
    shape[dim] = size - length;
    repeated = builder.createOrFold<stablehlo::ReshapeOp>(
        loc, type.clone(shape), repeated);
    return stablehlo::ConcatenateOp::create(builder, loc,
                                            ValueRange{local, repeated}, dim);
  }
  /// Of a value with padded rows: without them.
  Value dropPadding() const {
    if (local.getType() == global)
      return local;
    SmallVector<int64_t> starts(global.getRank(), 0),
        strides(global.getRank(), 1);
    return stablehlo::SliceOp::create(builder, loc, local, starts,
                                      global.getShape(), strides);
  }

  Value keepOnFirst(ArrayRef<Digit> digits) const {
    if (getGroupSize(digits) == 1)
      return local;
    return KeepOnFirstOp::create(builder, loc, local.getType(), local,
                                 getGroup(digits));
  }
};

SmallVector<Digit>
PlacementConverter::getPartialDigits(const Placement &placement) const {
  const Grid &grid = getGrid(placement);
  if (placement.kind == Placement::PartialFlat)
    return grid.getReplicaDigits(ModelState::G);
  return placement.over == PartialOver::Batch ? grid.getWorldDigits()
                                              : grid.getDigits(ModelState::OS);
}

bool PlacementConverter::hasPadding(RankedTensorType global,
                                    const Placement &placement) const {
  int64_t elements = getRowElements(global, placement);
  return getGrid(placement).getPaddedElements(elements) != elements;
}

Value PlacementConverter::convert(OpBuilder &builder, Location loc, Value local,
                                  RankedTensorType global,
                                  const Placement &from, const Placement &to,
                                  const CollectiveTag &tag) const {
  if (from == to)
    return local;
  // Of nothing, there is nothing to move.
  if (global.getNumElements() == 0)
    return builder.createOrFold<stablehlo::ReshapeOp>(
        loc, getLocalType(global, to, grids), local);
  if (from.isInPieces() && to.isInPieces() && from.keep != to.keep) {
    std::optional<int64_t> same = mapKeep(global, global, from.keep);
    bool isSameRows = same == mapKeep(global, global, to.keep);
    Placement meeting =
        isSameRows ? from.withKeep(to.keep) : Placement::replicated();
    Value met = isSameRows
                    ? builder.createOrFold<stablehlo::ReshapeOp>(
                          loc, getLocalType(global, meeting, grids), local)
                    : convert(builder, loc, local, global, from, meeting, tag);
    return convert(builder, loc, met, global, meeting, to, tag);
  }
  Step step = {builder, loc, local,
               global,  tag, to.isInPieces() ? to.keep : from.keep};
  switch (from.kind) {
  case Placement::Replicated:
    return fromReplicated(step, to);
  case Placement::Split:
    return fromSplit(step, from, to);
  case Placement::Flat:
    return fromFlat(step, from, to);
  case Placement::Partial:
  case Placement::PartialFlat:
    break;
  }
  // No more than a choice of the ranks that contribute.
  if (to.kind == Placement::Partial)
    return widenPartial(step, from, to);
  // In the type that reductions have on the wire, and back.
  Type element = global.getElementType();
  Type wire = getReduceType(element, from, tag);
  if (wire == element)
    return fromPartial(step, from, to);
  Value wide = stablehlo::ConvertOp::create(builder, loc, local, wire);
  RankedTensorType wideGlobal = global.clone(wire);
  Value reduced =
      fromPartial({builder, loc, wide, wideGlobal, tag, step.keep}, from, to);
  return stablehlo::ConvertOp::create(builder, loc, reduced, element);
}

std::optional<ReduceType> amsp::parseReduceType(StringRef text) {
  return llvm::StringSwitch<std::optional<ReduceType>>(text)
      .Case("f32", ReduceType::F32)
      .Case("bf16", ReduceType::BF16)
      .Case("graph", ReduceType::Graph)
      .Default(std::nullopt);
}

Type PlacementConverter::getReduceType(Type element, const Placement &from,
                                       const CollectiveTag &tag) const {
  auto number = dyn_cast<FloatType>(element);
  // A largest value is one of the ranks' own: no type loses it.
  if (!number || !from.isPartialSum())
    return element;
  switch (reduceType) {
  case ReduceType::F32:
    return number.getWidth() < 32 ? Float32Type::get(element.getContext())
                                  : element;
  case ReduceType::BF16:
    return number.isF32() && tag.parameter
               ? BFloat16Type::get(element.getContext())
               : element;
  case ReduceType::Graph:
    return element;
  }
  llvm_unreachable("unknown reduction type");
}

Value PlacementConverter::repeatLastRow(const Step &step,
                                        const Placement &split) const {
  return step.repeatLastRow(
      split, getPaddedSize(step.global, split, grids.front().getWorldSize()));
}

Value PlacementConverter::fromReplicated(const Step &step,
                                         const Placement &to) const {
  RankedTensorType type = getLocalType(step.global, to, grids);
  switch (to.kind) {
  case Placement::Replicated:
    return step.local;
  case Placement::Split:
    return step.with(repeatLastRow(step, to))
        .localSlice(getWorldDigits(), type, to.dim);
  case Placement::Flat:
    return step.localSlice(getGrid(to).getDigits(to.state), type);
  case Placement::Partial:
    // Any number of equal maxima is that maximum.
    if (to.reduction != Reduction::Sum)
      return step.local;
    return step.keepOnFirst(getPartialDigits(to));
  case Placement::PartialFlat: {
    Value piece = step.localSlice(getGrid(to).getDigits(to.state), type);
    return step.with(piece).keepOnFirst(getPartialDigits(to));
  }
  }
  llvm_unreachable("unknown placement");
}

Value PlacementConverter::fromSplit(const Step &step, const Placement &from,
                                    const Placement &to) const {
  SmallVector<int64_t> shape(step.global.getShape());
  shape[from.dim] =
      getPaddedSize(step.global, from, grids.front().getWorldSize());
  Value padded =
      step.allGather(getWorldDigits(), step.global.clone(shape), from.dim);
  Value whole = step.with(padded).dropPadding();
  return fromReplicated(step.with(whole), to);
}

Value PlacementConverter::fromFlat(const Step &step, const Placement &from,
                                   const Placement &to) const {
  const Grid &grid = getGrid(from);
  SmallVector<Digit> digits = grid.getDigits(from.state);
  if (to.isFlat() && to.strategy == from.strategy) {
    RankedTensorType type = getLocalType(step.global, to, grids);
    return to.state < from.state
               ? step.allGather(grid.getDigitsBetween(to.state, from.state),
                                type)
               : step.localSlice(grid.getDigitsBetween(from.state, to.state),
                                 type);
  }
  if (to.isFlat() && getGrid(to).getDigits(to.state) == digits &&
      getLocalType(step.global, to, grids) == step.local.getType())
    return step.local;
  Value whole = step.allGather(digits, step.global);
  return fromReplicated(step.with(whole), to);
}

/// From a partial sum over some digits to one over all ranks.
Value PlacementConverter::widenPartial(const Step &step, const Placement &from,
                                       const Placement &to) const {
  assert(from.kind == Placement::Partial && from.reduction == to.reduction &&
         to.over == PartialOver::Batch && "partial over fewer digits");
  // Any number of equal maxima is that maximum.
  if (to.reduction != Reduction::Sum)
    return step.local;
  return step.keepOnFirst(getGrid(from).getReplicaDigits(ModelState::OS));
}

Value PlacementConverter::fromPartial(const Step &step, const Placement &from,
                                      const Placement &to) const {
  RankedTensorType type = getLocalType(step.global, to, grids);
  if (from.kind == Placement::PartialFlat) {
    const Grid &grid = getGrid(from);
    // On to the pieces of OS, then over its replicas.
    Placement pieces =
        Placement::flat(ModelState::OS, from.keep, from.strategy);
    Value scattered = step.reduceScatter(
        grid.getDigitsBetween(ModelState::G, ModelState::OS),
        getLocalType(step.global, pieces, grids), Reduction::Sum);
    Value sum = step.with(scattered).allReduce(
        grid.getReplicaDigits(ModelState::OS), Reduction::Sum);
    return to == pieces ? sum : fromFlat(step.with(sum), pieces, to);
  }
  if (from.over == PartialOver::Batch) {
    const Grid &grid = getGrid(to);
    if (to.kind == Placement::PartialFlat)
      return step.reduceScatter(grid.getDigits(ModelState::G), type,
                                from.reduction);
    if (to.isFlat()) {
      Value piece =
          step.reduceScatter(grid.getDigits(to.state), type, from.reduction);
      return step.with(piece).allReduce(grid.getReplicaDigits(to.state),
                                        from.reduction);
    }
    if (to.isSplit())
      return step.with(repeatLastRow(step, to))
          .reduceScatter(grid.getWorldDigits(), type, from.reduction, to.dim);
  }
  Value whole = step.allReduce(getPartialDigits(from), from.reduction);
  return fromReplicated(step.with(whole), to);
}
