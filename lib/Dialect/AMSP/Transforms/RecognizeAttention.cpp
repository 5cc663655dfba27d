//===- RecognizeAttention.cpp - Attention becomes one op ------------------===//

#include "AttentionMatcher.h"
#include "SavedSoftmax.h"
#include "SavedStatistics.h"
#include "SharedSums.h"
#include "amsp/Dialect/AMSP/Transforms/HloBuilder.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/Transforms/Expression.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace amsp {
#define GEN_PASS_DEF_RECOGNIZEATTENTION
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {

/// Writes the ops for a match. In their operands and results the dimensions are
/// the batch's, heads, queries or keys, elements; heads join the last batch
/// dimension, if there is one, with all dimensions of queries but one.
class AttentionWriter {
public:
  /// `replaced`: results of contractions of which others may hold the old one.
  AttentionWriter(const AttentionMatch &match, ScoreAxes &axes,
                  DenseMap<Value, Value> &replaced)
      : match(match), axes(axes), replaced(replaced) {
    lead = match.batch;
    if (!lead.empty())
      heads.push_back(lead.pop_back_val());
    shared = heads;
    query = chooseQueryAxis();
    for (Axis axis : match.queries)
      if (axis != query)
        heads.push_back(axis);
  }

  /// Writes the ops, and replaces the results of the old.
  void write() {
    const PlacedValue &first = match.result ? match.result : getFirstGradient();
    ImplicitLocOpBuilder b(first.value.getLoc(), first.value.getDefiningOp());
    Value q = gather(b, match.q, heads, {query, match.element});
    Value k = gather(b, match.k, shared, {match.key, match.element});
    Value v = gather(b, match.v, shared, {match.key, match.valueElement});
    auto [mask, isCausal] = createMask(b);
    Value bias = combine<stablehlo::AddOp>(b, match.biases);
    Value keep = combine<stablehlo::AndOp>(b, match.kept);
    auto scale = b.getF64FloatAttr(match.scale);
    FloatAttr maskedScore, keepScale;
    if (mask || isCausal)
      maskedScore = b.getF64FloatAttr(*match.maskedScore);
    if (keep)
      keepScale = b.getF64FloatAttr(*match.keepScale);
    UnitAttr causal = isCausal ? b.getUnitAttr() : UnitAttr();

    RankedTensorType queries = getTensorType(q);
    SmallVector<int64_t> shape(queries.getShape());
    shape.back() = getTensorType(v).getShape().back();
    Type element = match.result
                       ? getTensorType(match.result.value).getElementType()
                       : getTensorType(v).getElementType();
    auto statistics = RankedTensorType::get(queries.getShape().drop_back(),
                                            match.softmaxType);
    auto forward = AttentionOp::create(
        b, RankedTensorType::get(shape, element), statistics, statistics, q, k,
        v, bias, mask, keep, scale, causal, maskedScore, keepScale);
    if (match.result)
      replace(b, match.result, forward.getResult(), heads,
              {query, match.valueElement});
    if (!match.hasBackward())
      return;
    b.setInsertionPoint(getFirstGradient().value.getDefiningOp());
    b.setLoc(getFirstGradient().value.getLoc());
    Value dResult =
        gather(b, match.dResult, heads, {query, match.valueElement});
    auto backward = AttentionBackwardOp::create(
        b, getGradientType(q, match.dq), getGradientType(k, match.dk),
        getGradientType(v, match.dv), getBiasGradientType(), q, k, v,
        forward.getMax(), forward.getSum(), dResult, bias, mask, keep, scale,
        causal, maskedScore, keepScale);
    replace(b, match.dq, backward.getDq(), heads, {query, match.element});
    replace(b, match.dk, backward.getDk(), shared, {match.key, match.element});
    replace(b, match.dv, backward.getDv(), shared,
            {match.key, match.valueElement});
    for (const PlacedValue &dBias : match.dBiases)
      replaceBiasGradient(b, dBias, backward.getDbias());
  }

private:
  /// The gradient that is computed first.
  const PlacedValue &getFirstGradient() {
    const PlacedValue *first = nullptr;
    SmallVector<const PlacedValue *> all = {&match.dq, &match.dk, &match.dv};
    for (const PlacedValue &dBias : match.dBiases)
      all.push_back(&dBias);
    for (const PlacedValue *value : all)
      if (*value && (!first || value->value.getDefiningOp()->isBeforeInBlock(
                                   first->value.getDefiningOp())))
        first = value;
    return *first;
  }

  /// The axis along which queries follow each other: that which a causal mask
  /// compares with the keys, else the longest.
  Axis chooseQueryAxis() {
    if (match.mask)
      for (const PlacedValue &conjunct : getConjuncts(axes, match.mask))
        for (Axis axis : match.queries)
          if (isCausal(axes, conjunct, axis, match.key))
            return axis;
    return *llvm::max_element(match.queries, [&](Axis left, Axis right) {
      return axes.getSize(left) < axes.getSize(right);
    });
  }

  int64_t getProduct(ArrayRef<Axis> list) {
    int64_t product = 1;
    for (Axis axis : list)
      product *= axes.getSize(axis);
    return product;
  }

  Value getNew(Value value) const {
    Value result = replaced.lookup(value);
    return result ? result : value;
  }
  static Value reshape(ImplicitLocOpBuilder &b, Value value,
                       ArrayRef<int64_t> shape) {
    return HloBuilder{b, b.getLoc()}.reshape(value, shape);
  }
  static Value transpose(ImplicitLocOpBuilder &b, Value value,
                         ArrayRef<int64_t> permutation) {
    if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
      return value;
    RankedTensorType type = getTensorType(value);
    auto shape = llvm::map_to_vector(
        permutation, [&](int64_t dim) { return type.getDimSize(dim); });
    return stablehlo::TransposeOp::create(b, type.clone(shape), value,
                                          permutation);
  }

  SmallVector<Axis> getOrder(ArrayRef<Axis> headAxes, ArrayRef<Axis> last) {
    SmallVector<Axis> order = lead;
    llvm::append_range(order, headAxes);
    llvm::append_range(order, last);
    return order;
  }
  /// Dimensions that have an axis, in the order of a list.
  static SmallVector<int64_t> getDims(ArrayRef<Axis> placed,
                                      ArrayRef<Axis> order) {
    SmallVector<int64_t> dims;
    for (Axis axis : order)
      if (const Axis *at = llvm::find(placed, axis); at != placed.end())
        dims.push_back(at - placed.begin());
    return dims;
  }

  /// A value in the dimensions of the op's operands.
  Value gather(ImplicitLocOpBuilder &b, const PlacedValue &value,
               ArrayRef<Axis> headAxes, ArrayRef<Axis> last) {
    SmallVector<int64_t> permutation;
    for (auto [dim, axis] : llvm::enumerate(value.axes))
      if (axis == kNoAxis)
        permutation.push_back(dim);
    llvm::append_range(permutation,
                       getDims(value.axes, getOrder(headAxes, last)));
    SmallVector<int64_t> shape;
    for (Axis axis : lead)
      shape.push_back(axes.getSize(axis));
    shape.push_back(getProduct(headAxes));
    for (Axis axis : last)
      shape.push_back(axes.getSize(axis));
    return reshape(b, transpose(b, getNew(value.value), permutation), shape);
  }

  /// Replaces the result of a contraction by one of an op.
  void replace(ImplicitLocOpBuilder &b, const PlacedValue &old, Value result,
               ArrayRef<Axis> headAxes, ArrayRef<Axis> last) {
    if (old)
      replace(b, old, result, getOrder(headAxes, last));
  }
  /// The axes of the result are those of the list, but for dimensions of size
  /// 1.
  void replace(ImplicitLocOpBuilder &b, const PlacedValue &old, Value result,
               ArrayRef<Axis> order) {
    SmallVector<Axis> target;
    for (Axis axis : old.axes)
      if (axis != kNoAxis)
        target.push_back(axis);
    auto shape = llvm::map_to_vector(
        order, [&](Axis axis) { return axes.getSize(axis); });
    Value value =
        transpose(b, reshape(b, result, shape), getDims(order, target));
    value = reshape(b, value, getTensorType(old.value).getShape());
    Value(old.value).replaceAllUsesWith(value);
    replaced[old.value] = value;
  }

  RankedTensorType getGradientType(Value operand, const PlacedValue &gradient) {
    RankedTensorType type = getTensorType(operand);
    if (gradient)
      return type.clone(getTensorType(gradient.value).getElementType());
    return type;
  }

  bool isOfBiasGradient(Axis axis) const {
    return llvm::any_of(match.dBiases, [&](const PlacedValue &dBias) {
      return llvm::is_contained(dBias.axes, axis);
    });
  }
  /// Of size 1 where all gradients are summed. Heads that one tells apart in
  /// part are told apart in full.
  RankedTensorType getBiasGradientType() {
    if (match.dBiases.empty())
      return RankedTensorType();
    auto getSize = [&](Axis axis) {
      return isOfBiasGradient(axis) ? axes.getSize(axis) : 1;
    };
    SmallVector<int64_t> shape = llvm::map_to_vector(lead, getSize);
    bool hasHeads =
        llvm::any_of(heads, [&](Axis axis) { return isOfBiasGradient(axis); });
    shape.push_back(hasHeads ? getProduct(heads) : 1);
    shape.push_back(getSize(query));
    shape.push_back(getSize(match.key));
    Type widest;
    for (const PlacedValue &dBias : match.dBiases)
      widest = getWider(widest, dBias.value);
    return RankedTensorType::get(shape, widest);
  }
  static Type getWider(Type type, Value value) {
    Type other = getTensorType(value).getElementType();
    bool isWider =
        type && type.getIntOrFloatBitWidth() >= other.getIntOrFloatBitWidth();
    return isWider ? type : other;
  }
  /// What is left of the result is summed.
  void replaceBiasGradient(ImplicitLocOpBuilder &b, const PlacedValue &dBias,
                           Value result) {
    SmallVector<int64_t> apart, summed;
    bool hasHeads =
        llvm::any_of(heads, [&](Axis axis) { return isOfBiasGradient(axis); });
    SmallVector<Axis> all = getOrder(heads, {query, match.key}), order;
    for (Axis axis : all) {
      bool isKept = llvm::is_contained(dBias.axes, axis);
      if (isKept)
        order.push_back(axis);
      else if (isOfBiasGradient(axis) ||
               (hasHeads && llvm::is_contained(heads, axis)))
        summed.push_back(static_cast<int64_t>(apart.size()));
      else
        continue;
      apart.push_back(axes.getSize(axis));
    }
    stablehlo::Expression gradient(b, reshape(b, result, apart));
    if (!summed.empty())
      gradient = gradient.reduce<stablehlo::AddOp>(0, summed);
    Type element = getTensorType(dBias.value).getElementType();
    replace(b, dBias, convert(b, gradient, element), order);
  }

  /// A mask or bias, with size 1 where it is repeated.
  Value gatherRepeated(ImplicitLocOpBuilder &b, const PlacedValue &value) {
    SmallVector<Axis> placed = llvm::map_to_vector(
        value.axes, [&](Axis axis) { return axes.resolve(axis); });
    SmallVector<Axis> order = getOrder(heads, {query, match.key});
    SmallVector<int64_t> permutation;
    for (auto [dim, axis] : llvm::enumerate(placed))
      if (axis == kNoAxis)
        permutation.push_back(dim);
    llvm::append_range(permutation, getDims(placed, order));
    auto has = [&](Axis axis) { return llvm::is_contained(placed, axis); };
    SmallVector<int64_t> apart;
    for (Axis axis : order)
      apart.push_back(has(axis) ? axes.getSize(axis) : 1);
    Value moved =
        reshape(b, transpose(b, getNew(value.value), permutation), apart);
    // Heads that it tells apart in part are told apart in full.
    int64_t product = 1;
    if (llvm::any_of(heads, has)) {
      product = getProduct(heads);
      for (auto [index, axis] : llvm::enumerate(heads))
        apart[lead.size() + index] = axes.getSize(axis);
    }
    moved = spread(b, moved, apart);
    SmallVector<int64_t> shape(ArrayRef(apart).take_front(lead.size()));
    shape.push_back(product);
    llvm::append_range(shape, ArrayRef(apart).take_back(2));
    return reshape(b, moved, shape);
  }

  /// Masks or biases in the smallest size that they have together; null for
  /// none.
  template <typename OpTy>
  Value combine(ImplicitLocOpBuilder &b, ArrayRef<PlacedValue> values) {
    Value combined;
    for (const PlacedValue &placed : values) {
      Value value = gatherRepeated(b, axes.peel(placed));
      if (!combined) {
        combined = value;
        continue;
      }
      Type element = getWider(getTensorType(value).getElementType(), combined);
      combined = convert(b, combined, element);
      value = convert(b, value, element);
      SmallVector<int64_t> shape(getTensorType(combined).getShape());
      for (auto [size, other] :
           llvm::zip_equal(shape, getTensorType(value).getShape()))
        size = std::max(size, other);
      combined =
          OpTy::create(b, spread(b, combined, shape), spread(b, value, shape));
    }
    return combined;
  }
  static Value convert(ImplicitLocOpBuilder &b, Value value, Type element) {
    if (getTensorType(value).getElementType() == element)
      return value;
    return stablehlo::Expression(b, value).convert(element);
  }
  /// Repeats along dimensions of size 1.
  static Value spread(ImplicitLocOpBuilder &b, Value value,
                      ArrayRef<int64_t> shape) {
    RankedTensorType type = getTensorType(value).clone(shape);
    if (type == value.getType())
      return value;
    return stablehlo::BroadcastInDimOp::create(
        b, type, value, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  }

  /// The mask, if it is more than causal, and whether it is causal too.
  std::pair<Value, bool> createMask(ImplicitLocOpBuilder &b) {
    if (!match.mask)
      return {Value(), false};
    SmallVector<PlacedValue> rest;
    bool hasCausal = false;
    for (const PlacedValue &conjunct : getConjuncts(axes, match.mask)) {
      if (isCausal(axes, conjunct, query, match.key))
        hasCausal = true;
      else
        rest.push_back(conjunct);
    }
    if (rest.size() == 1)
      return {gatherRepeated(b, rest.front()), hasCausal};
    if (rest.empty() && hasCausal)
      return {Value(), true};
    return {gatherRepeated(b, axes.peel(match.mask)), false};
  }

  const AttentionMatch &match;
  ScoreAxes &axes;
  DenseMap<Value, Value> &replaced;
  SmallVector<Axis> lead, heads, shared;
  Axis query;
};

struct RecognizeAttention
    : amsp::impl::RecognizeAttentionBase<RecognizeAttention> {
  using RecognizeAttentionBase::RecognizeAttentionBase;

  void runOnOperation() override {
    splitSharedSums(getOperation());
    recomputeSavedSoftmaxes(getOperation());
    SmallVector<stablehlo::DotGeneralOp> dots;
    getOperation()->walk(
        [&](stablehlo::DotGeneralOp dot) { dots.push_back(dot); });
    // All is found before anything changes.
    std::vector<std::pair<AttentionMatch, ScoreAxes>> matches;
    DenseMap<Value, Value> replaced;
    DenseSet<Operation *> taken;
    for (stablehlo::DotGeneralOp dot : dots) {
      if (taken.contains(dot))
        continue;
      AttentionMatcher matcher(dot);
      std::optional<AttentionMatch> match = matcher.match();
      if (!match) {
        remarkMiss(dot, matcher);
        continue;
      }
      if (llvm::any_of(match->ops,
                       [&](Operation *op) { return taken.contains(op); }))
        continue;
      taken.insert(match->ops.begin(), match->ops.end());
      matches.emplace_back(std::move(*match), matcher.getAxes());
    }
    llvm::SetVector<Block *> blocks;
    for (auto &[match, axes] : matches) {
      blocks.insert(match.ops.front()->getBlock());
      ++numForward;
      numBackward += match.hasBackward();
      AttentionWriter(match, axes, replaced).write();
    }
    eraseDead(matches);
    // Operands of a gradient may be made behind the first that reads it.
    for (Block *block : blocks)
      sortTopologically(block);
    saveStatisticsOfScans(getOperation());
  }

private:
  void remarkMiss(stablehlo::DotGeneralOp dot, AttentionMatcher &matcher) {
    if (!matcher.hasSoftmax())
      return;
    ++numMissed;
    InFlightDiagnostic remark = dot.emitRemark("no attention: the softmax of ")
                                << "this contraction takes "
                                << getBytes(matcher.getSoftmax()->getResult(0))
                                << " bytes, and ";
    if (Operation *misfit = matcher.getMisfit()) {
      remark << "'" << misfit->getName() << "' reads it, or what is made of it";
      Diagnostic &note = remark.attachNote(misfit->getLoc()) << "here";
      if (isa<stablehlo::DynamicUpdateSliceOp>(misfit))
        note << ", into " << getBytes(misfit->getResult(0))
             << " bytes of all iterations";
    } else {
      remark << "does not multiply values";
    }
  }

  static int64_t getBytes(Value value) {
    RankedTensorType type = getTensorType(value);
    return type.getNumElements() *
           llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  }

  /// Erases what nothing reads any more, and then what that read.
  static void
  eraseDead(ArrayRef<std::pair<AttentionMatch, ScoreAxes>> matches) {
    llvm::SetVector<Operation *> dead;
    for (auto &[match, axes] : matches)
      dead.insert(match.ops.begin(), match.ops.end());
    while (!dead.empty()) {
      Operation *op = dead.pop_back_val();
      if (!isOpTriviallyDead(op))
        continue;
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          dead.insert(producer);
      op->erase();
    }
  }
};

} // namespace
