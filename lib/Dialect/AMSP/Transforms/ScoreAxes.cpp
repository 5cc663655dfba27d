//===- ScoreAxes.cpp - What the dimensions of values are to scores --------===//

#include "ScoreAxes.h"
#include "amsp/Dialect/AMSP/Transforms/HloBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APSInt.h"
#include <cmath>

using namespace mlir;
using namespace amsp;

Axis ScoreAxes::create(int64_t size, bool isKnown) {
  if (size == 1)
    return kNoAxis;
  sizes.push_back(size);
  known.push_back(isKnown);
  parent.push_back(static_cast<Axis>(parent.size()));
  return parent.back();
}

Axis ScoreAxes::resolve(Axis axis) const {
  while (axis != kNoAxis && parent[axis] != axis)
    axis = parent[axis];
  return axis;
}

bool ScoreAxes::unify(Axis first, Axis second) {
  first = resolve(first);
  second = resolve(second);
  if (first == second)
    return true;
  if (first == kNoAxis || second == kNoAxis || sizes[first] != sizes[second] ||
      (known[first] && known[second]))
    return false;
  if (known[first])
    std::swap(first, second);
  parent[first] = second;
  return true;
}

bool ScoreAxes::unify(ArrayRef<Axis> first, ArrayRef<Axis> second) {
  return first.size() == second.size() &&
         llvm::all_of(llvm::zip_equal(first, second), [&](auto pair) {
           return unify(std::get<0>(pair), std::get<1>(pair));
         });
}

std::optional<SmallVector<Axis>>
ScoreAxes::resolveAll(ArrayRef<Axis> axes) const {
  SmallVector<Axis> resolved;
  for (Axis axis : axes) {
    if (axis != kNoAxis && !isKnown(axis))
      return std::nullopt;
    resolved.push_back(resolve(axis));
  }
  return resolved;
}

SmallVector<Axis> ScoreAxes::createAll(Value value) {
  return llvm::map_to_vector(
      getTensorType(value).getShape(),
      [&](int64_t size) { return create(size, /*isKnown=*/false); });
}

//===----------------------------------------------------------------------===//
// Ops that move elements
//===----------------------------------------------------------------------===//

/// Axes through a reshape that adds and drops dimensions of size 1.
static std::optional<SmallVector<Axis>>
reshapeAxes(RankedTensorType from, RankedTensorType to, ArrayRef<Axis> axes) {
  auto isLong = [](int64_t size) { return size != 1; };
  if (!llvm::equal(llvm::make_filter_range(from.getShape(), isLong),
                   llvm::make_filter_range(to.getShape(), isLong)))
    return std::nullopt;
  SmallVector<Axis> moved;
  const Axis *next = axes.begin();
  auto skipUnits = [&] {
    while (next != axes.end() && from.getDimSize(next - axes.begin()) == 1)
      ++next;
  };
  for (int64_t size : to.getShape()) {
    if (!isLong(size)) {
      moved.push_back(kNoAxis);
      continue;
    }
    skipUnits();
    moved.push_back(*next++);
  }
  return moved;
}

std::optional<SmallVector<Axis>> ScoreAxes::move(Operation *op,
                                                 ArrayRef<Axis> operand) {
  if (isa<stablehlo::ConvertOp>(op))
    return llvm::to_vector(operand);
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    return llvm::map_to_vector(transpose.getPermutation(),
                               [&](int64_t dim) { return operand[dim]; });
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
    return reshapeAxes(getTensorType(reshape.getOperand()),
                       getTensorType(reshape), operand);
  auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op);
  if (!broadcast)
    return std::nullopt;
  SmallVector<Axis> moved = createAll(broadcast);
  RankedTensorType from = getTensorType(broadcast.getOperand());
  for (auto [dim, target] : llvm::enumerate(broadcast.getBroadcastDimensions()))
    if (from.getDimSize(dim) != 1)
      moved[target] = operand[dim];
  return moved;
}

std::optional<SmallVector<Axis>> ScoreAxes::moveBack(Operation *op,
                                                     ArrayRef<Axis> result) {
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    SmallVector<Axis> moved(result.size());
    for (auto [dim, source] : llvm::enumerate(transpose.getPermutation()))
      moved[source] = result[dim];
    return moved;
  }
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
    return reshapeAxes(getTensorType(reshape),
                       getTensorType(reshape.getOperand()), result);
  auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op);
  if (!broadcast)
    return std::nullopt;
  RankedTensorType from = getTensorType(broadcast.getOperand());
  SmallVector<Axis> moved;
  for (auto [dim, target] : llvm::enumerate(broadcast.getBroadcastDimensions()))
    moved.push_back(from.getDimSize(dim) == 1 ? kNoAxis : result[target]);
  return moved;
}

