//===- ExpandAttention.cpp - Attention over blocks of queries -------------===//

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Dialect/StableHLO/Transforms/Expression.h"
#include "amsp/Support/TensorType.h"

namespace amsp {
#define GEN_PASS_DEF_EXPANDATTENTION
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;
using stablehlo::Expression;

/// Blocks below this many queries would make contractions slow.
static constexpr int64_t kLeastRows = 16;

/// Contractions add in f32 at least, as code generation does.
static Type getSumType(Type element) {
  return element.getIntOrFloatBitWidth() < 32
             ? Float32Type::get(element.getContext())
             : element;
}

namespace {

/// A block of queries: its first row, a scalar, and how many.
struct QueryBlock {
  Value start;
  int64_t rows;
};

/// What both ops are computed from, block by block. Values of a block have the
/// dimensions L x m x g x rows (queries and scores, one more behind), g being
/// the heads that share keys, left out if it is 1.
template <typename AttentionOp> class BlockBuilder {
public:
  BlockBuilder(ImplicitLocOpBuilder &b, AttentionOp op)
      : b(b), op(op), shape(getTensorType(op.getQ()).getShape()),
        lead(shape.size() - 3),
        group(shape[lead] / getTensorType(op.getK()).getDimSize(lead)),
        softmaxType(getTensorType(op.getMax()).getElementType()),
        sumType(getSumType(softmaxType)), keys(convert(op.getK(), sumType)),
        values(convert(op.getV(), sumType)) {}

  int64_t getNumQueries() const { return shape[lead + 1]; }
  /// The dimension of scores along the queries of a block.
  int64_t getRowDim() const { return lead + (group > 1 ? 2 : 1); }

  Value convert(Value value, Type element) {
    if (getTensorType(value).getElementType() == element)
      return value;
    return stablehlo::ConvertOp::create(b, value, element);
  }
  Expression convertTo(Value value, Type element) {
    return {b, convert(value, element)};
  }

  Value reshape(Value value, ArrayRef<int64_t> to) {
    auto type = getTensorType(value).clone(to);
    if (type == value.getType())
      return value;
    return stablehlo::ReshapeOp::create(b, type, value);
  }
  /// Takes the heads apart into those of keys and those that share them.
  Value splitHeads(Value value) {
    if (group == 1)
      return value;
    SmallVector<int64_t> to(getTensorType(value).getShape());
    bool isRepeated = to[lead] == 1;
    to[lead] = isRepeated ? 1 : to[lead] / group;
    to.insert(to.begin() + lead + 1, isRepeated ? 1 : group);
    return reshape(value, to);
  }
  Value joinHeads(Value value) {
    if (group == 1)
      return value;
    SmallVector<int64_t> to(getTensorType(value).getShape());
    to[lead] *= to[lead + 1];
    to.erase(to.begin() + lead + 1);
    return reshape(value, to);
  }

  SmallVector<Value> getStarts(Value value, const QueryBlock &block) {
    Value zero = stablehlo::ConstantOp::create(
        b, cast<ElementsAttr>(b.getZeroAttr(block.start.getType())));
    SmallVector<Value> starts(getTensorType(value).getRank(), zero);
    starts[lead + 1] = block.start;
    return starts;
  }
  /// A block's rows of a value with the leading dimensions L x n x t.
  Value sliceRows(Value value, const QueryBlock &block) {
    SmallVector<int64_t> sizes(getTensorType(value).getShape());
    int64_t &rows = sizes[lead + 1];
    if (rows != 1 && rows != block.rows) {
      rows = block.rows;
      value = stablehlo::DynamicSliceOp::create(
          b, getTensorType(value).clone(sizes), value, getStarts(value, block),
          sizes);
    }
    return splitHeads(value);
  }
  /// The reverse: writes a block's rows, or is them.
  Value placeRows(Value whole, Value rows, const QueryBlock &block) {
    rows = joinHeads(rows);
    if (!whole)
      return rows;
    return stablehlo::DynamicUpdateSliceOp::create(
        b, whole.getType(), whole, rows, getStarts(whole, block));
  }

  /// A contraction of `lhs` with `rhs` along these dimensions, batched over
  /// L x m.
  Expression contract(Value lhs, Value rhs, ArrayRef<int64_t> lhsDims,
                      ArrayRef<int64_t> rhsDims) {
    auto batching = llvm::to_vector(llvm::seq<int64_t>(0, lead + 1));
    auto numbers = stablehlo::DotDimensionNumbersAttr::get(
        b.getContext(), batching, batching, lhsDims, rhsDims);
    return {b, stablehlo::DotGeneralOp::create(b, lhs, rhs, numbers)};
  }

  /// Sums are made in f32 at least.
  Expression sumLast(Value value) {
    Expression wide = convertTo(value, sumType);
    return convertTo(wide.reduce<stablehlo::AddOp>(0, getRowDim() + 1),
                     softmaxType);
  }
  /// Repeats a value of the leading dimensions, or of size 1, to a shape.
  Expression spread(Value value, ArrayRef<int64_t> to) {
    auto type = getTensorType(value).clone(to);
    auto dims =
        llvm::to_vector(llvm::seq<int64_t>(0, getTensorType(value).getRank()));
    return {b, stablehlo::BroadcastInDimOp::create(b, type, value, dims)};
  }

  /// Where a block's keys are not behind its queries.
  Value getCausalMask(ArrayRef<int64_t> scores, const QueryBlock &block) {
    auto type =
        RankedTensorType::get({block.rows, scores.back()},
                              getTensorType(block.start).getElementType());
    Value first = stablehlo::BroadcastInDimOp::create(b, type, block.start,
                                                      ArrayRef<int64_t>{});
    Expression row = {b, stablehlo::IotaOp::create(b, type, 0)};
    Value key = stablehlo::IotaOp::create(b, type, 1);
    Value holds = stablehlo::CompareOp::create(
        b, type.clone(b.getI1Type()), Value(row + Expression(b, first)), key,
        stablehlo::ComparisonDirection::GE,
        stablehlo::ComparisonTypeAttr::get(b.getContext(),
                                           stablehlo::ComparisonType::SIGNED));
    return stablehlo::BroadcastInDimOp::create(
        b, RankedTensorType::get(scores, b.getI1Type()), holds,
        ArrayRef<int64_t>{getRowDim(), getRowDim() + 1});
  }
  /// The predicate of the scores that count; null if all do.
  Value getMask(ArrayRef<int64_t> scores, const QueryBlock &block) {
    Value mask;
    if (op.getMask())
      mask = spread(sliceRows(op.getMask(), block), scores);
    if (!op.getCausal())
      return mask;
    Value causal = getCausalMask(scores, block);
    return mask ? Value(stablehlo::AndOp::create(b, mask, causal)) : causal;
  }

  /// The scores of a block, before the softmax.
  Expression getScores(Value queries, Value mask, const QueryBlock &block) {
    Expression scores = convertTo(
        contract(queries, keys, {getRowDim() + 1}, {lead + 2}), softmaxType);
    if (op.getScale().convertToDouble() != 1)
      scores = scores * op.getScale().convertToDouble();
    ArrayRef<int64_t> to = scores.getType().getShape();
    if (op.getBias())
      scores = scores +
               spread(sliceRows(convert(op.getBias(), softmaxType), block), to);
    if (mask)
      scores = Expression(b, mask).select(
          scores, scores.number(op.getMaskedScore()->convertToDouble()));
    return scores;
  }
  SmallVector<int64_t> getScoresShape(Value queries) {
    SmallVector<int64_t> scores(getTensorType(queries).getShape());
    scores.back() = getTensorType(keys).getDimSize(lead + 1);
    return scores;
  }
  /// Weights, or their gradients, behind dropout.
  Expression drop(const Expression &weights, const QueryBlock &block) {
    if (!op.getKeep())
      return weights;
    Value keep =
        spread(sliceRows(op.getKeep(), block), weights.getType().getShape());
    return Expression(b, keep).select(
        weights * op.getKeepScale()->convertToDouble(), weights.number(0));
  }
  /// Weights as they meet values: rounded to the type of these.
  Value getWeights(Value softmax) {
    return convert(convert(softmax, getTensorType(op.getV()).getElementType()),
                   sumType);
  }

  ImplicitLocOpBuilder &b;
  AttentionOp op;
  ArrayRef<int64_t> shape; // of the queries
  int64_t lead;            // leading dimensions L
  int64_t group;
  Type softmaxType, sumType;
  Value keys, values;
};

} // namespace

/// The values that a block makes of those of the blocks before; the first,
/// only, block gets nulls.
using BlockBody =
    llvm::function_ref<SmallVector<Value>(const QueryBlock &, ValueRange)>;

static Value createIndex(ImplicitLocOpBuilder &b, int64_t index) {
  auto type = RankedTensorType::get({}, b.getI32Type());
  return stablehlo::ConstantOp::create(
      b, DenseElementsAttr::get(type, static_cast<int32_t>(index)));
}

/// Runs `body` for blocks of `rows` queries, and for those that are left.
static SmallVector<Value> buildBlocks(ImplicitLocOpBuilder &b, int64_t queries,
                                      int64_t rows, TypeRange types,
                                      BlockBody body) {
  if (queries <= rows)
    return body({createIndex(b, 0), queries}, SmallVector<Value>(types.size()));
  Value count = createIndex(b, queries / rows);
  Value one = createIndex(b, 1), size = createIndex(b, rows);
  SmallVector<Value> inits = {createIndex(b, 0)};
  for (Type type : types)
    inits.push_back(stablehlo::ConstantOp::create(
        b, cast<ElementsAttr>(b.getZeroAttr(type))));
  SmallVector<Location> locations(inits.size(), b.getLoc());
  auto carried = llvm::to_vector(ValueRange(inits).getTypes());
  auto loop = stablehlo::WhileOp::create(b, TypeRange(carried), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *condition = b.createBlock(&loop.getCond(), {}, carried, locations);
    Value goesOn = stablehlo::CompareOp::create(
        b, RankedTensorType::get({}, b.getI1Type()), condition->getArgument(0),
        count, stablehlo::ComparisonDirection::LT,
        stablehlo::ComparisonTypeAttr::get(b.getContext(),
                                           stablehlo::ComparisonType::SIGNED));
    stablehlo::ReturnOp::create(b, goesOn);
    Block *block = b.createBlock(&loop.getBody(), {}, carried, locations);
    Value index = block->getArgument(0);
    Value start = stablehlo::MulOp::create(b, index, size);
    SmallVector<Value> made =
        body({start, rows}, block->getArguments().drop_front());
    made.insert(made.begin(), stablehlo::AddOp::create(b, index, one));
    stablehlo::ReturnOp::create(b, made);
  }
  ValueRange results = loop.getResults().drop_front();
  if (int64_t left = queries % rows)
    return body({createIndex(b, queries - left), left}, results);
  return llvm::to_vector(results);
}

static void expandForward(AttentionOp op, int64_t rows) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  BlockBuilder<AttentionOp> block(b, op);
  bool hasResult = !op.getResult().use_empty();
  SmallVector<Type> types = {op.getMax().getType(), op.getSum().getType()};
  if (hasResult)
    types.push_back(op.getResult().getType());
  Type element = getTensorType(op.getResult()).getElementType();
  auto body = [&](const QueryBlock &at, ValueRange last) {
    Value queries =
        block.convert(block.sliceRows(op.getQ(), at), block.sumType);
    SmallVector<int64_t> shape = block.getScoresShape(queries);
    Value mask = block.getMask(shape, at);
    Expression scores = block.getScores(queries, mask, at);
    Expression max = scores.reduce<stablehlo::MaxOp>(
        -std::numeric_limits<double>::infinity(), block.getRowDim() + 1);
    Expression weights = stablehlo::exp(scores - block.spread(max, shape));
    Expression sum = block.sumLast(weights);
    SmallVector<Value> made = {block.placeRows(last[0], max, at),
                               block.placeRows(last[1], sum, at)};
    if (!hasResult)
      return made;
    Value dropped =
        block.getWeights(block.drop(weights / block.spread(sum, shape), at));
    Value result = block.contract(dropped, block.values,
                                  {block.getRowDim() + 1}, {block.lead + 1});
    made.push_back(
        block.placeRows(last[2], block.convert(result, element), at));
    return made;
  };
  SmallVector<Value> results =
      buildBlocks(b, block.getNumQueries(), rows, types, body);
  op.getMax().replaceAllUsesWith(results[0]);
  op.getSum().replaceAllUsesWith(results[1]);
  if (hasResult)
    op.getResult().replaceAllUsesWith(results[2]);
  op.erase();
}

