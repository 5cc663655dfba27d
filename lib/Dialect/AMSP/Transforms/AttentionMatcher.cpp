//===- AttentionMatcher.cpp - Finds attention around a contraction --------===//

#include "AttentionMatcher.h"
#include "amsp/Dialect/AMSP/Transforms/HloBuilder.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace amsp;

/// More than weights are selected by: dropout, and masks that the scores have
/// not.
static constexpr size_t kMostSelections = 8;

static unsigned getBits(Value value) {
  return getTensorType(value).getElementTypeBitWidth();
}

//===----------------------------------------------------------------------===//
// The contraction
//===----------------------------------------------------------------------===//

AttentionMatcher::AttentionMatcher(stablehlo::DotGeneralOp scores)
    : scores(scores) {
  if (!isa<FloatType>(getTensorType(scores).getElementType()))
    return;
  DotDims dims(scores);
  Followed followed = {Followed::Score, 0, {}, {}};
  for (unsigned side : {0, 1})
    operands[side] = {scores->getOperand(side),
                      SmallVector<Axis>(dims.getRank(side), kNoAxis)};
  auto create = [&](unsigned side, int64_t dim) {
    Axis axis = axes.create(
        getTensorType(scores->getOperand(side)).getDimSize(dim), true);
    operands[side].axes[dim] = axis;
    return axis;
  };
  for (auto [left, right] :
       llvm::zip_equal(dims.batching[0], dims.batching[1])) {
    Axis axis = create(0, left);
    operands[1].axes[right] = axis;
    followed.axes.push_back(axis);
    if (axis != kNoAxis)
      batch.push_back(axis);
  }
  for (unsigned side : {0, 1}) {
    for (int64_t dim : dims.getFree(side)) {
      Axis axis = create(side, dim);
      followed.axes.push_back(axis);
      if (axis != kNoAxis)
        freeAxes[side].push_back(axis);
    }
  }
  for (auto [left, right] :
       llvm::zip_equal(dims.contracting[0], dims.contracting[1])) {
    Axis axis = create(0, left);
    operands[1].axes[right] = axis;
    if (axis == kNoAxis)
      continue;
    if (element != kNoAxis) // Elements of queries have one dimension.
      return;
    element = axis;
  }
  if (element == kNoAxis || freeAxes[0].empty() || freeAxes[1].empty())
    return;
  ScoreForm form;
  form.bits = getBits(scores);
  forms.push_back(form);
  follow(scores, followed);
}

//===----------------------------------------------------------------------===//
// Following
//===----------------------------------------------------------------------===//

void AttentionMatcher::follow(Value value, Followed followed) {
  values[value] = std::move(followed);
  for (Operation *user : value.getUsers()) {
    if (user->getBlock() != scores->getBlock()) {
      misfit = misfit ? misfit : user;
      continue;
    }
    if (!done.contains(user))
      pending.insert(user);
  }
}

bool AttentionMatcher::visit(Operation *op) {
  if (ignored.contains(op))
    return true;
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    return dot == gradient || visitDot(dot);
  if (op->getNumResults() != 1)
    return false;
  if (values.contains(op->getResult(0)))
    return true; // A gradient on its way to where it was found.
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
      reduce && matchBiasGradient(reduce))
    return true;
  Result followed = evaluate(op);
  if (!followed)
    return false;
  follow(op->getResult(0), *followed);
  return true;
}

std::optional<AttentionMatch> AttentionMatcher::match() {
  while (!pending.empty()) {
    Operation *op = *pending.begin();
    pending.erase(pending.begin());
    if (!done.insert(op))
      continue;
    if (!visit(op))
      misfit = misfit ? misfit : op;
    // What reads an unknown value of a softmax is of no interest.
    if (misfit && exponential)
      return std::nullopt;
  }
  AttentionMatch match;
  if (misfit || !finish(match))
    return std::nullopt;
  return match;
}

/// The operand through which an op may come from the contraction that gives the
/// gradient of the weights: it moves elements, or drops and scales some.
static Value getGradientOperand(ScoreAxes &axes, Operation *op) {
  if (isa<stablehlo::ConvertOp, stablehlo::TransposeOp, stablehlo::ReshapeOp>(
          op))
    return op->getOperand(0);
  if (auto select = dyn_cast<stablehlo::SelectOp>(op))
    return select.getOnTrue();
  if (!isa<stablehlo::MulOp, stablehlo::DivOp>(op))
    return Value();
  for (unsigned side : {1, 0}) {
    Value factor = op->getOperand(side);
    if (getSplatNumber(factor) ||
        getPredicateFactor(axes, {factor, axes.createAll(factor)}))
      return op->getOperand(1 - side);
  }
  return Value();
}

