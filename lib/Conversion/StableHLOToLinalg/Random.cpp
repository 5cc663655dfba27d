//===- Random.cpp - stablehlo.rng_bit_generator ---------------------------===//
//
// Counter-based generators: Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3" (2011). How counters and elements are numbered is XLA's, so that a
// step draws the numbers that it draws under JAX.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Support/TensorType.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace amsp;

namespace {

/// StableHLO ops on unsigned integers of one shape.
class UnsignedBuilder {
public:
  explicit UnsignedBuilder(ImplicitLocOpBuilder &b) : b(b) {}

  RankedTensorType getType(ArrayRef<int64_t> shape, unsigned width) {
    return RankedTensorType::get(
        shape, IntegerType::get(b.getContext(), width, IntegerType::Unsigned));
  }
  Value constant(RankedTensorType type, uint64_t value) {
    unsigned width = type.getElementTypeBitWidth();
    return stablehlo::ConstantOp::create(
        b, DenseElementsAttr::get(type, APInt(width, value)));
  }
  Value add(Value lhs, Value rhs) {
    return stablehlo::AddOp::create(b, lhs, rhs);
  }
  Value add(Value lhs, uint64_t value) {
    return add(lhs, constant(getTensorType(lhs), value));
  }
  Value multiply(Value lhs, Value rhs) {
    return stablehlo::MulOp::create(b, lhs, rhs);
  }
  Value exclusiveOr(Value lhs, Value rhs) {
    return stablehlo::XorOp::create(b, lhs, rhs);
  }
  Value shiftRight(Value value, uint64_t bits) {
    return stablehlo::ShiftRightLogicalOp::create(
        b, value, constant(getTensorType(value), bits));
  }
  Value shiftLeft(Value value, uint64_t bits) {
    return stablehlo::ShiftLeftOp::create(b, value,
                                          constant(getTensorType(value), bits));
  }
  Value rotateLeft(Value value, uint64_t bits) {
    return stablehlo::OrOp::create(b, shiftLeft(value, bits),
                                   shiftRight(value, 32 - bits));
  }
  Value convert(Value value, unsigned width) {
    return stablehlo::ConvertOp::create(
        b, getType(getTensorType(value).getShape(), width), value);
  }
  /// The low and high halves of 64 bits.
  std::array<Value, 2> split(Value value) {
    return {convert(value, 32), convert(shiftRight(value, 32), 32)};
  }
  Value join(Value low, Value high) {
    return stablehlo::OrOp::create(b, convert(low, 64),
                                   shiftLeft(convert(high, 64), 32));
  }
  Value broadcast(Value scalar, ArrayRef<int64_t> shape) {
    return stablehlo::BroadcastInDimOp::create(
        b, getTensorType(scalar).clone(shape), scalar, ArrayRef<int64_t>{});
  }
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return stablehlo::ReshapeOp::create(b, getTensorType(value).clone(shape),
                                        value);
  }
  /// The row-major number of each element.
  Value number(ArrayRef<int64_t> shape) {
    Value numbers = stablehlo::IotaOp::create(
        b, getType({ShapedType::getNumElements(shape)}, 64), 0);
    return reshape(numbers, shape);
  }
  /// Element `index` of a vector.
  Value element(Value vector, int64_t index) {
    Value slice = stablehlo::SliceOp::create(
        b, vector, ArrayRef<int64_t>{index}, ArrayRef<int64_t>{index + 1},
        ArrayRef<int64_t>{1});
    return reshape(slice, {});
  }
  /// The first `count` of the tensors' elements, taken from each in turn.
  Value interleave(ValueRange tensors, int64_t count) {
    int64_t size = getTensorType(tensors.front()).getNumElements();
    SmallVector<Value> columns;
    for (Value tensor : tensors)
      columns.push_back(reshape(tensor, {size, 1}));
    Value joined = stablehlo::ConcatenateOp::create(b, columns, 1);
    joined = reshape(joined, {size * static_cast<int64_t>(tensors.size())});
    return stablehlo::SliceOp::create(b, joined, ArrayRef<int64_t>{0},
                                      ArrayRef<int64_t>{count},
                                      ArrayRef<int64_t>{1});
  }
  Value toVector(ValueRange scalars) {
    SmallVector<Value> parts;
    for (Value scalar : scalars)
      parts.push_back(reshape(scalar, {1}));
    return stablehlo::ConcatenateOp::create(b, parts, 0);
  }

