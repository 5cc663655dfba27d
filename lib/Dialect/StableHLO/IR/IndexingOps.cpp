//===- IndexingOps.cpp - Positions known at run time ----------------------===//

#include "Verification.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace amsp::stablehlo;

//===----------------------------------------------------------------------===//
// DynamicSliceOp, DynamicUpdateSliceOp
//===----------------------------------------------------------------------===//

/// Some part of the given sizes lies inside the operand, at one index per
/// dimension, all of one type.
static LogicalResult verifyDynamicPart(OpError error, RankedTensorType operand,
                                       ArrayRef<int64_t> sizes,
                                       ValueRange startIndices) {
  if (sizes.size() != static_cast<size_t>(operand.getRank()) ||
      startIndices.size() != sizes.size())
    return error("requires one start index and one size for each of the ",
                 operand.getRank(), " dimensions, but got ",
                 startIndices.size(), " and ", sizes.size());
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size < 0 || size > operand.getDimSize(dim))
      return error("part of size ", size, " does not fit dimension ", dim,
                   " of ", operand);
  if (!llvm::all_equal(startIndices.getTypes()))
    return error("requires start indices of one type");
  return success();
}

LogicalResult DynamicSliceOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getOperand());
  if (failed(verifyDynamicPart(OpError(location, getOperationName()), type,
                               adaptor.getSliceSizes(),
                               adaptor.getStartIndices())))
    return failure();
  types.push_back(type.clone(adaptor.getSliceSizes()));
  return success();
}

LogicalResult DynamicUpdateSliceOp::verify() {
  RankedTensorType update = getTensorType(getUpdate());
  if (update.getElementType() != getType().getElementType())
    return emitOpError("requires an update of element type ")
           << getType().getElementType() << ", but it is " << update;
  return verifyDynamicPart(OpError(*this), getType(), update.getShape(),
                           getStartIndices());
}

//===----------------------------------------------------------------------===//
// What gather and scatter share: windows of an operand, each at an index
//===----------------------------------------------------------------------===//

namespace {
/// The dimension numbers of a gather or a scatter under common names.
struct WindowDimensions {
  /// Of the windowed tensor (gather's result, scatter's updates): the
  /// dimensions inside a window. The others are the indices' dimensions.
  ArrayRef<int64_t> window;
  /// Of the operand: left out of a window.
  ArrayRef<int64_t> collapsed;
  /// Of the operand and of the indices: walked through together.
  ArrayRef<int64_t> operandBatching, indicesBatching;
  /// Of the operand: what each component of an index addresses.
  ArrayRef<int64_t> indexMap;
  /// Of the indices: the dimension that holds an index's components.
  int64_t indexVector;

  explicit WindowDimensions(GatherDimensionNumbersAttr numbers)
      : window(numbers.getOffsetDims()),
        collapsed(numbers.getCollapsedSliceDims()),
        operandBatching(numbers.getOperandBatchingDims()),
        indicesBatching(numbers.getStartIndicesBatchingDims()),
        indexMap(numbers.getStartIndexMap()),
        indexVector(numbers.getIndexVectorDim()) {}
  explicit WindowDimensions(ScatterDimensionNumbersAttr numbers)
      : window(numbers.getUpdateWindowDims()),
        collapsed(numbers.getInsertedWindowDims()),
        operandBatching(numbers.getInputBatchingDims()),
        indicesBatching(numbers.getScatterIndicesBatchingDims()),
        indexMap(numbers.getScatterDimsToOperandDims()),
        indexVector(numbers.getIndexVectorDim()) {}

  /// Whether a window lacks the operand's dimension.
  bool isLeftOut(int64_t operandDim) const {
    return llvm::is_contained(collapsed, operandDim) ||
           llvm::is_contained(operandBatching, operandDim);
  }

