//===- WindowOps.cpp - Ops on sliding windows -----------------------------===//

#include "Verification.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace amsp::stablehlo;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {
/// The attributes that describe a window; those that are null have defaults.
struct WindowAttributes {
  ArrayRef<int64_t> sizes;
  std::optional<ArrayRef<int64_t>> strides, baseDilations, dilations;
  std::optional<DenseIntElementsAttr> padding;
  std::optional<ArrayRef<bool>> reversal;

  LogicalResult verify(Operation *op) const;
  SmallVector<WindowDimension> get() const;
};
} // namespace

LogicalResult WindowAttributes::verify(Operation *op) const {
  auto verifyList =
      [&](StringRef name,
          std::optional<ArrayRef<int64_t>> list) -> LogicalResult {
    if (!list)
      return success();
    if (list->size() != sizes.size())
      return op->emitOpError("requires ")
             << name << " for each of the " << sizes.size()
             << " dimensions of the window, but got " << list->size();
    for (int64_t value : *list)
      if (value < 1)
        return op->emitOpError("requires positive ")
               << name << ", but got [" << *list << "]";
    return success();
  };
  if (failed(verifyList("window sizes", sizes)) ||
      failed(verifyList("window strides", strides)) ||
      failed(verifyList("base dilations", baseDilations)) ||
      failed(verifyList("window dilations", dilations)))
    return failure();
  int64_t rank = sizes.size();
  if (padding && padding->getType().getShape() != ArrayRef<int64_t>({rank, 2}))
    return op->emitOpError("requires padding before and behind each of the ")
           << rank << " dimensions of the window, but got "
           << padding->getType();
  if (reversal && reversal->size() != sizes.size())
    return op->emitOpError("requires a reversal for each of the ")
           << rank << " dimensions of the window, but got " << reversal->size();
  return success();
}

SmallVector<WindowDimension> WindowAttributes::get() const {
  SmallVector<WindowDimension> window(sizes.size());
  SmallVector<int64_t> pads(2 * sizes.size(), 0);
  if (padding)
    pads = llvm::to_vector(padding->getValues<int64_t>());
  for (auto [dim, each] : llvm::enumerate(window)) {
    each.size = sizes[dim];
    each.low = pads[2 * dim];
    each.high = pads[2 * dim + 1];
    if (strides)
      each.stride = (*strides)[dim];
    if (baseDilations)
      each.baseDilation = (*baseDilations)[dim];
    if (dilations)
      each.dilation = (*dilations)[dim];
    if (reversal)
      each.isReversed = (*reversal)[dim];
  }
  return window;
}

/// One window size for each dimension of the tensor.
static LogicalResult verifyWindowRank(Operation *op, RankedTensorType type,
                                      ArrayRef<int64_t> sizes) {
  if (sizes.size() == static_cast<size_t>(type.getRank()))
    return success();
  return op->emitOpError("requires a window of ")
         << type.getRank() << " dimensions, but got " << sizes.size();
}

/// The number of windows along each dimension.
static SmallVector<int64_t> getWindowCounts(ArrayRef<WindowDimension> window,
                                            ArrayRef<int64_t> base) {
  return llvm::map_to_vector(llvm::zip_equal(window, base), [](auto pair) {
    return std::get<0>(pair).getCount(std::get<1>(pair));
  });
}

//===----------------------------------------------------------------------===//
// ConvolutionOp
//===----------------------------------------------------------------------===//

static WindowAttributes getAttributes(ConvolutionOp op,
                                      SmallVectorImpl<int64_t> &sizes) {
  RankedTensorType kernel = getTensorType(op.getRhs());
  for (int64_t dim : op.getDimensionNumbers().getKernelSpatialDimensions())
    sizes.push_back(kernel.getDimSize(dim));
  return {sizes,
          op.getWindowStrides(),
          op.getLhsDilation(),
          op.getRhsDilation(),
          op.getPadding(),
          op.getWindowReversal()};
}

SmallVector<WindowDimension> ConvolutionOp::getWindow() {
  SmallVector<int64_t> sizes;
  return getAttributes(*this, sizes).get();
}

