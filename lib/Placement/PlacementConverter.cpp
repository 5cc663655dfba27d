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

  Step with(Value value) const { return {builder, loc, value, global, tag}; }

  /// The flattened part of a collective, or its part cut along `dim`.
  ArrayAttr getParts(std::optional<int64_t> dim = std::nullopt) const {
    StringAttr unit =
        tag.unit.empty() ? StringAttr() : builder.getStringAttr(tag.unit);
    Attribute part = PartAttr::get(builder.getContext(), dim, /*keep=*/0,
                                   tag.parameter, unit);
    return builder.getArrayAttr(part);
  }
  GroupAttr getGroup(ArrayRef<Digit> digits) const {
    return GroupAttr::get(builder.getContext(), digits);
  }
  IntegerAttr getDim(std::optional<int64_t> dim) const {
    return dim ? builder.getI64IntegerAttr(*dim) : IntegerAttr();
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
               getGroup(digits), getParts())
        .getResult(0);
  }
  Value localSlice(ArrayRef<Digit> digits, RankedTensorType type,
                   std::optional<int64_t> dim = std::nullopt) const {
    if (isSame(digits, type))
      return local;
    return LocalSliceOp::create(builder, loc, type, local, getGroup(digits),
                                getDim(dim), builder.getI64IntegerAttr(0));
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
  return getGrid(placement).getPaddedElements(global.getNumElements()) !=
         global.getNumElements();
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
  Step step = {builder, loc, local, global, tag};
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
  Value reduced = fromPartial({builder, loc, wide, wideGlobal, tag}, from, to);
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

Value PlacementConverter::fromReplicated(const Step &step,
                                         const Placement &to) const {
  RankedTensorType type = getLocalType(step.global, to, grids);
  switch (to.kind) {
  case Placement::Replicated:
    return step.local;
  case Placement::Split:
    return step.localSlice(getWorldDigits(), type, to.dim);
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
  Value whole = step.allGather(getWorldDigits(), step.global, from.dim);
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
    Placement pieces = Placement::flat(ModelState::OS, from.strategy);
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
      return step.reduceScatter(grid.getWorldDigits(), type, from.reduction,
                                to.dim);
  }
  Value whole = step.allReduce(getPartialDigits(from), from.reduction);
  return fromReplicated(step.with(whole), to);
}
