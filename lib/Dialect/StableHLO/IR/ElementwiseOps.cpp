//===- ElementwiseOps.cpp - Elementwise ops -------------------------------===//

#include "Verification.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace amsp::stablehlo;

LogicalResult amsp::stablehlo::detail::verifyElementwise(Operation *op) {
  auto shapeOf = [](Value value) {
    return cast<ShapedType>(value.getType()).getShape();
  };
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  for (Value result : op->getResults())
    if (shapeOf(result) != shape)
      return op->emitOpError("requires results of one shape");
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (!shapeOf(operand).empty() && shapeOf(operand) != shape)
      return op->emitOpError()
             << "requires operand #" << index
             << " to be of the result's shape or a scalar, "
                "but they are "
             << operand.getType() << " and " << op->getResult(0).getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Result types
//===----------------------------------------------------------------------===//

/// The real type of a complex one; every other type as it is.
static Type getRealType(Type elementType) {
  if (auto complex = dyn_cast<ComplexType>(elementType))
    return complex.getElementType();
  return elementType;
}

LogicalResult AbsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getOperand());
  types.push_back(type.clone(getRealType(type.getElementType())));
  return success();
}

LogicalResult RealOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getOperand());
  types.push_back(type.clone(getRealType(type.getElementType())));
  return success();
}

LogicalResult ImagOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getOperand());
  types.push_back(type.clone(getRealType(type.getElementType())));
  return success();
}

LogicalResult ComplexOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getLhs());
  types.push_back(type.clone(ComplexType::get(type.getElementType())));
  return success();
}

LogicalResult IsFiniteOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getOperand());
  types.push_back(type.clone(IntegerType::get(context, 1)));
  return success();
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getLhs());
  types.push_back(type.clone(IntegerType::get(context, 1)));
  return success();
}

//===----------------------------------------------------------------------===//
// CompareOp
//===----------------------------------------------------------------------===//

/// Whether elements of the type can be ordered that way.
static bool isComparable(Type elementType, ComparisonType type) {
  switch (type) {
  case ComparisonType::NOTYPE:
    return true;
  case ComparisonType::FLOAT:
    return isa<FloatType, ComplexType>(elementType);
  case ComparisonType::TOTALORDER:
    return isa<FloatType>(elementType);
  case ComparisonType::SIGNED:
    return elementType.isSignlessInteger() && !elementType.isInteger(1);
  case ComparisonType::UNSIGNED:
    return elementType.isUnsignedInteger() || elementType.isInteger(1);
  }
  llvm_unreachable("unknown comparison type");
}

LogicalResult CompareOp::verify() {
  Type elementType = getTensorType(getLhs()).getElementType();
  if (std::optional<ComparisonType> type = getCompareType();
      type && !isComparable(elementType, *type))
    return emitOpError("comparison ")
           << stringifyComparisonType(*type)
           << " does not apply to elements of type " << elementType;
  ComparisonDirection direction = getComparisonDirection();
  if (isa<ComplexType>(elementType) && direction != ComparisonDirection::EQ &&
      direction != ComparisonDirection::NE)
    return emitOpError("complex numbers compare as EQ or NE only");
  return success();
}

//===----------------------------------------------------------------------===//
// ConvertOp
//===----------------------------------------------------------------------===//

void ConvertOp::build(OpBuilder &builder, OperationState &state, Value operand,
                      Type elementType) {
  build(builder, state, getTensorType(operand).clone(elementType), operand);
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  return {};
}
