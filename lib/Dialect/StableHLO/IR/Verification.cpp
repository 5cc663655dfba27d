//===- Verification.cpp - Checks that several ops share -------------------===//

#include "Verification.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOTraits.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace amsp::stablehlo;

LogicalResult amsp::stablehlo::detail::verifyInferredTypes(Operation *op,
                                                           TypeRange types) {
  if (op->getNumResults() != types.size())
    return op->emitOpError("requires ")
           << types.size() << " results, but has " << op->getNumResults();
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
    if (result.getType() != type)
      return op->emitOpError("requires a result of type ")
             << type << ", but it is " << result.getType();
  return success();
}

LogicalResult amsp::stablehlo::verifyDimensions(OpError error, StringRef name,
                                                ArrayRef<int64_t> dimensions,
                                                int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dimension : dimensions) {
    if (dimension < 0 || dimension >= rank)
      return error("dimension ", dimension, " in ", name,
                   " is out of range for rank ", rank);
    if (seen.test(dimension))
      return error("dimension ", dimension, " occurs twice in ", name);
    seen.set(dimension);
  }
  return success();
}

/// Whether a combiner of elements of type `to` may combine those of `from`.
static bool isPromotable(Type from, Type to) {
  if (from == to)
    return true;
  bool sameKind = (isa<IntegerType>(from) && isa<IntegerType>(to) &&
                   from.isUnsignedInteger() == to.isUnsignedInteger()) ||
                  (isa<FloatType>(from) && isa<FloatType>(to));
  return sameKind && from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
}

LogicalResult amsp::stablehlo::verifyCombiner(Operation *op, Region &region,
                                              TypeRange tensors) {
  SmallVector<Type> arguments(region.getArgumentTypes());
  size_t count = tensors.size();
  if (arguments.size() != 2 * count)
    return op->emitOpError("requires a region with ")
           << 2 * count << " arguments, but it has " << arguments.size();
  for (size_t index = 0; index < count; ++index) {
    auto scalar = dyn_cast<RankedTensorType>(arguments[index]);
    Type elementType = cast<ShapedType>(tensors[index]).getElementType();
    if (!scalar || scalar.getRank() != 0 ||
        arguments[index + count] != arguments[index] ||
        !isPromotable(elementType, scalar.getElementType()))
      return op->emitOpError("requires the region's arguments #")
             << index << " and #" << index + count
             << " to be 0-dimensional tensors of " << elementType
             << ", but they are " << arguments[index] << " and "
             << arguments[index + count];
  }
  return verifyReturnedTypes(op, "region", region,
                             ArrayRef(arguments).take_front(count));
}

LogicalResult amsp::stablehlo::verifyReduction(Operation *op, Region &region,
                                               ValueRange inputs,
                                               ValueRange initValues) {
  if (failed(verifyCombiner(op, region, inputs.getTypes())))
    return failure();
  for (auto [index, argument] :
       llvm::enumerate(region.getArguments().take_front(inputs.size()))) {
    Type elementType = getTensorType(argument).getElementType();
    Type initType = getTensorType(initValues[index]).getElementType();
    Type resultType = getTensorType(op->getResult(index)).getElementType();
    if (initType != elementType || resultType != elementType)
      return op->emitOpError("requires initial value and result #")
             << index << " to have the region's element type " << elementType
             << ", but they have " << initType << " and " << resultType;
  }
  return success();
}

LogicalResult amsp::stablehlo::verifyReturnedTypes(Operation *op,
                                                   StringRef name,
                                                   Region &region,
                                                   TypeRange types) {
  TypeRange returned = region.front().getTerminator()->getOperandTypes();
  if (returned != types)
    return op->emitOpError("requires the ")
           << name << " to return (" << types << "), but it returns ("
           << returned << ")";
  return success();
}