PlacedValue ScoreAxes::peel(PlacedValue value) {
  while (Operation *op = value.value.getDefiningOp()) {
    std::optional<SmallVector<Axis>> axes = moveBack(op, value.axes);
    if (!axes)
      break;
    value = {op->getOperand(0), *axes};
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Constants and masks
//===----------------------------------------------------------------------===//

/// The number of another type that a convert makes of one; nothing for booleans
/// and for what does not fit an integer.
static TypedAttr convertNumber(TypedAttr number, Type to) {
  auto toInteger = dyn_cast<IntegerType>(to);
  auto fromInteger = dyn_cast<IntegerType>(number.getType());
  if ((toInteger && toInteger.getWidth() == 1) ||
      (fromInteger && fromInteger.getWidth() == 1))
    return {};
  constexpr auto kNearest = llvm::APFloat::rmNearestTiesToEven;
  bool isExact;
  if (auto from = dyn_cast<FloatAttr>(number)) {
    llvm::APFloat value = from.getValue();
    if (auto toFloat = dyn_cast<FloatType>(to)) {
      // The largest number of a wide type becomes infinity.
      value.convert(toFloat.getFloatSemantics(), kNearest, &isExact);
      return FloatAttr::get(to, value);
    }
    if (!toInteger)
      return {};
    llvm::APSInt integer(toInteger.getWidth(), toInteger.isUnsigned());
    if (value.convertToInteger(integer, llvm::APFloat::rmTowardZero,
                               &isExact) == llvm::APFloat::opInvalidOp)
      return {};
    return IntegerAttr::get(to, integer);
  }
  auto from = dyn_cast<IntegerAttr>(number);
  if (!from || !fromInteger)
    return {};
  llvm::APSInt integer(from.getValue(), fromInteger.isUnsigned());
  if (toInteger)
    return IntegerAttr::get(to, integer.extOrTrunc(toInteger.getWidth()));
  auto toFloat = dyn_cast<FloatType>(to);
  if (!toFloat)
    return {};
  llvm::APFloat value(toFloat.getFloatSemantics());
  value.convertFromAPInt(integer, integer.isSigned(), kNearest);
  return FloatAttr::get(to, value);
}

std::optional<double> amsp::getSplatNumber(Value value) {
  if (!isa<FloatType>(getTensorType(value).getElementType()))
    return std::nullopt;
  SmallVector<Type> converts;
  while (auto *op = value.getDefiningOp()) {
    if (isa<stablehlo::ConvertOp>(op))
      converts.push_back(getTensorType(value).getElementType());
    else if (!isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp,
                  stablehlo::TransposeOp>(op))
      break;
    value = op->getOperand(0);
  }
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)))
    return std::nullopt;
  auto number = dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>());
  for (Type type : llvm::reverse(converts))
    if (number)
      number = convertNumber(number, type);
  auto found = dyn_cast_if_present<FloatAttr>(number);
  return found ? std::optional(found.getValueAsDouble()) : std::nullopt;
}

namespace {
/// A value that is multiplied or divided by a number.
struct Scaled {
  Value value;
  double number;
  bool isDivided;
};
} // namespace

static std::optional<Scaled> getScaled(Operation *op) {
  bool isDivided = isa<stablehlo::DivOp>(op);
  if (!isDivided && !isa<stablehlo::MulOp>(op))
    return std::nullopt;
  if (std::optional<double> right = getSplatNumber(op->getOperand(1)))
    return Scaled{op->getOperand(0), *right, isDivided};
  std::optional<double> left = getSplatNumber(op->getOperand(0));
  if (left && !isDivided)
    return Scaled{op->getOperand(1), *left, isDivided};
  return std::nullopt;
}

static double roundTo(Type type, double number) {
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType)
    return number;
  llvm::APFloat rounded(number);
  bool isExact;
  rounded.convert(floatType.getFloatSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &isExact);
  return rounded.convertToDouble();
}

/// The number after ops, the last one first, each of which rounds to its type.
static double applyFactors(ArrayRef<std::pair<Type, Scaled>> factors,
                           double number) {
  for (const auto &[type, factor] : llvm::reverse(factors))
    number = roundTo(type, factor.isDivided ? number / factor.number
                                            : number * factor.number);
  return number;
}

std::optional<PredicateFactor> amsp::getPredicateFactor(ScoreAxes &axes,
                                                        PlacedValue value) {
  double number = 1;
  SmallVector<std::pair<Type, Scaled>> factors;
  while (true) {
    value = axes.peel(value);
    Type element = getTensorType(value.value).getElementType();
    if (element.isInteger(1)) {
      number = applyFactors(factors, number);
      // Elsewhere, zero times the number is zero.
      if (!std::isfinite(number))
        return std::nullopt;
      return PredicateFactor{value, number};
    }
    Operation *op = value.value.getDefiningOp();
    if (!op)
      return std::nullopt;
    auto select = dyn_cast<stablehlo::SelectOp>(op);
    if (select && getTensorType(select.getPred()).getRank() != 0) {
      std::optional<double> yes = getSplatNumber(select.getOnTrue());
      if (!yes || getSplatNumber(select.getOnFalse()) != 0.0)
        return std::nullopt;
      number = *yes;
      value.value = select.getPred();
    } else if (std::optional<Scaled> scaled = getScaled(op)) {
      factors.push_back({element, *scaled});
      value.value = scaled->value;
    } else if (isa<stablehlo::ConvertOp>(op) &&
               (isa<FloatType>(element) ||
                !isa<FloatType>(
                    getTensorType(op->getOperand(0)).getElementType()))) {
      factors.push_back({element, Scaled{Value(), 1, /*isDivided=*/false}});
      value.value = op->getOperand(0);
    } else {
      return std::nullopt;
    }
  }
}