/// The dimension numbers of one tensor name each of its dimensions.
static LogicalResult verifyConvDims(OpError error, StringRef name,
                                    int64_t first, int64_t second,
                                    ArrayRef<int64_t> spatial, int64_t rank) {
  SmallVector<int64_t> dims = {first, second};
  llvm::append_range(dims, spatial);
  if (dims.size() != static_cast<size_t>(rank))
    return error("names ", dims.size(), " dimensions of ", name,
                 ", which has rank ", rank);
  return verifyDimensions(error, name, dims, rank);
}

static LogicalResult verifyDimensionNumbers(ConvolutionOp op) {
  ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  OpError error(op);
  if (failed(verifyConvDims(error, "lhs", numbers.getInputBatchDimension(),
                            numbers.getInputFeatureDimension(),
                            numbers.getInputSpatialDimensions(),
                            getTensorType(op.getLhs()).getRank())) ||
      failed(verifyConvDims(error, "rhs",
                            numbers.getKernelInputFeatureDimension(),
                            numbers.getKernelOutputFeatureDimension(),
                            numbers.getKernelSpatialDimensions(),
                            getTensorType(op.getRhs()).getRank())))
    return failure();
  if (getTensorType(op.getRhs()).getRank() !=
      getTensorType(op.getLhs()).getRank())
    return op.emitOpError("requires operands of one rank, but got ")
           << op.getLhs().getType() << " and " << op.getRhs().getType();
  return verifyConvDims(error, "the result", numbers.getOutputBatchDimension(),
                        numbers.getOutputFeatureDimension(),
                        numbers.getOutputSpatialDimensions(),
                        op.getType().getRank());
}

static LogicalResult verifyGroups(ConvolutionOp op) {
  ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  RankedTensorType lhs = getTensorType(op.getLhs());
  RankedTensorType rhs = getTensorType(op.getRhs());
  int64_t featureGroups = op.getFeatureGroupCount();
  int64_t batchGroups = op.getBatchGroupCount();
  if (featureGroups > 1 && batchGroups > 1)
    return op.emitOpError("requires feature_group_count or batch_group_count "
                          "to be 1, but they are ")
           << featureGroups << " and " << batchGroups;
  auto verifyMultiple = [&](StringRef name, int64_t size,
                            int64_t groups) -> LogicalResult {
    if (size % groups == 0)
      return success();
    return op.emitOpError("cannot cut ")
           << name << " of size " << size << " into " << groups << " groups";
  };
  int64_t batch = lhs.getDimSize(numbers.getInputBatchDimension());
  int64_t features = lhs.getDimSize(numbers.getInputFeatureDimension());
  int64_t outputs = rhs.getDimSize(numbers.getKernelOutputFeatureDimension());
  if (failed(verifyMultiple("the batch", batch, batchGroups)) ||
      failed(verifyMultiple("the input features", features, featureGroups)) ||
      failed(verifyMultiple("the output features", outputs, batchGroups)) ||
      failed(verifyMultiple("the output features", outputs, featureGroups)))
    return failure();
  int64_t kernelFeatures =
      rhs.getDimSize(numbers.getKernelInputFeatureDimension());
  if (kernelFeatures != features / featureGroups)
    return op.emitOpError("requires a kernel of ")
           << features / featureGroups << " input features, but got "
           << kernelFeatures;
  return success();
}

