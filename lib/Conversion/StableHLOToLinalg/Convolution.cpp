//===- Convolution.cpp - stablehlo.convolution as a contraction -----------===//

#include "Patterns.h"
#include "ScalarOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Support/TensorType.h"

using namespace mlir;
using namespace amsp;
using stablehlo::WindowDimension;

static Value reshape(ImplicitLocOpBuilder &b, Value value,
                     ArrayRef<int64_t> shape) {
  return stablehlo::ReshapeOp::create(b, getTensorType(value).clone(shape),
                                      value);
}

static Value transpose(ImplicitLocOpBuilder &b, Value value,
                       ArrayRef<int64_t> permutation) {
  return stablehlo::TransposeOp::create(b, value, permutation);
}

namespace {

/// Gathers the window at each point of the result, so that one contraction does
/// the rest: BLAS multiplies far faster than loops over windows would, and the
/// same form serves the gradients, whose windows are as large as the result.
class ConvolutionEmitter {
public:
  /// `lhs` and `rhs`: the op's operands, with elements of a type without sign.
  ConvolutionEmitter(ImplicitLocOpBuilder &b, stablehlo::ConvolutionOp op,
                     Value lhs, Value rhs)
      : b(b), op(op), lhs(lhs), rhs(rhs), numbers(op.getDimensionNumbers()),
        window(op.getWindow()), featureGroups(op.getFeatureGroupCount()),
        batchGroups(op.getBatchGroupCount()),
        groups(featureGroups * batchGroups) {
    RankedTensorType input = getTensorType(lhs), kernel = getTensorType(rhs);
    batch = input.getDimSize(numbers.getInputBatchDimension()) / batchGroups;
    features = kernel.getDimSize(numbers.getKernelInputFeatureDimension());
    outputs =
        kernel.getDimSize(numbers.getKernelOutputFeatureDimension()) / groups;
    for (int64_t dim : numbers.getOutputSpatialDimensions())
      counts.push_back(getTensorType(op.getResult()).getDimSize(dim));
  }

  Value emit() {
    Value patches = emitPatches(), kernel = emitKernel();
    // (group, batch, counts..., sizes..., feature) by
    // (group, sizes..., feature, output)
    auto spatial = static_cast<int64_t>(window.size());
    auto lhsContracted =
        llvm::to_vector(llvm::seq<int64_t>(2 + spatial, 3 + 2 * spatial));
    auto rhsContracted = llvm::to_vector(llvm::seq<int64_t>(1, 2 + spatial));
    Value result = stablehlo::DotGeneralOp::create(
        b, patches, kernel,
        stablehlo::DotDimensionNumbersAttr::get(b.getContext(), {0}, {0},
                                                lhsContracted, rhsContracted),
        op.getPrecisionConfigAttr(),
        getSignlessType(op.getType().getElementType()));
    return emitResult(result);
  }

private:
  Value emitPatches();
  Value emitKernel();
  Value emitResult(Value result);

  ImplicitLocOpBuilder &b;
  stablehlo::ConvolutionOp op;
  Value lhs, rhs;
  stablehlo::ConvDimensionNumbersAttr numbers;
  SmallVector<WindowDimension> window;
  int64_t featureGroups, batchGroups, groups, batch, features, outputs;
  /// Windows along each spatial dimension.
  SmallVector<int64_t> counts;
};
} // namespace