namespace {

/// The rows of a block from which the gradients are made.
struct BackwardRows {
  QueryBlock at;
  Value queries, dResult;
  Value softmax;
  /// Gradients of the scores before and behind scaling; null if nothing needs
  /// them.
  Value dBiased, dScores;
};

/// The gradients of one block.
class BackwardBlock {
public:
  BackwardBlock(BlockBuilder<AttentionBackwardOp> &block,
                AttentionBackwardOp op)
      : block(block), op(op) {}

  /// Whether a result holds each block's rows, not the sum over blocks.
  bool isPlaced(Value result) {
    return result == op.getDq() ||
           (result == op.getDbias() &&
            getTensorType(result).getDimSize(block.lead + 1) != 1);
  }

  BackwardRows getRows(const QueryBlock &at) {
    BackwardRows rows;
    rows.at = at;
    rows.queries = block.convert(block.sliceRows(op.getQ(), at), block.sumType);
    rows.dResult =
        block.convert(block.sliceRows(op.getDResult(), at), block.sumType);
    SmallVector<int64_t> shape = block.getScoresShape(rows.queries);
    Value mask = block.getMask(shape, at);
    Expression scores = block.getScores(rows.queries, mask, at);
    Expression max = block.spread(block.sliceRows(op.getMax(), at), shape);
    Expression sum = block.spread(block.sliceRows(op.getSum(), at), shape);
    Expression softmax = stablehlo::exp(scores - max) / sum;
    rows.softmax = softmax;
    auto isUsed = [](Value value) { return value && !value.use_empty(); };
    if (isUsed(op.getDq()) || isUsed(op.getDk()) || isUsed(op.getDbias()))
      addScores(rows, softmax, mask);
    return rows;
  }

