//===- OwnPositions.cpp - Indices into a dimension that is cut ------------===//

#include "amsp/Placement/OwnPositions.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Support/TensorType.h"

using namespace mlir;
using namespace amsp;

/// The component of an index vector that is for the dimension.
static std::optional<int64_t> getComponent(ArrayRef<int64_t> map, int64_t dim) {
  const int64_t *it = llvm::find(map, dim);
  if (it == map.end())
    return std::nullopt;
  return it - map.begin();
}

bool amsp::picksPositions(stablehlo::GatherOp op, int64_t dim) {
  stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  return getComponent(numbers.getStartIndexMap(), dim) &&
         llvm::is_contained(numbers.getCollapsedSliceDims(), dim) &&
         !getTensorType(op.getResult()).getElementType().isInteger(1);
}

bool amsp::writesPositions(stablehlo::ScatterOp op, int64_t dim) {
  stablehlo::ScatterDimensionNumbersAttr numbers =
      op.getScatterDimensionNumbers();
  return op.getInputs().size() == 1 &&
         getComponent(numbers.getScatterDimsToOperandDims(), dim) &&
         llvm::is_contained(numbers.getInsertedWindowDims(), dim);
}

/// Indices of 64 unsigned bits that are beyond the signed ones, hence beyond
/// any dimension, are the largest of these.
static Value limitToSigned(OpBuilder &builder, Location loc, Value indices) {
  RankedTensorType type = getTensorType(indices);
  auto largest = SplatElementsAttr::get(
      type, builder.getIntegerAttr(type.getElementType(),
                                   APInt::getSignedMaxValue(64)));
  return stablehlo::MinOp::create(
      builder, loc, type, indices,
      stablehlo::ConstantOp::create(builder, loc, largest));
}

/// The indices in a signed type that holds `size`, which those of 8 and 16 bits
/// need not: what is taken from them and compared with them is in their type.
static Value widen(OpBuilder &builder, Location loc, Value indices,
                   int64_t size) {
  RankedTensorType type = getTensorType(indices);
  unsigned bits = type.getElementTypeBitWidth();
  bool isUnsigned = type.getElementType().isUnsignedInteger();
  if (!isUnsigned && llvm::isIntN(bits, size))
    return indices;
  if (isUnsigned && bits == 64)
    indices = limitToSigned(builder, loc, indices);
  bool isShort = llvm::isInt<32>(size) && (!isUnsigned || bits < 32);
  Type wide = isShort ? builder.getI32Type() : builder.getI64Type();
  return stablehlo::ConvertOp::create(builder, loc, type.clone(wide), indices);
}

namespace {
/// The indices of a gather or scatter, and one component of their vectors, for
/// a dimension of `size`.
class IndexComponent {
public:
  IndexComponent(OpBuilder &builder, Location loc, Value indices,
                 int64_t vectorDim, int64_t component, int64_t size)
      : builder(builder), loc(loc), indices(widen(builder, loc, indices, size)),
        vectorDim(vectorDim), component(component), size(size),
        positions(hasOthers() ? slice(component, component + 1)
                              : this->indices) {}

