//===- BlockQuantization.cpp - Values as int8 with a scale each block -----===//

#include "BlockQuantization.h"

using namespace mlir;
using namespace amsp;

static constexpr float kLargestCode = 127;

Value BlockQuantization::splat(float value, RankedTensorType type) {
  return stablehlo::ConstantOp::create(
      hlo.builder, hlo.loc,
      SplatElementsAttr::get(type, hlo.builder.getF32FloatAttr(value)));
}

/// From zero on, one after the other.
template <typename Combiner>
Value BlockQuantization::reduce(Value values, int64_t dimension) {
  OpBuilder &builder = hlo.builder;
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  auto reduce = stablehlo::ReduceOp::create(
      builder, hlo.loc, ValueRange(values), ValueRange(splat(0, scalar)),
      ArrayRef<int64_t>{dimension});
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&reduce.getBody(), {}, {scalar, scalar},
                                    {hlo.loc, hlo.loc});
  Value combined = Combiner::create(builder, hlo.loc, body->getArgument(0),
                                    body->getArgument(1));
  stablehlo::ReturnOp::create(builder, hlo.loc, combined);
  return reduce->getResult(0);
}

/// The largest magnitude of each block; NaN if it holds one.
Value BlockQuantization::getLargest(Value blocks) {
  Value magnitudes = stablehlo::AbsOp::create(hlo.builder, hlo.loc, blocks);
  return reduce<stablehlo::MaxOp>(magnitudes,
                                  getTensorType(blocks).getRank() - 1);
}

Value BlockQuantization::addUp(Value values) {
  return reduce<stablehlo::AddOp>(values, 1);
}

/// Each block's scale for all of its elements.
Value BlockQuantization::spread(Value scales, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, hlo.builder.getF32Type());
  return stablehlo::BroadcastInDimOp::create(hlo.builder, hlo.loc, type, scales,
                                             ArrayRef<int64_t>{0, 1});
}

QuantizedRows BlockQuantization::quantize(Value values) {
  OpBuilder &builder = hlo.builder;
  Location loc = hlo.loc;
  RankedTensorType type = getTensorType(values);
  Type f32 = builder.getF32Type();
  if (type.getElementType() != f32)
    values = stablehlo::ConvertOp::create(builder, loc, values, f32);
  int64_t rows = type.getDimSize(0), blocks = getBlocks(type.getDimSize(1));
  SmallVector<int64_t> shape = {rows, blocks, block};
  Value cut = hlo.reshape(hlo.padLast(values, blocks * block), shape);
  Value largest = getLargest(cut);
  RankedTensorType scaleType = getTensorType(largest),
                   cutType = getTensorType(cut);
  Value scales = stablehlo::DivOp::create(builder, loc, largest,
                                          splat(kLargestCode, scaleType));
  // Nothing but zeros has no scale; 0 / 1 is 0, too.
  Value isZero = stablehlo::CompareOp::create(
      builder, loc, scales, splat(0, scaleType),
      stablehlo::ComparisonDirection::EQ, stablehlo::ComparisonTypeAttr());
  Value divisors = stablehlo::SelectOp::create(builder, loc, isZero,
                                               splat(1, scaleType), scales);
  Value codes =
      stablehlo::DivOp::create(builder, loc, cut, spread(divisors, shape));
  codes = stablehlo::RoundNearestEvenOp::create(builder, loc, codes);
  auto scalar = RankedTensorType::get({}, f32);
  codes = stablehlo::ClampOp::create(builder, loc, splat(-kLargestCode, scalar),
                                     codes, splat(kLargestCode, scalar));
  // A NaN has no integer; its block's scale tells it.
  Value isNumber = stablehlo::CompareOp::create(
      builder, loc, codes, codes, stablehlo::ComparisonDirection::EQ,
      stablehlo::ComparisonTypeAttr());
  codes = stablehlo::SelectOp::create(builder, loc, isNumber, codes,
                                      splat(0, cutType));
  codes = stablehlo::ConvertOp::create(builder, loc, codes,
                                       builder.getIntegerType(8));
  return {hlo.reshape(codes, {rows, blocks * block}), scales};
}

Value BlockQuantization::dequantize(const QuantizedRows &quantized,
                                    int64_t elements) {
  OpBuilder &builder = hlo.builder;
  RankedTensorType type = getTensorType(quantized.scales);
  int64_t rows = type.getDimSize(0), blocks = type.getDimSize(1);
  SmallVector<int64_t> shape = {rows, blocks, block};
  Value codes = stablehlo::ConvertOp::create(
      builder, hlo.loc, hlo.reshape(quantized.codes, shape),
      builder.getF32Type());
  Value values = stablehlo::MulOp::create(builder, hlo.loc, codes,
                                          spread(quantized.scales, shape));
  return hlo.sliceLast(hlo.reshape(values, {rows, blocks * block}), 0,
                       elements);
}