  /// A result, with what the blocks before have of it.
  Value makeGradient(Value result, Value before, const BackwardRows &rows) {
    Type element = getTensorType(result).getElementType();
    if (result == op.getDk())
      return accumulate(before, contractRows(rows.dScores, rows.queries));
    if (result == op.getDv()) {
      Value weights =
          block.getWeights(block.drop({block.b, rows.softmax}, rows.at));
      return accumulate(before, contractRows(weights, rows.dResult));
    }
    if (result == op.getDq()) {
      Value dq = block.contract(rows.dScores, block.keys,
                                {block.getRowDim() + 1}, {block.lead + 1});
      return block.placeRows(before, block.convert(dq, element), rows.at);
    }
    Value dBias = sumToBias(rows.dBiased);
    if (!isPlaced(result))
      return accumulate(before, block.joinHeads(dBias));
    return block.placeRows(before, block.convert(dBias, element), rows.at);
  }

private:
  void addScores(BackwardRows &rows, const Expression &softmax, Value mask) {
    Expression dSoftmax =
        block.drop(block.convertTo(block.contract(rows.dResult, block.values,
                                                  {block.getRowDim() + 1},
                                                  {block.lead + 2}),
                                   block.softmaxType),
                   rows.at);
    Expression product = softmax * dSoftmax;
    Expression total =
        block.spread(block.sumLast(product), softmax.getType().getShape());
    Expression dScores = product - softmax * total;
    if (mask)
      dScores = Expression(block.b, mask).select(dScores, dScores.number(0));
    rows.dBiased = block.convert(dScores, block.sumType);
    double scale = op.getScale().convertToDouble();
    rows.dScores = scale == 1 ? rows.dBiased
                              : block.convert(dScores * scale, block.sumType);
  }

