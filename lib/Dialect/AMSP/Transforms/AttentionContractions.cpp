//===- AttentionContractions.cpp - Contractions around an attention -------===//

#include "AttentionMatcher.h"
#include "amsp/Dialect/AMSP/Transforms/HloBuilder.h"

using namespace mlir;
using namespace amsp;

//===----------------------------------------------------------------------===//
// Dimensions of contractions
//===----------------------------------------------------------------------===//

DotDims::DotDims(stablehlo::DotGeneralOp op) : op(op) {
  stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  batching[0] = numbers.getLhsBatchingDimensions();
  batching[1] = numbers.getRhsBatchingDimensions();
  contracting[0] = numbers.getLhsContractingDimensions();
  contracting[1] = numbers.getRhsContractingDimensions();
}

int64_t DotDims::getRank(unsigned side) {
  return getTensorType(op->getOperand(side)).getRank();
}

SmallVector<int64_t> DotDims::getFree(unsigned side) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < getRank(side); ++dim)
    if (!llvm::is_contained(batching[side], dim) &&
        !llvm::is_contained(contracting[side], dim))
      dims.push_back(dim);
  return dims;
}

std::optional<PlacedValue> DotDims::getResult(ScoreAxes &axes,
                                              const PlacedValue &lhs,
                                              const PlacedValue &rhs) {
  PlacedValue result = {op.getResult(), {}};
  for (auto [left, right] : llvm::zip_equal(batching[0], batching[1])) {
    if (!axes.unify(lhs.axes[left], rhs.axes[right]))
      return std::nullopt;
    result.axes.push_back(lhs.axes[left]);
  }
  for (auto [left, right] : llvm::zip_equal(contracting[0], contracting[1]))
    if (!axes.unify(lhs.axes[left], rhs.axes[right]))
      return std::nullopt;
  for (int64_t dim : getFree(0))
    result.axes.push_back(lhs.axes[dim]);
  for (int64_t dim : getFree(1))
    result.axes.push_back(rhs.axes[dim]);
  return result;
}

//===----------------------------------------------------------------------===//
// Contractions of what is followed
//===----------------------------------------------------------------------===//

/// The axes, without those of size 1, along which a side is contracted.
static SmallVector<Axis> getContracted(DotDims &dims, unsigned side,
                                       ArrayRef<Axis> placed,
                                       const ScoreAxes &axes) {
  SmallVector<Axis> contracted;
  for (int64_t dim : dims.contracting[side])
    if (placed[dim] != kNoAxis)
      contracted.push_back(axes.resolve(placed[dim]));
  llvm::sort(contracted);
  return contracted;
}

/// The axes of the other operand as far as a followed one gives them.
static PlacedValue createOther(stablehlo::DotGeneralOp op, unsigned side,
                               ScoreAxes &axes) {
  Value other = op->getOperand(1 - side);
  return {other, axes.createAll(other)};
}

static std::optional<PlacedValue> getResult(DotDims &dims, ScoreAxes &axes,
                                            unsigned side,
                                            const PlacedValue &own,
                                            const PlacedValue &other) {
  return side == 0 ? dims.getResult(axes, own, other)
                   : dims.getResult(axes, other, own);
}

bool AttentionMatcher::visitDot(stablehlo::DotGeneralOp op) {
  bool isFollowed[] = {values.contains(op.getLhs()),
                       values.contains(op.getRhs())};
  if (isFollowed[0] == isFollowed[1] || !finalForm)
    return false;
  unsigned side = isFollowed[0] ? 0 : 1;
  Followed followed = values.at(op->getOperand(side));
  if (followed.kind != Followed::Softmax)
    return false;
  const SoftmaxExpression &expression = followed.expression;
  unsigned predicates = expression.getKept();
  if (auto number =
          expression.getMultiple(SoftmaxExpression::weight(predicates)))
    return setWeights(predicates, *number) &&
           matchContraction(op, side, followed, true);
  auto number = expression.getMultiple(
      SoftmaxExpression::scoreGradient(getMask(), predicates));
  return number && setWeights(predicates, *number / forms[*finalForm].scale) &&
         matchContraction(op, side, followed, false);
}

bool AttentionMatcher::matchContraction(stablehlo::DotGeneralOp op,
                                        unsigned side, const Followed &own,
                                        bool isOfWeights) {
  DotDims dims(op);
  SmallVector<Axis> contracted = getContracted(dims, side, own.axes, axes);
  SmallVector<Axis> sorted = queries;
  llvm::sort(sorted);
  bool isOverKeys = contracted == ArrayRef<Axis>(key);
  if (!isOverKeys && contracted != sorted)
    return false;
  PlacedValue &target =
      isOfWeights ? (isOverKeys ? result : dv) : (isOverKeys ? dq : dk);
  PlacedValue &known =
      isOfWeights ? (isOverKeys ? v : dResult) : (isOverKeys ? k : q);
  // Each is one value, wherever it is read.
  Value read = op->getOperand(1 - side);
  if (target || (known && known.value != read))
    return false;
  Value value = op->getOperand(side);
  // Weights are rounded to the type of values.
  if (isOfWeights && getTensorType(value).getElementType() !=
                         getTensorType(read).getElementType())
    return false;
  PlacedValue other = known ? known : createOther(op, side, axes);
  auto made = getResult(dims, axes, side, {value, own.axes}, other);
  if (!made)
    return false;
  known = other;
  target = *made;
  return true;
}