/// (group, batch, counts..., sizes..., feature)
Value ConvolutionEmitter::emitPatches() {
  RankedTensorType type = getTensorType(lhs);
  auto rank = static_cast<unsigned>(type.getRank());
  SmallVector<WindowDimension> byDim(rank);
  for (auto [each, dim] :
       llvm::zip_equal(window, numbers.getInputSpatialDimensions()))
    byDim[dim] = each;
  Value zero = stablehlo::ConstantOp::create(
      b, cast<ElementsAttr>(b.getZeroAttr(type.clone(ArrayRef<int64_t>{}))));
  Value padded = padForWindow(b, lhs, zero, byDim);

  auto spatial = static_cast<unsigned>(window.size());
  auto loop = [&](unsigned number) { return b.getAffineDimExpr(number); };
  SmallVector<int64_t> shape = {groups, batch};
  llvm::append_range(shape, counts);
  SmallVector<AffineExpr> indices(rank);
  // A feature group takes its part of the features, a batch group of the batch.
  indices[numbers.getInputBatchDimension()] =
      batchGroups == 1 ? loop(1) : loop(0) * batch + loop(1);
  indices[numbers.getInputFeatureDimension()] =
      featureGroups == 1 ? loop(2 + 2 * spatial)
                         : loop(0) * features + loop(2 + 2 * spatial);
  for (auto [number, each] : llvm::enumerate(window)) {
    shape.push_back(each.size);
    indices[numbers.getInputSpatialDimensions()[number]] =
        loop(2 + number) * each.stride +
        loop(2 + spatial + number) * each.dilation;
  }
  shape.push_back(features);
  auto patches =
      RankedTensorType::get(shape, getTensorType(padded).getElementType());
  return createParallelGeneric(
      b, patches, padded,
      AffineMap::get(shape.size(), 0, indices, b.getContext()),
      [](ImplicitLocOpBuilder &, ValueRange scalars) { return scalars[0]; });
}

/// (group, sizes..., feature, output)
Value ConvolutionEmitter::emitKernel() {
  SmallVector<int64_t> permutation(numbers.getKernelSpatialDimensions());
  permutation.push_back(numbers.getKernelInputFeatureDimension());
  permutation.push_back(numbers.getKernelOutputFeatureDimension());
  Value kernel = rhs;
  SmallVector<int64_t> reversed;
  for (auto [each, dim] :
       llvm::zip_equal(window, numbers.getKernelSpatialDimensions()))
    if (each.isReversed)
      reversed.push_back(dim);
  if (!reversed.empty())
    kernel = stablehlo::ReverseOp::create(b, kernel, reversed);
  kernel = transpose(b, kernel, permutation);
  SmallVector<int64_t> shape(getTensorType(kernel).getShape().drop_back());
  shape.append({groups, outputs});
  kernel = reshape(b, kernel, shape);
  auto rank = static_cast<int64_t>(shape.size());
  SmallVector<int64_t> groupFirst = {rank - 2};
  llvm::append_range(groupFirst, llvm::seq<int64_t>(0, rank - 2));
  groupFirst.push_back(rank - 1);
  return transpose(b, kernel, groupFirst);
}

/// (group, batch, counts..., output) in the order of the op's result.
Value ConvolutionEmitter::emitResult(Value result) {
  auto spatial = static_cast<int64_t>(window.size());
  // Groups become features again.
  SmallVector<int64_t> groupLast;
  llvm::append_range(groupLast, llvm::seq<int64_t>(1, spatial + 2));
  groupLast.append({0, spatial + 2});
  result = transpose(b, result, groupLast);
  SmallVector<int64_t> shape = {batch};
  llvm::append_range(shape, counts);
  shape.push_back(groups * outputs);
  result = reshape(b, result, shape);
  SmallVector<int64_t> permutation(shape.size());
  permutation[numbers.getOutputBatchDimension()] = 0;
  permutation[numbers.getOutputFeatureDimension()] = spatial + 1;
  for (auto [number, dim] :
       llvm::enumerate(numbers.getOutputSpatialDimensions()))
    permutation[dim] = static_cast<int64_t>(number) + 1;
  return transpose(b, result, permutation);
}

namespace {
struct ConvertConvolution : OpConversionPattern<stablehlo::ConvolutionOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ConvolutionOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type element = op.getType().getElementType();
    if (isa<ComplexType>(element))
      return rewriter.notifyMatchFailure(op, "complex numbers");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type signless = getSignlessType(element);
    // Converted with their sign, and then multiplied without it.
    auto convert = [&](Value value) -> Value {
      if (element == signless)
        return value;
      return stablehlo::ConvertOp::create(
          b, getTensorType(value).clone(signless), value);
    };
    Value result =
        ConvolutionEmitter(b, op, convert(op.getLhs()), convert(op.getRhs()))
            .emit();
    if (element != signless)
      result = stablehlo::BitcastConvertOp::create(b, op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

void amsp::populateConvolutionPatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<ConvertConvolution>(converter, patterns.getContext());
}