bool AttentionMatcher::followGradient(Value value) {
  if (!finalForm)
    return false;
  // Down to a contraction, and back.
  SmallVector<Operation *> path;
  stablehlo::DotGeneralOp dot;
  for (Value at = value; !dot;) {
    Operation *op = at ? at.getDefiningOp() : nullptr;
    if (!op || op->getBlock() != scores->getBlock())
      return false;
    dot = dyn_cast<stablehlo::DotGeneralOp>(op);
    if (dot)
      break;
    path.push_back(op);
    at = getGradientOperand(axes, op);
  }
  if (gradient && gradient != dot)
    return false;
  if (!gradient) {
    gradient = dot;
    done.insert(dot);
    follow(dot, {Followed::Softmax, 0, SoftmaxExpression::gradient(),
                 axes.createAll(dot)});
  }
  for (Operation *op : llvm::reverse(path)) {
    Value made = op->getResult(0);
    if (values.contains(made))
      continue;
    Result followed = evaluate(op);
    if (!followed)
      return false;
    follow(made, *followed);
    done.insert(op);
  }
  return true;
}

AttentionMatcher::Followed *AttentionMatcher::lookup(Value value) {
  if (!values.contains(value) && !followGradient(value))
    return nullptr;
  return &values.find(value)->second;
}

//===----------------------------------------------------------------------===//
// Elementwise ops and reductions
//===----------------------------------------------------------------------===//

AttentionMatcher::Result AttentionMatcher::evaluate(Operation *op) {
  return TypeSwitch<Operation *, Result>(op)
      .Case<stablehlo::ReduceOp>(
          [&](auto reduce) { return evaluateReduce(reduce); })
      .Case<stablehlo::SelectOp>(
          [&](auto select) { return evaluateSelect(select); })
      .Case<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp,
            stablehlo::DivOp, stablehlo::MaxOp>(
          [&](Operation *binary) { return evaluateBinary(binary); })
      .Default([&](Operation *unary) -> Result {
        if (unary->getNumOperands() != 1)
          return std::nullopt;
        return evaluateUnary(unary, values.at(unary->getOperand(0)));
      });
}

AttentionMatcher::Result
AttentionMatcher::evaluateUnary(Operation *op, const Followed &operand) {
  Followed followed = operand;
  if (isa<stablehlo::ConvertOp>(op) &&
      !isa<FloatType>(getTensorType(op->getResult(0)).getElementType()))
    return std::nullopt;
  if (std::optional<SmallVector<Axis>> moved = axes.move(op, operand.axes)) {
    followed.axes = *moved;
    if (followed.kind == Followed::Score && isa<stablehlo::ConvertOp>(op)) {
      // The rounding of scores may be left out, not a second one be new.
      unsigned &bits = forms[followed.form].bits;
      bits = std::max(bits, getBits(op->getResult(0)));
    }
    return followed;
  }
  if (isa<stablehlo::NegOp>(op) && operand.kind == Followed::Softmax) {
    auto zero = SoftmaxExpression::constant(0);
    followed.expression = *zero.plus(operand.expression, -1);
    return followed;
  }
  if (isa<stablehlo::ExpOp>(op) && operand.kind == Followed::Shifted) {
    if (exponential || forms[operand.form].bits > getBits(op->getResult(0)))
      return std::nullopt;
    exponential = op;
    finalForm = operand.form;
    followed.kind = Followed::Softmax;
    followed.expression = SoftmaxExpression::exponential();
    return followed;
  }
  return std::nullopt;
}

AttentionMatcher::Followed AttentionMatcher::createForm(const Followed &operand,
                                                        ScoreForm form) {
  Followed followed = operand;
  followed.form = forms.size();
  forms.push_back(std::move(form));
  return followed;
}

AttentionMatcher::Result
AttentionMatcher::evaluateWithConstant(Operation *op, const Followed &operand,
                                       double number, bool isRight) {
  Followed followed = operand;
  if (operand.kind == Followed::Score) {
    ScoreForm form = forms[operand.form];
    if (!form.biases.empty() || form.mask)
      return std::nullopt;
    if (isa<stablehlo::MulOp>(op))
      form.scale *= number;
    else if (isa<stablehlo::DivOp>(op) && isRight)
      form.scale /= number;
    else
      return std::nullopt;
    return createForm(operand, form);
  }
  if (operand.kind == Followed::RowMaximum) {
    // A maximum of more than nothing.
    bool isIdentity = std::isinf(number) && number < 0;
    if (isa<stablehlo::MaxOp>(op) && isIdentity)
      return followed;
    return std::nullopt;
  }
  if (operand.kind != Followed::Softmax || !std::isfinite(number))
    return std::nullopt;
  auto constant = SoftmaxExpression::constant(number);
  const SoftmaxExpression &lhs = isRight ? operand.expression : constant;
  const SoftmaxExpression &rhs = isRight ? constant : operand.expression;
  auto made =
      TypeSwitch<Operation *, std::optional<SoftmaxExpression>>(op)
          .Case<stablehlo::AddOp>([&](auto) { return lhs.plus(rhs); })
          .Case<stablehlo::SubtractOp>([&](auto) { return lhs.plus(rhs, -1); })
          .Case<stablehlo::MulOp>([&](auto) { return lhs.times(rhs); })
          .Case<stablehlo::DivOp>([&](auto) { return lhs.over(rhs); })
          .Default([](auto) { return std::nullopt; });
  if (!made)
    return std::nullopt;
  followed.expression = *made;
  return followed;
}