LogicalResult ConvolutionOp::verify() {
  SmallVector<int64_t> sizes;
  if (failed(verifyDimensionNumbers(*this)) || failed(verifyGroups(*this)) ||
      failed(getAttributes(*this, sizes).verify(*this)))
    return failure();
  if (std::optional<ArrayAttr> config = getPrecisionConfig();
      config && !config->empty() && config->size() != 2)
    return emitOpError("requires a precision for each of the 2 operands, but "
                       "got ")
           << config->size();
  ConvDimensionNumbersAttr numbers = getDimensionNumbers();
  RankedTensorType lhs = getTensorType(getLhs());
  SmallVector<int64_t> shape(getType().getRank());
  shape[numbers.getOutputBatchDimension()] =
      lhs.getDimSize(numbers.getInputBatchDimension()) / getBatchGroupCount();
  shape[numbers.getOutputFeatureDimension()] =
      getTensorType(getRhs()).getDimSize(
          numbers.getKernelOutputFeatureDimension());
  for (auto [each, input, output] :
       llvm::zip_equal(getWindow(), numbers.getInputSpatialDimensions(),
                       numbers.getOutputSpatialDimensions()))
    shape[output] = each.getCount(lhs.getDimSize(input));
  if (getType().getShape() != ArrayRef(shape))
    return emitOpError("requires a result of type ")
           << getType().clone(shape) << ", but it is " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// ReduceWindowOp
//===----------------------------------------------------------------------===//

static WindowAttributes getAttributes(ReduceWindowOp op) {
  return {op.getWindowDimensions(), op.getWindowStrides(),
          op.getBaseDilations(),    op.getWindowDilations(),
          op.getPadding(),          std::nullopt};
}

SmallVector<WindowDimension> ReduceWindowOp::getWindow() {
  return getAttributes(*this).get();
}

LogicalResult ReduceWindowOp::verify() {
  if (getInputs().empty())
    return emitOpError("requires at least one input");
  if (getNumResults() != getInputs().size())
    return emitOpError("requires as many results as inputs, but got ")
           << getNumResults() << " and " << getInputs().size();
  RankedTensorType first = getTensorType(getInputs().front());
  if (failed(verifyWindowRank(*this, first, getWindowDimensions())) ||
      failed(getAttributes(*this).verify(*this)))
    return failure();
  SmallVector<int64_t> shape = getWindowCounts(getWindow(), first.getShape());
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults())) {
    if (getTensorType(input).getShape() != first.getShape())
      return emitOpError("requires inputs of one shape, but got ")
             << first << " and " << input.getType();
    if (getTensorType(result).getShape() != ArrayRef(shape))
      return emitOpError("requires a result of type ")
             << getTensorType(result).clone(shape) << ", but it is "
             << result.getType();
  }
  return success();
}

LogicalResult ReduceWindowOp::verifyRegions() {
  return verifyReduction(*this, getBody(), getInputs(), getInitValues());
}

//===----------------------------------------------------------------------===//
// SelectAndScatterOp
//===----------------------------------------------------------------------===//

static WindowAttributes getAttributes(SelectAndScatterOp op,
                                      SmallVectorImpl<int64_t> &sizes) {
  sizes.assign(getTensorType(op.getOperand()).getRank(), 1);
  if (std::optional<ArrayRef<int64_t>> given = op.getWindowDimensions())
    sizes.assign(given->begin(), given->end());
  return {sizes,        op.getWindowStrides(), std::nullopt,
          std::nullopt, op.getPadding(),       std::nullopt};
}

SmallVector<WindowDimension> SelectAndScatterOp::getWindow() {
  SmallVector<int64_t> sizes;
  return getAttributes(*this, sizes).get();
}

LogicalResult SelectAndScatterOp::verify() {
  RankedTensorType type = getTensorType(getOperand());
  SmallVector<int64_t> sizes;
  WindowAttributes attributes = getAttributes(*this, sizes);
  if (failed(verifyWindowRank(*this, type, sizes)) ||
      failed(attributes.verify(*this)))
    return failure();
  RankedTensorType source =
      type.clone(getWindowCounts(attributes.get(), type.getShape()));
  if (getSource().getType() != source)
    return emitOpError("requires a source of type ")
           << source << ", but it is " << getSource().getType();
  if (getType().getShape() != type.getShape())
    return emitOpError("requires a result of type ")
           << getType().clone(type.getShape()) << ", but it is " << getType();
  return success();
}

LogicalResult SelectAndScatterOp::verifyRegions() {
  Type scalar =
      RankedTensorType::get({}, getTensorType(getOperand()).getElementType());
  Type boolean = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (getSelect().getArgumentTypes() != TypeRange({scalar, scalar}))
    return emitOpError("requires a selection of (")
           << scalar << ", " << scalar << "), but its arguments are ("
           << getSelect().getArgumentTypes() << ")";
  if (failed(verifyReturnedTypes(*this, "selection", getSelect(), boolean)) ||
      failed(verifyCombiner(*this, getScatter(), getSource().getType())))
    return failure();
  Type element = getTensorType(getScatter().getArgument(0)).getElementType();
  if (getTensorType(getInitValue()).getElementType() != element ||
      getType().getElementType() != element)
    return emitOpError("requires initial value and result to have the region's "
                       "element type ")
           << element << ", but they have "
           << getTensorType(getInitValue()).getElementType() << " and "
           << getType().getElementType();
  return success();
}