  /// The sizes of the indices' dimensions, without that of the components.
  SmallVector<int64_t> getIndexedShape(RankedTensorType indices) const {
    SmallVector<int64_t> shape;
    for (auto [dim, size] : llvm::enumerate(indices.getShape()))
      if (static_cast<int64_t>(dim) != indexVector)
        shape.push_back(size);
    return shape;
  }

  LogicalResult verify(OpError error, RankedTensorType operand,
                       RankedTensorType indices) const;

private:
  LogicalResult verifyOperandDims(OpError error,
                                  RankedTensorType operand) const;
  LogicalResult verifyIndices(OpError error, RankedTensorType operand,
                              RankedTensorType indices) const;
};
} // namespace

/// The names of fields that gather and scatter call differently.
static constexpr StringLiteral windowName = "the window dimensions",
                               leftOutName =
                                   "the collapsed and batching dimensions",
                               indexMapName =
                                   "the indexed and batching dimensions",
                               batchingName =
                                   "the indices' batching dimensions";

static SmallVector<int64_t> concat(ArrayRef<int64_t> first,
                                   ArrayRef<int64_t> second) {
  return llvm::to_vector(llvm::concat<const int64_t>(first, second));
}

LogicalResult
WindowDimensions::verifyOperandDims(OpError error,
                                    RankedTensorType operand) const {
  int64_t rank = operand.getRank();
  size_t dims = window.size() + collapsed.size() + operandBatching.size();
  if (dims != static_cast<size_t>(rank))
    return error("requires window, collapsed and batching dimensions for the "
                 "operand's ",
                 rank, " dimensions, but names ", dims);
  for (ArrayRef<int64_t> sorted : {window, collapsed, operandBatching})
    if (!llvm::is_sorted(sorted))
      return error("requires sorted dimensions, but got [", sorted, "]");
  if (failed(verifyDimensions(error, leftOutName,
                              concat(collapsed, operandBatching), rank)))
    return failure();
  return verifyDimensions(error, indexMapName,
                          concat(indexMap, operandBatching), rank);
}

LogicalResult WindowDimensions::verifyIndices(OpError error,
                                              RankedTensorType operand,
                                              RankedTensorType indices) const {
  int64_t rank = indices.getRank();
  if (indexVector < 0 || indexVector > rank)
    return error("index_vector_dim ", indexVector,
                 " is out of range for indices of rank ", rank);
  int64_t components = indexVector < rank ? indices.getDimSize(indexVector) : 1;
  if (indexMap.size() != static_cast<size_t>(components))
    return error("maps ", indexMap.size(),
                 " components of an index, but it has ", components);
  if (failed(verifyDimensions(error, batchingName, indicesBatching, rank)))
    return failure();
  if (llvm::is_contained(indicesBatching, indexVector))
    return error("index_vector_dim ", indexVector, " is a batching dimension");
  if (operandBatching.size() != indicesBatching.size())
    return error(
        "requires as many batching dimensions of the operand as of the "
        "indices, but got ",
        operandBatching.size(), " and ", indicesBatching.size());
  for (auto [operandDim, indicesDim] :
       llvm::zip(operandBatching, indicesBatching))
    if (operand.getDimSize(operandDim) != indices.getDimSize(indicesDim))
      return error("batching dimensions differ in size: ", operandDim, " of ",
                   operand, " and ", indicesDim, " of ", indices);
  return success();
}

LogicalResult WindowDimensions::verify(OpError error, RankedTensorType operand,
                                       RankedTensorType indices) const {
  if (failed(verifyOperandDims(error, operand)) ||
      failed(verifyIndices(error, operand, indices)))
    return failure();
  int64_t windowedRank = window.size() + getIndexedShape(indices).size();
  return verifyDimensions(error, windowName, window, windowedRank);
}

//===----------------------------------------------------------------------===//
// GatherOp
//===----------------------------------------------------------------------===//