AttentionMatcher::Result
AttentionMatcher::addBias(Operation *op, const Followed &scores, Value bias) {
  ScoreForm form = forms[scores.form];
  if (!isa<stablehlo::AddOp>(op) || form.mask)
    return std::nullopt;
  form.biases.push_back({bias, scores.axes});
  form.bits = std::max(form.bits, getBits(bias));
  return createForm(scores, form);
}

AttentionMatcher::Result AttentionMatcher::evaluateBinary(Operation *op) {
  for (unsigned side : {0, 1}) {
    auto known = values.find(op->getOperand(side));
    Value other = op->getOperand(1 - side);
    if (known == values.end() || values.contains(other))
      continue;
    Followed operand = known->second;
    if (std::optional<double> number = getSplatNumber(other))
      return evaluateWithConstant(op, operand, *number, side == 0);
    if (operand.kind == Followed::Score)
      return addBias(op, operand, other);
    if (operand.kind == Followed::Softmax && isa<stablehlo::MulOp>(op))
      if (auto factor = getPredicateFactor(axes, {other, operand.axes}))
        return applyPredicate(operand, factor->predicate, factor->number);
  }
  Followed *found = lookup(op->getOperand(0));
  if (!found)
    return std::nullopt;
  Followed lhs = *found;
  found = lookup(op->getOperand(1));
  if (!found)
    return std::nullopt;
  Followed rhs = *found;
  if (!axes.unify(lhs.axes, rhs.axes))
    return std::nullopt;
  if (lhs.kind == Followed::Score && rhs.kind == Followed::RowMaximum &&
      lhs.form == rhs.form && isa<stablehlo::SubtractOp>(op)) {
    lhs.kind = Followed::Shifted;
    return lhs;
  }
  if (lhs.kind != Followed::Softmax || rhs.kind != Followed::Softmax)
    return std::nullopt;
  auto made = TypeSwitch<Operation *, std::optional<SoftmaxExpression>>(op)
                  .Case<stablehlo::AddOp>(
                      [&](auto) { return lhs.expression.plus(rhs.expression); })
                  .Case<stablehlo::SubtractOp>([&](auto) {
                    return lhs.expression.plus(rhs.expression, -1);
                  })
                  .Case<stablehlo::MulOp>([&](auto) {
                    return lhs.expression.times(rhs.expression);
                  })
                  .Case<stablehlo::DivOp>(
                      [&](auto) { return lhs.expression.over(rhs.expression); })
                  .Default([](auto) { return std::nullopt; });
  if (!made)
    return std::nullopt;
  lhs.expression = *made;
  return lhs;
}

bool AttentionMatcher::isSame(const PlacedValue &known,
                              const PlacedValue &value) {
  if (!known)
    return false;
  if (value.value == known.value)
    return axes.unify(value.axes, known.axes);
  PlacedValue first = axes.peel(value);
  PlacedValue second = axes.peel(known);
  return first.value == second.value && axes.unify(first.axes, second.axes);
}

unsigned AttentionMatcher::getPredicate(const PlacedValue &predicate) {
  unsigned bit = kMask;
  if (isSame(forms[*finalForm].mask, predicate))
    return bit;
  for (const PlacedValue &known : selections) {
    bit <<= 1;
    if (isSame(known, predicate))
      return bit;
  }
  selections.push_back(predicate);
  return bit << 1;
}

bool AttentionMatcher::setWeights(unsigned predicates, double number) {
  if (keepScale)
    return kept == predicates && areEqualFactors(*keepScale, number);
  if (!std::isfinite(number) ||
      (predicates == kNoPredicate && !areEqualFactors(number, 1)))
    return false;
  kept = predicates;
  keepScale = number;
  return true;
}

AttentionMatcher::Result
AttentionMatcher::applyPredicate(const Followed &operand,
                                 const PlacedValue &predicate, double number) {
  if (!finalForm || !std::isfinite(number) ||
      selections.size() == kMostSelections)
    return std::nullopt;
  auto factor = SoftmaxExpression::constant(number).times(
      SoftmaxExpression::predicate(getPredicate(predicate)));
  std::optional<SoftmaxExpression> product =
      factor ? operand.expression.times(*factor) : std::nullopt;
  if (!product)
    return std::nullopt;
  Followed followed = operand;
  followed.expression = *product;
  return followed;
}

