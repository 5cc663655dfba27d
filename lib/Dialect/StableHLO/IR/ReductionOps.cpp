//===- ReductionOps.cpp - Reductions and sorting --------------------------===//

#include "Verification.h"
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

LogicalResult ReduceOp::verify() {
  if (getInputs().empty())
    return emitOpError("requires at least one input");
  if (getNumResults() != getInputs().size())
    return emitOpError("requires as many results as inputs, but got ")
           << getNumResults() << " and " << getInputs().size();
  RankedTensorType first = getTensorType(getInputs().front());
  if (failed(verifyDimensions(OpError(*this), "dimensions", getDimensions(),
                              first.getRank())))
    return failure();
  RankedTensorType reduced = dropDimensions(first, getDimensions());
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults())) {
    if (getTensorType(input).getShape() != first.getShape())
      return emitOpError("requires inputs of one shape, but got ")
             << first << " and " << input.getType();
    if (getTensorType(result).getShape() != reduced.getShape())
      return emitOpError("requires a result of type ")
             << reduced.clone(getTensorType(result).getElementType())
             << ", but it is " << result.getType();
  }
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyReduction(*this, getBody(), getInputs(), getInitValues());
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

LogicalResult SortOp::verify() {
  if (getInputs().empty())
    return emitOpError("requires at least one input");
  RankedTensorType first = getTensorType(getInputs().front());
  for (Value input : getInputs())
    if (getTensorType(input).getShape() != first.getShape())
      return emitOpError("requires inputs of one shape, but got ")
             << first << " and " << input.getType();
  int64_t dimension = getDimension(), rank = first.getRank();
  if (dimension < -rank || dimension >= rank)
    return emitOpError("dimension ")
           << dimension << " is out of range for rank " << rank;
  return success();
}

LogicalResult SortOp::verifyRegions() {
  SmallVector<Type> expected;
  for (Value input : getInputs())
    expected.append(
        2, RankedTensorType::get({}, getTensorType(input).getElementType()));
  if (getComparator().getArgumentTypes() != TypeRange(expected))
    return emitOpError("requires a comparator of (")
           << TypeRange(expected) << "), but its arguments are ("
           << getComparator().getArgumentTypes() << ")";
  Type boolean = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  return verifyReturnedTypes(*this, "comparator", getComparator(), boolean);
}

//===----------------------------------------------------------------------===//
// RngBitGeneratorOp
//===----------------------------------------------------------------------===//

LogicalResult RngBitGeneratorOp::verify() {
  RankedTensorType state = getTensorType(getInitialState());
  if (state.getRank() != 1 || !state.getElementType().isUnsignedInteger(64) ||
      (getRngAlgorithm() == RngAlgorithm::THREE_FRY &&
       state.getDimSize(0) != 2))
    return emitOpError("algorithm ")
           << stringifyRngAlgorithm(getRngAlgorithm())
           << " does not take a state of type " << state;
  if (!isa<IntegerType, FloatType>(getTensorType(getOutput()).getElementType()))
    return emitOpError("makes integers or floating-point numbers, not ")
           << getOutput().getType();
  return success();
}