  /// `scores` transposed times a block's queries or their gradients.
  Value contractRows(Value scores, Value queries) {
    SmallVector<int64_t> dims = {block.getRowDim()};
    if (block.group > 1)
      dims.insert(dims.begin(), block.lead + 1);
    return block.contract(scores, queries, dims, dims);
  }
  Value accumulate(Value last, Value made) {
    return last ? Value(Expression(block.b, made) + Expression(block.b, last))
                : made;
  }

  /// Sums a block's scores over the dimensions in which the gradient of the
  /// bias is of size 1, and leaves these of size 1.
  Value sumToBias(Value scores) {
    ArrayRef<int64_t> target = getTensorType(op.getDbias()).getShape();
    SmallVector<int64_t> sizes(getTensorType(scores).getShape()), summed;
    for (auto [dim, size] : llvm::enumerate(sizes)) {
      // The heads are apart.
      bool isBehind = block.group > 1 && static_cast<int64_t>(dim) > block.lead;
      if (size == 1 || target[dim - (isBehind ? 1 : 0)] != 1)
        continue;
      summed.push_back(static_cast<int64_t>(dim));
      size = 1;
    }
    if (summed.empty())
      return scores;
    Expression all(block.b, scores);
    return block.reshape(all.reduce<stablehlo::AddOp>(0, summed), sizes);
  }