AttentionMatcher::Result
AttentionMatcher::evaluateSelect(stablehlo::SelectOp op) {
  std::optional<double> otherwise = getSplatNumber(op.getOnFalse());
  Followed *found =
      values.contains(op.getPred()) ? nullptr : lookup(op.getOnTrue());
  if (!found || !otherwise || getTensorType(op.getPred()).getRank() == 0)
    return std::nullopt;
  Followed followed = *found;
  if (followed.kind == Followed::Score) {
    ScoreForm form = forms[followed.form];
    if (form.mask)
      return std::nullopt;
    form.mask = {op.getPred(), followed.axes};
    form.maskedScore = otherwise;
    return createForm(followed, form);
  }
  if (followed.kind != Followed::Softmax || *otherwise != 0)
    return std::nullopt;
  return applyPredicate(followed, {op.getPred(), followed.axes}, 1);
}

bool AttentionMatcher::setKey(Axis axis) {
  if (key != kNoAxis)
    return key == axis;
  for (unsigned side : {0, 1}) {
    if (freeAxes[side].size() != 1 || freeAxes[side].front() != axis)
      continue;
    key = axis;
    k = operands[side];
    q = operands[1 - side];
    queries = freeAxes[1 - side];
    return true;
  }
  return false;
}

std::optional<AttentionMatcher::Reduction>
AttentionMatcher::getReduction(stablehlo::ReduceOp op) {
  Operation *combiner = op.getSingleCombiner();
  if (op.getInputs().size() != 1 || !combiner ||
      !values.contains(op.getInputs().front()))
    return std::nullopt;
  std::optional<double> init = getSplatNumber(op.getInitValues().front());
  bool isSum = isa<stablehlo::AddOp>(combiner) && init == 0.0;
  bool isMax =
      isa<stablehlo::MaxOp>(combiner) && init && std::isinf(*init) && *init < 0;
  if (!isSum && !isMax)
    return std::nullopt;
  Reduction reduction = {values.at(op.getInputs().front()), {}, isSum};
  SmallVector<Axis> kept;
  for (auto [dim, axis] : llvm::enumerate(reduction.kept.axes)) {
    bool isReduced =
        llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim));
    if (!isReduced)
      kept.push_back(axis);
    else if (axis != kNoAxis)
      reduction.reduced.push_back(axes.resolve(axis));
  }
  reduction.kept.axes = kept;
  return reduction;
}

bool AttentionMatcher::matchBiasGradient(stablehlo::ReduceOp op) {
  std::optional<Reduction> reduction = getReduction(op);
  if (!reduction || !reduction->isSum || !finalForm ||
      forms[*finalForm].biases.empty() ||
      reduction->kept.kind != Followed::Softmax)
    return false;
  const SoftmaxExpression &summed = reduction->kept.expression;
  unsigned predicates = summed.getKept();
  auto number = summed.getMultiple(
      SoftmaxExpression::scoreGradient(getMask(), predicates));
  if (!number)
    return false;
  // Together they are smaller than the scores.
  SmallVector<PlacedValue> together = dBiases;
  together.push_back({op->getResult(0), reduction->kept.axes});
  auto isTold = [&](Axis axis) {
    return llvm::any_of(together, [&](const PlacedValue &dBias) {
      return llvm::any_of(
          dBias.axes, [&](Axis other) { return axes.resolve(other) == axis; });
    });
  };
  if ((llvm::all_of(batch, isTold) && llvm::all_of(queries, isTold)) ||
      !setWeights(predicates, *number))
    return false;
  dBiases = std::move(together);
  return true;
}

AttentionMatcher::Result
AttentionMatcher::evaluateReduce(stablehlo::ReduceOp op) {
  std::optional<Reduction> reduction = getReduction(op);
  if (!reduction || reduction->reduced.size() > 1)
    return std::nullopt;
  Followed followed = reduction->kept;
  ArrayRef<Axis> reduced = reduction->reduced;
  if (!reduction->isSum) {
    if (followed.kind != Followed::Score || reduced.empty() ||
        !setKey(reduced.front()))
      return std::nullopt;
    followed.kind = Followed::RowMaximum;
    return followed;
  }
  if (followed.kind != Followed::Softmax)
    return std::nullopt;
  if (reduced.empty())
    return followed;
  if (reduced.front() != key)
    return std::nullopt;
  auto sum = followed.expression.rowSum(axes.getSize(key));
  if (!sum)
    return std::nullopt;
  followed.expression = *sum;
  return followed;
}
