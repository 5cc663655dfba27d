//===- ShapeOps.cpp - Constants and data movement -------------------------===//

#include "Verification.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace amsp::stablehlo;

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getValue().getType());
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// IotaOp, BitcastConvertOp
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  return verifyDimensions(OpError(*this), "iota_dimension",
                          static_cast<int64_t>(getIotaDimension()),
                          getType().getRank());
}

static int64_t getElementBits(RankedTensorType type) {
  if (auto complex = dyn_cast<ComplexType>(type.getElementType()))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  return type.getElementTypeBitWidth();
}

LogicalResult BitcastConvertOp::verify() {
  RankedTensorType narrow = getTensorType(getOperand()), wide = getType();
  if (getElementBits(narrow) > getElementBits(wide))
    std::swap(narrow, wide);
  int64_t ratio = getElementBits(wide) / getElementBits(narrow);
  SmallVector<int64_t> shape(wide.getShape());
  if (ratio != 1)
    shape.push_back(ratio);
  if (narrow.getShape() != ArrayRef(shape))
    return emitOpError("requires the same bits in the same order, but the "
                       "types are ")
           << getOperand().getType() << " and " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// BroadcastInDimOp, ReshapeOp, ReverseOp
//===----------------------------------------------------------------------===//

LogicalResult BroadcastInDimOp::verify() {
  RankedTensorType operandType = getTensorType(getOperand());
  ArrayRef<int64_t> dimensions = getBroadcastDimensions();
  if (dimensions.size() != static_cast<size_t>(operandType.getRank()))
    return emitOpError("requires one dimension of the result for each of the ")
           << operandType.getRank() << " of the operand, but got "
           << dimensions.size();
  if (failed(verifyDimensions(OpError(*this), "broadcast_dimensions",
                              dimensions, getType().getRank())))
    return failure();
  for (auto [index, dim] : llvm::enumerate(dimensions)) {
    int64_t size = operandType.getDimSize(index);
    if (size != 1 && size != getType().getDimSize(dim))
      return emitOpError("cannot broadcast dimension ")
             << index << " of size " << size << " to dimension " << dim
             << " of size " << getType().getDimSize(dim);
  }
  return success();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType operandType = getTensorType(getOperand());
  if (operandType.getNumElements() != getType().getNumElements())
    return emitOpError("cannot reshape ")
           << operandType.getNumElements() << " elements to "
           << getType().getNumElements();
  return success();
}

LogicalResult ReverseOp::verify() {
  return verifyDimensions(OpError(*this), "dimensions", getDimensions(),
                          getType().getRank());
}

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType() &&
      llvm::is_sorted(getBroadcastDimensions()))
    return getOperand();
  return {};
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto elements =
          dyn_cast_if_present<DenseElementsAttr>(adaptor.getOperand()))
    return elements.reshape(getType());
  return {};
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getOperand());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (permutation.size() != static_cast<size_t>(type.getRank()) ||
      !isPermutationVector(permutation))
    return OpError(location, getOperationName())(
        "requires a permutation of ", type.getRank(), " dimensions, but got [",
        permutation, "]");
  auto shape = llvm::map_to_vector(
      permutation, [&](int64_t dim) { return type.getDimSize(dim); });
  types.push_back(type.clone(shape));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::is_sorted(getPermutation()))
    return getOperand();
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getOperand()))
    return splat.reshape(getType());
  return {};
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getOperand());
  size_t rank = type.getRank();
  if (adaptor.getStartIndices().size() != rank ||
      adaptor.getLimitIndices().size() != rank ||
      adaptor.getStrides().size() != rank)
    return OpError(location, getOperationName())(
        "requires one start, limit and stride for each of the ", rank,
        " dimensions");
  SmallVector<int64_t> shape;
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t start = adaptor.getStartIndices()[dim];
    int64_t limit = adaptor.getLimitIndices()[dim];
    int64_t stride = adaptor.getStrides()[dim];
    if (start < 0 || start > limit || limit > type.getDimSize(dim) ||
        stride < 1)
      return OpError(location, getOperationName())(
          "requires 0 <= start <= limit <= size and stride >= 1, "
          "but dimension ",
          dim, " of size ", type.getDimSize(dim), " is cut as ", start, ':',
          limit, ':', stride);
    shape.push_back(llvm::divideCeil(limit - start, stride));
  }
  types.push_back(type.clone(shape));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getOperand()))
    return splat.resizeSplat(getType());
  return {};
}

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getOperand());
  size_t rank = type.getRank();
  if (adaptor.getEdgePaddingLow().size() != rank ||
      adaptor.getEdgePaddingHigh().size() != rank ||
      adaptor.getInteriorPadding().size() != rank)
    return OpError(location, getOperationName())(
        "requires low, high and interior padding for each of the ", rank,
        " dimensions");
  SmallVector<int64_t> shape;
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t interior = adaptor.getInteriorPadding()[dim];
    if (interior < 0)
      return OpError(location, getOperationName())(
          "requires interior padding >= 0, but dimension ", dim, " has ",
          interior);
    int64_t size = type.getDimSize(dim);
    int64_t padded = adaptor.getEdgePaddingLow()[dim] + size +
                     std::max<int64_t>(size - 1, 0) * interior +
                     adaptor.getEdgePaddingHigh()[dim];
    if (padded < 0)
      return OpError(location, PadOp::getOperationName())(
          "cuts off more than there is of dimension ", dim,
          ": the result's size would be ", padded);
    shape.push_back(padded);
  }
  types.push_back(type.clone(shape));
  return success();
}

//===----------------------------------------------------------------------===//
// ConcatenateOp
//===----------------------------------------------------------------------===//

LogicalResult ConcatenateOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty())
    return OpError(location, ConcatenateOp::getOperationName())(
        "requires at least one input");
  RankedTensorType first = getTensorType(adaptor.getInputs().front());
  int64_t dimension = adaptor.getDimension();
  if (dimension >= first.getRank())
    return OpError(location, ConcatenateOp::getOperationName())(
        "dimension ", dimension, " is out of range for rank ", first.getRank());
  SmallVector<int64_t> shape(first.getShape());
  shape[dimension] = 0;
  for (Value input : adaptor.getInputs()) {
    RankedTensorType type = getTensorType(input);
    SmallVector<int64_t> others(type.getShape());
    if (type.getRank() == first.getRank())
      others[dimension] = first.getDimSize(dimension);
    if (first.getShape() != ArrayRef(others))
      return OpError(location, getOperationName())(
          "requires inputs that differ in dimension ", dimension,
          " only, but they are ", first, " and ", type);
    shape[dimension] += type.getDimSize(dimension);
  }
  types.push_back(first.clone(shape));
  return success();
}

OpFoldResult ConcatenateOp::fold(FoldAdaptor) {
  if (getInputs().size() == 1)
    return getInputs().front();
  return {};
}
