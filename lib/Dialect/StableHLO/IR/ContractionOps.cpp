//===- ContractionOps.cpp - Contractions ----------------------------------===//

#include "Inference.h"
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