  ImplicitLocOpBuilder &b;
};

/// Random bits, and the counter for the next.
struct RandomBits {
  Value bits;
  /// The state behind the key.
  SmallVector<Value> counter;
};

} // namespace

//===----------------------------------------------------------------------===//
// Threefry-2x32 with 20 rounds
//===----------------------------------------------------------------------===//

static std::array<Value, 2> emitThreefry(UnsignedBuilder &u,
                                         std::array<Value, 2> x,
                                         std::array<Value, 2> key) {
  constexpr unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  ArrayRef<int64_t> shape = getTensorType(x[0]).getShape();
  Value parity = u.exclusiveOr(u.exclusiveOr(key[0], key[1]),
                               u.constant(getTensorType(key[0]), 0x1BD11BDA));
  std::array<Value, 3> keys = {u.broadcast(key[0], shape),
                               u.broadcast(key[1], shape),
                               u.broadcast(parity, shape)};
  x = {u.add(x[0], keys[0]), u.add(x[1], keys[1])};
  for (unsigned round = 0; round < 5; ++round) {
    for (unsigned bits : rotations[round % 2]) {
      x[0] = u.add(x[0], x[1]);
      x[1] = u.exclusiveOr(u.rotateLeft(x[1], bits), x[0]);
    }
    x[0] = u.add(x[0], keys[(round + 1) % 3]);
    x[1] = u.add(u.add(x[1], keys[(round + 2) % 3]), round + 1);
  }
  return x;
}

/// The dimension along which the two words of a draw lie side by side: the
/// first of even size, else the largest.
static int64_t getPairDimension(ArrayRef<int64_t> shape) {
  const int64_t *even =
      llvm::find_if(shape, [](int64_t size) { return size % 2 == 0; });
  return even != shape.end() ? even - shape.begin()
                             : llvm::max_element(shape) - shape.begin();
}

static RandomBits emitThreefryBits(UnsignedBuilder &u, Value state,
                                   ArrayRef<int64_t> shape, unsigned width) {
  std::array<Value, 2> key = u.split(u.element(state, 0));
  Value counter = u.element(state, 1);
  SmallVector<int64_t> drawn(shape);
  int64_t pairDim = 0;
  if (width != 64) {
    // One draw gives two elements.
    if (drawn.empty())
      drawn.push_back(1);
    pairDim = getPairDimension(drawn);
    drawn[pairDim] = llvm::divideCeil(drawn[pairDim], 2);
  }
  Value counters = u.add(u.number(drawn), u.broadcast(counter, drawn));
  std::array<Value, 2> words = emitThreefry(u, u.split(counters), key);
  RandomBits result;
  result.counter = {u.add(counter, ShapedType::getNumElements(drawn))};
  if (width == 64) {
    result.bits = u.join(words[0], words[1]);
    return result;
  }
  SmallVector<int64_t> column(drawn);
  column.insert(column.begin() + pairDim + 1, 1);
  Value joined = stablehlo::ConcatenateOp::create(
      u.b, ValueRange{u.reshape(words[0], column), u.reshape(words[1], column)},
      pairDim + 1);
  SmallVector<int64_t> rounded(drawn);
  rounded[pairDim] *= 2;
  joined = u.reshape(joined, rounded);
  SmallVector<int64_t> limits(shape);
  if (limits.empty())
    limits.push_back(1);
  joined = stablehlo::SliceOp::create(
      u.b, joined, SmallVector<int64_t>(limits.size(), 0), limits,
      SmallVector<int64_t>(limits.size(), 1));
  result.bits = u.reshape(joined, shape);
  return result;
}

//===----------------------------------------------------------------------===//
// Philox-4x32 with 10 rounds
//===----------------------------------------------------------------------===//

