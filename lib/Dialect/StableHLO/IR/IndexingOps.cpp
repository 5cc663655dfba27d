//===- IndexingOps.cpp - Positions known at run time ----------------------===//

#include "Inference.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace amsp::stablehlo;

//===----------------------------------------------------------------------===//
// DynamicSliceOp
//===----------------------------------------------------------------------===//

/// Some part of the given sizes lies inside the operand, at one index per
/// dimension, all of one type.
template <typename OpType>
static LogicalResult
verifyDynamicPart(std::optional<Location> location, RankedTensorType operand,
                  ArrayRef<int64_t> sizes, ValueRange startIndices) {
  if (sizes.size() != static_cast<size_t>(operand.getRank()) ||
      startIndices.size() != sizes.size())
    return inferenceError<OpType>(
        location, "requires one start index and one size for each of the ",
        operand.getRank(), " dimensions, but got ", startIndices.size(),
        " and ", sizes.size());
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size < 0 || size > operand.getDimSize(dim))
      return inferenceError<OpType>(location, "part of size ", size,
                                    " does not fit dimension ", dim, " of ",
                                    operand);
  if (!llvm::all_equal(startIndices.getTypes()))
    return inferenceError<OpType>(location,
                                  "requires start indices of one type");
  return success();
}

LogicalResult DynamicSliceOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getOperand());
  if (failed(verifyDynamicPart<DynamicSliceOp>(location, type,
                                               adaptor.getSliceSizes(),
                                               adaptor.getStartIndices())))
    return failure();
  types.push_back(type.clone(adaptor.getSliceSizes()));
  return success();
}

//===----------------------------------------------------------------------===//
// GatherOp
//===----------------------------------------------------------------------===//

/// The shape of the result, for dimension numbers that are in range.
static SmallVector<int64_t> getGatherShape(GatherOp::Adaptor adaptor) {
  GatherDimensionNumbersAttr numbers = adaptor.getDimensionNumbers();
  SmallVector<int64_t> batch, offset, shape;
  for (auto [dim, size] :
       llvm::enumerate(getTensorType(adaptor.getStartIndices()).getShape()))
    if (static_cast<int64_t>(dim) != numbers.getIndexVectorDim())
      batch.push_back(size);
  for (auto [dim, size] : llvm::enumerate(adaptor.getSliceSizes()))
    if (!llvm::is_contained(numbers.getCollapsedSliceDims(), dim) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), dim))
      offset.push_back(size);
  auto nextBatch = batch.begin(), nextOffset = offset.begin();
  for (size_t dim = 0; dim < batch.size() + offset.size(); ++dim)
    shape.push_back(llvm::is_contained(numbers.getOffsetDims(), dim)
                        ? *nextOffset++
                        : *nextBatch++);
  return shape;
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(
      getTensorType(adaptor.getOperand()).clone(getGatherShape(adaptor)));
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
