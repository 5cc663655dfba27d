//===- ContractionOps.cpp - Contractions ----------------------------------===//

#include "Verification.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace amsp::stablehlo;

/// Batching dimensions, the free ones of lhs, the free ones of rhs.
static SmallVector<int64_t> getDotShape(RankedTensorType lhs,
                                        RankedTensorType rhs,
                                        DotDimensionNumbersAttr numbers) {
  SmallVector<int64_t> shape;
  for (int64_t dim : numbers.getLhsBatchingDimensions())
    shape.push_back(lhs.getDimSize(dim));
  auto appendFree = [&](RankedTensorType type, ArrayRef<int64_t> batching,
                        ArrayRef<int64_t> contracting) {
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (!llvm::is_contained(batching, dim) &&
          !llvm::is_contained(contracting, dim))
        shape.push_back(size);
  };
  appendFree(lhs, numbers.getLhsBatchingDimensions(),
             numbers.getLhsContractingDimensions());
  appendFree(rhs, numbers.getRhsBatchingDimensions(),
             numbers.getRhsContractingDimensions());
  return shape;
}

void DotGeneralOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                         Value rhs, DotDimensionNumbersAttr dimensionNumbers,
                         ArrayAttr precisionConfig, Type elementType) {
  RankedTensorType lhsType = getTensorType(lhs);
  auto type = RankedTensorType::get(
      getDotShape(lhsType, getTensorType(rhs), dimensionNumbers),
      elementType ? elementType : lhsType.getElementType());
  build(builder, state, type, lhs, rhs, dimensionNumbers, precisionConfig,
        /*algorithm=*/nullptr);
}

/// Paired dimensions are as many on both sides and of the same sizes.
static LogicalResult verifyPairs(DotGeneralOp op, StringRef name,
                                 ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  if (lhs.size() != rhs.size())
    return op.emitOpError("requires as many ")
           << name << " dimensions of lhs as of rhs, but got " << lhs.size()
           << " and " << rhs.size();
  RankedTensorType lhsType = getTensorType(op.getLhs());
  RankedTensorType rhsType = getTensorType(op.getRhs());
  for (auto [lhsDim, rhsDim] : llvm::zip(lhs, rhs))
    if (lhsType.getDimSize(lhsDim) != rhsType.getDimSize(rhsDim))
      return op.emitOpError()
             << name << " dimensions differ in size: " << lhsDim << " of "
             << lhsType << " and " << rhsDim << " of " << rhsType;
  return success();
}

LogicalResult DotGeneralOp::verify() {
  DotDimensionNumbersAttr numbers = getDotDimensionNumbers();
  RankedTensorType lhsType = getTensorType(getLhs());
  RankedTensorType rhsType = getTensorType(getRhs());
  OpError error(*this);
  if (failed(verifyDimensions(error, "the dimensions of lhs",
                              llvm::to_vector(llvm::concat<const int64_t>(
                                  numbers.getLhsBatchingDimensions(),
                                  numbers.getLhsContractingDimensions())),
                              lhsType.getRank())) ||
      failed(verifyDimensions(error, "the dimensions of rhs",
                              llvm::to_vector(llvm::concat<const int64_t>(
                                  numbers.getRhsBatchingDimensions(),
                                  numbers.getRhsContractingDimensions())),
                              rhsType.getRank())) ||
      failed(verifyPairs(*this, "batching", numbers.getLhsBatchingDimensions(),
                         numbers.getRhsBatchingDimensions())) ||
      failed(verifyPairs(*this, "contracting",
                         numbers.getLhsContractingDimensions(),
                         numbers.getRhsContractingDimensions())))
    return failure();
  SmallVector<int64_t> shape = getDotShape(lhsType, rhsType, numbers);
  if (getType().getShape() != ArrayRef(shape))
    return emitOpError("requires a result of type ")
           << getType().clone(shape) << ", but it is " << getType();
  if (std::optional<ArrayAttr> config = getPrecisionConfig();
      config && !config->empty() && config->size() != 2)
    return emitOpError("requires a precision for each of the 2 operands, but "
                       "got ")
           << config->size();
  return success();
}