static LogicalResult verifySliceSizes(OpError error,
                                      const WindowDimensions &dims,
                                      ArrayRef<int64_t> sizes,
                                      RankedTensorType operand) {
  if (sizes.size() != static_cast<size_t>(operand.getRank()))
    return error("requires a slice size for each of the ", operand.getRank(),
                 " dimensions, but got ", sizes.size());
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (size < 0 || size > operand.getDimSize(dim))
      return error("slice of size ", size, " does not fit dimension ", dim,
                   " of ", operand);
    if (dims.isLeftOut(dim) && size > 1)
      return error("leaves out dimension ", dim, " of a slice, of size ", size);
  }
  return success();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  OpError error(location, getOperationName());
  WindowDimensions dims(adaptor.getDimensionNumbers());
  RankedTensorType operand = getTensorType(adaptor.getOperand());
  RankedTensorType indices = getTensorType(adaptor.getStartIndices());
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  if (failed(dims.verify(error, operand, indices)) ||
      failed(verifySliceSizes(error, dims, sizes, operand)))
    return failure();

  SmallVector<int64_t> indexed = dims.getIndexedShape(indices), window, shape;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!dims.isLeftOut(dim))
      window.push_back(size);
  auto nextIndexed = indexed.begin(), nextWindow = window.begin();
  for (size_t dim = 0; dim < indexed.size() + window.size(); ++dim)
    shape.push_back(llvm::is_contained(dims.window, dim) ? *nextWindow++
                                                         : *nextIndexed++);
  types.push_back(operand.clone(shape));
  return success();
}

//===----------------------------------------------------------------------===//
// ScatterOp
//===----------------------------------------------------------------------===//

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getInputs().getTypes());
  return success();
}

/// Windows fit the operand; the other dimensions are the indices'.
static LogicalResult verifyUpdates(ScatterOp op, const WindowDimensions &dims,
                                   RankedTensorType updates) {
  RankedTensorType operand = getTensorType(op.getInputs().front());
  SmallVector<int64_t> indexed =
      dims.getIndexedShape(getTensorType(op.getScatterIndices()));
  if (updates.getRank() !=
      static_cast<int64_t>(indexed.size() + dims.window.size()))
    return op.emitOpError("requires updates of rank ")
           << indexed.size() + dims.window.size() << ", but got " << updates;
  SmallVector<int64_t> limits;
  for (auto [dim, size] : llvm::enumerate(operand.getShape()))
    if (!dims.isLeftOut(dim))
      limits.push_back(size);
  auto nextIndexed = indexed.begin(), nextLimit = limits.begin();
  for (auto [dim, size] : llvm::enumerate(updates.getShape())) {
    if (llvm::is_contained(dims.window, dim)) {
      if (size > *nextLimit++)
        return op.emitOpError("window dimension ")
               << dim << " of the updates, " << updates
               << ", is larger than the operand's, " << operand;
    } else if (size != *nextIndexed++) {
      return op.emitOpError("dimension ")
             << dim << " of the updates, " << updates
             << ", differs in size from the indices', "
             << op.getScatterIndices().getType();
    }
  }
  return success();
}

LogicalResult ScatterOp::verify() {
  if (getInputs().empty())
    return emitOpError("requires at least one input");
  WindowDimensions dims(getScatterDimensionNumbers());
  RankedTensorType first = getTensorType(getInputs().front());
  if (failed(dims.verify(OpError(*this), first,
                         getTensorType(getScatterIndices()))))
    return failure();
  for (auto [input, update] : llvm::zip_equal(getInputs(), getUpdates())) {
    if (getTensorType(input).getShape() != first.getShape())
      return emitOpError("requires inputs of one shape, but got ")
             << first << " and " << input.getType();
    if (getTensorType(update).getElementType() !=
        getTensorType(input).getElementType())
      return emitOpError("requires updates of the inputs' element types, but "
                         "got ")
             << update.getType() << " for " << input.getType();
    if (failed(verifyUpdates(*this, dims, getTensorType(update))))
      return failure();
  }
  return success();
}

LogicalResult ScatterOp::verifyRegions() {
  return verifyCombiner(*this, getUpdateComputation(), getInputs().getTypes());
}