bool AttentionMatcher::resolveGradient() {
  DotDims dims(gradient);
  const SmallVector<Axis> &made = values.at(gradient).axes;
  // The side whose free axis is that of keys holds the values.
  size_t first = dims.batching[0].size();
  PlacedValue sides[2] = {createOther(gradient, 1, axes),
                          createOther(gradient, 0, axes)};
  auto placed = dims.getResult(axes, sides[0], sides[1]);
  if (!placed || !axes.unify(placed->axes, made))
    return false;
  std::optional<unsigned> ofValues;
  for (unsigned side : {0, 1}) {
    SmallVector<Axis> free;
    for (size_t i = 0; i < dims.getFree(side).size(); ++i, ++first)
      if (made[first] != kNoAxis)
        free.push_back(axes.resolve(made[first]));
    if (free == ArrayRef<Axis>(key))
      ofValues = side;
  }
  if (!ofValues)
    return false;
  const PlacedValue &readValues = sides[*ofValues];
  const PlacedValue &readGradient = sides[1 - *ofValues];
  for (auto [known, read] :
       {std::pair(&v, &readValues), std::pair(&dResult, &readGradient)}) {
    if (*known && known->value != read->value)
      return false;
    if (*known && !axes.unify(known->axes, read->axes))
      return false;
    *known = *read;
  }
  return true;
}

/// True if a value has just these axes, in any order.
static bool hasAxes(const PlacedValue &value, ArrayRef<Axis> expected,
                    Axis second, std::optional<Axis> third = std::nullopt) {
  SmallVector<Axis> own, sorted(expected);
  for (Axis axis : value.axes)
    if (axis != kNoAxis)
      own.push_back(axis);
  sorted.push_back(second);
  if (third)
    sorted.push_back(*third);
  llvm::sort(own);
  llvm::sort(sorted);
  return own == sorted;
}

bool AttentionMatcher::finish(AttentionMatch &match) {
  if (!finalForm || (gradient && !resolveGradient()) || !v ||
      (!result && !dq && !dk && !dv && dBiases.empty()) ||
      ((dq || dk || dv || !dBiases.empty()) && !dResult))
    return false;
  // What is left is the elements of values.
  for (Axis axis : v.axes) {
    Axis resolved = axes.resolve(axis);
    if (resolved != kNoAxis && !axes.isKnown(resolved)) {
      if (valueElement != kNoAxis && valueElement != resolved)
        return false;
      valueElement = resolved;
    }
  }
  if (valueElement == kNoAxis)
    return false;
  axes.setKnown(valueElement);
  SmallVector<PlacedValue *> all = {&q,      &k,  &v,  &dResult,
                                    &result, &dq, &dk, &dv};
  for (PlacedValue &dBias : dBiases)
    all.push_back(&dBias);
  for (PlacedValue *value : all) {
    auto resolved = axes.resolveAll(value->axes);
    if (*value && !resolved)
      return false;
    if (*value)
      value->axes = *resolved;
  }
  SmallVector<Axis> rows = batch;
  llvm::append_range(rows, queries);
  if (!hasAxes(v, batch, key, valueElement) ||
      (result && !hasAxes(result, rows, valueElement)) ||
      (dResult && !hasAxes(dResult, rows, valueElement)) ||
      (dq && !hasAxes(dq, rows, element)) ||
      (dk && !hasAxes(dk, batch, key, element)) ||
      (dv && !hasAxes(dv, batch, key, valueElement)))
    return false;
  const ScoreForm &form = forms[*finalForm];
  match.batch = batch;
  match.queries = queries;
  match.key = key;
  match.element = element;
  match.valueElement = valueElement;
  match.q = q;
  match.k = k;
  match.v = v;
  match.dResult = dResult;
  match.result = result;
  match.dq = dq;
  match.dk = dk;
  match.dv = dv;
  match.dBiases = dBiases;
  llvm::append_range(match.biases, form.biases);
  match.mask = form.mask;
  match.scale = form.scale;
  if (kept & kMask)
    match.kept.push_back(form.mask);
  for (auto [index, predicate] : llvm::enumerate(selections))
    if (kept & (kMask << (index + 1)))
      match.kept.push_back(predicate);
  if (!match.kept.empty())
    match.keepScale = keepScale;
  match.maskedScore = form.maskedScore;
  match.softmaxType = getTensorType(exponential->getResult(0)).getElementType();
  match.ops.insert(scores);
  match.ops.insert(done.begin(), done.end());
  return true;
}