static std::array<Value, 4> emitPhilox(UnsignedBuilder &u,
                                       std::array<Value, 4> x,
                                       std::array<Value, 2> key) {
  ArrayRef<int64_t> shape = getTensorType(x[0]).getShape();
  auto multiply = [&](Value word, uint64_t factor) {
    Value wide = u.convert(word, 64);
    return u.split(u.multiply(wide, u.constant(getTensorType(wide), factor)));
  };
  for (unsigned round = 0; round < 10; ++round) {
    auto [low0, high0] = multiply(x[0], 0xD2511F53);
    auto [low1, high1] = multiply(x[2], 0xCD9E8D57);
    x = {u.exclusiveOr(u.exclusiveOr(high1, x[1]), u.broadcast(key[0], shape)),
         low1,
         u.exclusiveOr(u.exclusiveOr(high0, x[3]), u.broadcast(key[1], shape)),
         low0};
    key = {u.add(key[0], 0x9E3779B9), u.add(key[1], 0xBB67AE85)};
  }
  return x;
}

/// `counter + added` in 128 bits of low and high halves.
static std::array<Value, 2>
addToCounter(UnsignedBuilder &u, std::array<Value, 2> counter, Value added) {
  ArrayRef<int64_t> shape = getTensorType(added).getShape();
  Value low = u.broadcast(counter[0], shape);
  Value high = u.broadcast(counter[1], shape);
  Value sum = u.add(low, added);
  Value carries = stablehlo::CompareOp::create(
      u.b, RankedTensorType::get(shape, u.b.getI1Type()), sum, low,
      stablehlo::ComparisonDirection::LT, stablehlo::ComparisonTypeAttr());
  Value carry = stablehlo::ConvertOp::create(u.b, getTensorType(high), carries);
  return {sum, u.add(high, carry)};
}

static RandomBits emitPhiloxBits(UnsignedBuilder &u, Value state,
                                 ArrayRef<int64_t> shape, unsigned width) {
  Value keyAndHigh = u.element(state, 0);
  std::array<Value, 2> key = u.split(keyAndHigh);
  // Where the state has no high half of the counter, that begins at the key.
  bool hasHigh = getTensorType(state).getDimSize(0) == 3;
  std::array<Value, 2> counter = {u.element(state, 1),
                                  hasHigh ? u.element(state, 2) : keyAndHigh};
  int64_t count = ShapedType::getNumElements(shape);
  // One draw gives 128 bits.
  int64_t draws = llvm::divideCeil(count * (width == 64 ? 2 : 1), 4);
  auto [low, high] = addToCounter(u, counter, u.number({draws}));
  std::array<Value, 2> lows = u.split(low), highs = u.split(high);
  std::array<Value, 4> words =
      emitPhilox(u, {lows[0], lows[1], highs[0], highs[1]}, key);
  RandomBits result;
  llvm::append_range(
      result.counter,
      addToCounter(u, counter, u.constant(getTensorType(counter[0]), draws)));
  if (!hasHigh)
    result.counter.pop_back();
  Value bits = width == 64 ? u.interleave({u.join(words[0], words[1]),
                                           u.join(words[2], words[3])},
                                          count)
                           : u.interleave(words, count);
  result.bits = u.reshape(bits, shape);
  return result;
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

namespace {

struct ConvertRngBitGenerator
    : OpConversionPattern<stablehlo::RngBitGeneratorOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::RngBitGeneratorOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = getTensorType(op.getOutput());
    // The default is XLA's on CPU.
    bool isThreefry =
        op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
    int64_t size = getTensorType(op.getInitialState()).getDimSize(0);
    if (size != 2 && (isThreefry || size != 3))
      return op.emitOpError("requires a state of 2 elements, a key and a "
                            "counter, or of 3, whose counter has two");
    unsigned width = type.getElementTypeBitWidth();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    UnsignedBuilder u(b);
    auto emit = isThreefry ? emitThreefryBits : emitPhiloxBits;
    RandomBits random = emit(u, op.getInitialState(), type.getShape(), width);
    if (width < 32)
      random.bits = u.convert(random.bits, width);
    SmallVector<Value> elements = {u.element(op.getInitialState(), 0)};
    elements.append(random.counter);
    Value state = u.toVector(elements);
    Value output =
        random.bits.getType() == type
            ? random.bits
            : stablehlo::BitcastConvertOp::create(b, type, random.bits);
    rewriter.replaceOp(op, {state, output});
    return success();
  }
};

} // namespace

void amsp::populateRandomPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns) {
  patterns.add<ConvertRngBitGenerator>(converter, patterns.getContext());
}