static std::optional<APInt> getSplatInteger(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)) ||
      !splat.getElementType().isSignlessInteger())
    return std::nullopt;
  return splat.getSplatValue<APInt>();
}

namespace {
/// Indices along an axis, and what is added to them.
struct Positions {
  Axis axis;
  int64_t offset;
};
} // namespace

static std::optional<Positions> getPositions(ScoreAxes &axes,
                                             PlacedValue value) {
  int64_t offset = 0;
  while (true) {
    value = axes.peel(value);
    auto add = value.value.getDefiningOp<stablehlo::AddOp>();
    if (!add)
      break;
    PlacedValue constant = axes.peel({add.getRhs(), value.axes});
    std::optional<APInt> number = getSplatInteger(constant.value);
    if (!number || number->getBitWidth() > 64)
      return std::nullopt;
    offset += number->getSExtValue();
    value.value = add.getLhs();
  }
  auto iota = value.value.getDefiningOp<stablehlo::IotaOp>();
  if (!iota || !getTensorType(iota).getElementType().isSignlessInteger())
    return std::nullopt;
  return Positions{axes.resolve(value.axes[iota.getIotaDimension()]), offset};
}

/// A constant of the two axes, row by row.
static bool isConstantCausal(ScoreAxes &axes, const PlacedValue &mask,
                             Axis query, Axis key) {
  DenseIntElementsAttr elements;
  if (!matchPattern(mask.value, m_Constant(&elements)))
    return false;
  SmallVector<Axis> placed;
  for (Axis axis : mask.axes)
    if (axis != kNoAxis)
      placed.push_back(axes.resolve(axis));
  if (placed != SmallVector<Axis>{query, key})
    return false;
  int64_t keys = axes.getSize(key);
  return llvm::all_of(
      llvm::enumerate(elements.getValues<bool>()), [&](auto element) {
        int64_t index = element.index();
        return element.value() == (index % keys <= index / keys);
      });
}

bool amsp::isCausal(ScoreAxes &axes, const PlacedValue &mask, Axis query,
                    Axis key) {
  if (isConstantCausal(axes, mask, query, key))
    return true;
  auto compare = mask.value.getDefiningOp<stablehlo::CompareOp>();
  if (!compare)
    return false;
  auto lhs = getPositions(axes, {compare.getLhs(), mask.axes});
  auto rhs = getPositions(axes, {compare.getRhs(), mask.axes});
  if (!lhs || !rhs)
    return false;
  using stablehlo::ComparisonDirection;
  ComparisonDirection direction = compare.getComparisonDirection();
  if (lhs->axis == key) {
    std::swap(lhs, rhs);
    if (direction == ComparisonDirection::LE)
      direction = ComparisonDirection::GE;
    else if (direction == ComparisonDirection::LT)
      direction = ComparisonDirection::GT;
    else
      return false;
  }
  if (lhs->axis != query || rhs->axis != key)
    return false;
  // query + offset >= key, or > key.
  int64_t offset = lhs->offset - rhs->offset;
  return (direction == ComparisonDirection::GE && offset == 0) ||
         (direction == ComparisonDirection::GT && offset == 1);
}

SmallVector<PlacedValue> amsp::getConjuncts(ScoreAxes &axes,
                                            const PlacedValue &mask) {
  PlacedValue value = axes.peel(mask);
  SmallVector<Value, 2> operands;
  if (auto both = value.value.getDefiningOp<stablehlo::AndOp>())
    operands = {both.getLhs(), both.getRhs()};
  auto select = value.value.getDefiningOp<stablehlo::SelectOp>();
  if (select && getTensorType(select.getPred()).getRank() != 0) {
    PlacedValue otherwise = axes.peel({select.getOnFalse(), value.axes});
    std::optional<APInt> number = getSplatInteger(otherwise.value);
    if (number && number->isZero())
      operands = {select.getPred(), select.getOnTrue()};
  }
  if (operands.empty()) {
    std::optional<APInt> number = getSplatInteger(value.value);
    if (number && number->isOne())
      return {};
    return {value};
  }
  SmallVector<PlacedValue> conjuncts;
  for (Value operand : operands)
    llvm::append_range(conjuncts, getConjuncts(axes, {operand, value.axes}));
  return conjuncts;
}
