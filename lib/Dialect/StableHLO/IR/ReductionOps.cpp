//===- ReductionOps.cpp - Reductions and sorting --------------------------===//

#include "Inference.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace amsp::stablehlo;

/// The type without the given dimensions.
static RankedTensorType dropDimensions(RankedTensorType type,
                                       ArrayRef<int64_t> dimensions) {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dimensions, dim))
      shape.push_back(size);
  return type.clone(shape);
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

void ReduceOp::build(OpBuilder &builder, OperationState &state,
                     ValueRange inputs, ValueRange initValues,
                     ArrayRef<int64_t> dimensions) {
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(dropDimensions(getTensorType(input), dimensions));
  build(builder, state, types, inputs, initValues, dimensions);
}

Operation *ReduceOp::getSingleCombiner() {
  Block &block = getBody().front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return nullptr;
  Operation &combiner = block.front();
  if (combiner.getOperands() != ValueRange(block.getArguments()) ||
      combiner.getNumResults() != 1 || combiner.getNumRegions() != 0 ||
      block.back().getOperands() != ValueRange(combiner.getResults()))
    return nullptr;
  return &combiner;
}

//===----------------------------------------------------------------------===//
// SortOp
//===----------------------------------------------------------------------===//

LogicalResult SortOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getInputs().getTypes());
  return success();
}