  /// Indices beyond the ends are those at the ends.
  void clamp() {
    positions = stablehlo::ClampOp::create(builder, loc, scalar(0), positions,
                                           scalar(size - 1));
  }
  /// Counts from this rank's first position, of `length`.
  void countFromOwn(ArrayRef<Digit> digits, int64_t length) {
    Value rank = GroupIndexOp::create(
        builder, loc, RankedTensorType::get({}, builder.getI32Type()),
        GroupAttr::get(builder.getContext(), digits));
    RankedTensorType type = getTensorType(positions);
    rank = builder.createOrFold<stablehlo::ConvertOp>(
        loc, RankedTensorType::get({}, type.getElementType()), rank);
    Value first = stablehlo::MulOp::create(builder, loc, rank, scalar(length));
    positions = stablehlo::SubtractOp::create(builder, loc, positions,
                                              broadcast(first));
  }
  /// Where the positions are at least 0 and less than `length`, without the
  /// dimension of index vectors.
  Value isWithin(int64_t length) const {
    using stablehlo::ComparisonDirection;
    auto compare = [&](ComparisonDirection direction, int64_t limit) -> Value {
      return stablehlo::CompareOp::create(
          builder, loc, getTensorType(positions).clone(builder.getI1Type()),
          positions, broadcast(scalar(limit)), direction,
          stablehlo::ComparisonTypeAttr());
    };
    Value within = stablehlo::AndOp::create(
        builder, loc, compare(ComparisonDirection::GE, 0),
        compare(ComparisonDirection::LT, length));
    SmallVector<int64_t> shape(getTensorType(within).getShape());
    if (isVector())
      shape.erase(shape.begin() + vectorDim);
    return builder.createOrFold<stablehlo::ReshapeOp>(
        loc, RankedTensorType::get(shape, builder.getI1Type()), within);
  }
  /// The indices with the component as it has become.
  Value join() const {
    if (!hasOthers())
      return positions;
    int64_t count = getTensorType(indices).getDimSize(vectorDim);
    SmallVector<Value> parts;
    if (component > 0)
      parts.push_back(slice(0, component));
    parts.push_back(positions);
    if (component + 1 < count)
      parts.push_back(slice(component + 1, count));
    return stablehlo::ConcatenateOp::create(builder, loc, parts, vectorDim);
  }

private:
  bool isVector() const { return vectorDim < getTensorType(indices).getRank(); }
  bool hasOthers() const {
    return isVector() && getTensorType(indices).getDimSize(vectorDim) > 1;
  }
  Value slice(int64_t begin, int64_t end) const {
    RankedTensorType type = getTensorType(indices);
    SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1);
    SmallVector<int64_t> limits(type.getShape());
    starts[vectorDim] = begin;
    limits[vectorDim] = end;
    return stablehlo::SliceOp::create(builder, loc, indices, starts, limits,
                                      strides);
  }
  Value scalar(int64_t value) const {
    Type element = getTensorType(indices).getElementType();
    return stablehlo::ConstantOp::create(
        builder, loc,
        SplatElementsAttr::get(RankedTensorType::get({}, element),
                               builder.getIntegerAttr(element, value)));
  }
  Value broadcast(Value value) const {
    return stablehlo::BroadcastInDimOp::create(
        builder, loc, positions.getType(), value, ArrayRef<int64_t>{});
  }

  OpBuilder &builder;
  Location loc;
  Value indices;
  int64_t vectorDim, component, size;
  Value positions;
};
} // namespace

Operation *amsp::pickOwnPositions(OpBuilder &builder, stablehlo::GatherOp op,
                                  stablehlo::GatherOp local, int64_t dim,
                                  ArrayRef<Digit> digits) {
  stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  Location loc = op.getLoc();
  int64_t length = getTensorType(local.getOperand()).getDimSize(dim);
  IndexComponent index(builder, loc, local.getStartIndices(),
                       numbers.getIndexVectorDim(),
                       *getComponent(numbers.getStartIndexMap(), dim),
                       getTensorType(op.getOperand()).getDimSize(dim));
  index.clamp();
  index.countFromOwn(digits, length);
  local->setOperand(1, index.join());
  builder.insert(local);
  RankedTensorType type = getTensorType(local.getResult());
  SmallVector<int64_t> batchDims;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(numbers.getOffsetDims(), i))
      batchDims.push_back(i);
  Value isOwn = stablehlo::BroadcastInDimOp::create(
      builder, loc, type.clone(builder.getI1Type()), index.isWithin(length),
      batchDims);
  Value zero = stablehlo::ConstantOp::create(
      builder, loc, cast<ElementsAttr>(builder.getZeroAttr(type)));
  return stablehlo::SelectOp::create(builder, loc, isOwn, local.getResult(),
                                     zero);
}

Operation *amsp::writeOwnPositions(OpBuilder &builder, stablehlo::ScatterOp op,
                                   stablehlo::ScatterOp local, int64_t dim,
                                   ArrayRef<Digit> digits) {
  stablehlo::ScatterDimensionNumbersAttr numbers =
      local.getScatterDimensionNumbers();
  int64_t length = getTensorType(local.getInputs().front()).getDimSize(dim);
  IndexComponent index(
      builder, local.getLoc(), local.getScatterIndices(),
      numbers.getIndexVectorDim(),
      *getComponent(numbers.getScatterDimsToOperandDims(), dim),
      getTensorType(op.getInputs().front()).getDimSize(dim));
  index.countFromOwn(digits, length);
  local.getScatterIndicesMutable().assign(index.join());
  builder.insert(local);
  return local;
}