  BlockBuilder<AttentionBackwardOp> &block;
  AttentionBackwardOp op;
};

} // namespace

static void expandBackward(AttentionBackwardOp op, int64_t rows) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  BlockBuilder<AttentionBackwardOp> block(b, op);
  BackwardBlock backward(block, op);
  // Those that something uses; sums over blocks in the type of sums.
  SmallVector<Value> wanted;
  SmallVector<Type> types;
  for (Value result : op.getResults()) {
    if (result.use_empty())
      continue;
    wanted.push_back(result);
    RankedTensorType type = getTensorType(result);
    types.push_back(backward.isPlaced(result) ? type
                                              : type.clone(block.sumType));
  }
  auto body = [&](const QueryBlock &at, ValueRange last) {
    BackwardRows made = backward.getRows(at);
    return llvm::map_to_vector(llvm::zip_equal(wanted, last), [&](auto pair) {
      auto [result, before] = pair;
      return backward.makeGradient(result, before, made);
    });
  };
  SmallVector<Value> results =
      buildBlocks(b, block.getNumQueries(), rows, types, body);
  for (auto [old, result] : llvm::zip_equal(wanted, results))
    old.replaceAllUsesWith(
        block.convert(result, getTensorType(old).getElementType()));
  op.erase();
}

/// Rows of queries in a block.
static int64_t getBlockRows(Value q, Value k, Value max, int64_t blockBytes) {
  RankedTensorType queries = getTensorType(q);
  int64_t rows = queries.getDimSize(queries.getRank() - 2);
  if (blockBytes <= 0)
    return rows;
  Type element = getSumType(getTensorType(max).getElementType());
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  for (int64_t size : queries.getShape().drop_back(2))
    bytes *= size;
  bytes *= getTensorType(k).getDimSize(queries.getRank() - 2);
  int64_t fitting = bytes == 0 ? rows : blockBytes / bytes;
  return std::max(fitting / kLeastRows * kLeastRows, kLeastRows);
}

namespace {
struct ExpandAttention : amsp::impl::ExpandAttentionBase<ExpandAttention> {
  using ExpandAttentionBase::ExpandAttentionBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<AttentionOp, AttentionBackwardOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto forward = dyn_cast<AttentionOp>(op))
        expandForward(forward, getBlockRows(forward.getQ(), forward.getK(),
                                            forward.getMax(), blockBytes));
      else if (auto backward = dyn_cast<AttentionBackwardOp>(op))
        expandBackward(backward, getBlockRows(backward.getQ(), backward.getK(),
                                              backward.getMax(), blockBytes));
    }
  }
};
} // namespace
