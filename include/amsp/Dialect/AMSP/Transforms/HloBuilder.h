//===- HloBuilder.h - Builds StableHLO ops at one place ---------*- C++ -*-===//

#ifndef AMSP_DIALECT_AMSP_TRANSFORMS_HLOBUILDER_H
#define AMSP_DIALECT_AMSP_TRANSFORMS_HLOBUILDER_H

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Support/TensorType.h"

namespace amsp {

/// The shape of a value with all but the leading `keep` dimensions flattened.
inline llvm::SmallVector<int64_t> flattenShape(mlir::RankedTensorType type,
                                               int64_t keep) {
  llvm::SmallVector<int64_t> shape(type.getShape().take_front(keep));
  shape.push_back(
      mlir::ShapedType::getNumElements(type.getShape().drop_front(keep)));
  return shape;
}

/// Builds StableHLO ops at one place.
struct HloBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::Value constant(int64_t value) {
    auto type = mlir::RankedTensorType::get({}, builder.getI32Type());
    return stablehlo::ConstantOp::create(
        builder, loc,
        mlir::DenseElementsAttr::get(type, static_cast<int32_t>(value)));
  }
  mlir::Value zeros(mlir::RankedTensorType type) {
    return stablehlo::ConstantOp::create(
        builder, loc,
        llvm::cast<mlir::ElementsAttr>(builder.getZeroAttr(type)));
  }
  mlir::Value groupIndex(GroupAttr group) {
    auto type = mlir::RankedTensorType::get({}, builder.getI32Type());
    return GroupIndexOp::create(builder, loc, type, group);
  }
  mlir::Value multiply(mlir::Value lhs, int64_t factor) {
    return stablehlo::MulOp::create(builder, loc, lhs, constant(factor));
  }
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape) {
    auto type = mlir::RankedTensorType::get(
        shape, getTensorType(value).getElementType());
    if (value.getType() == type)
      return value;
    return stablehlo::ReshapeOp::create(builder, loc, type, value);
  }
  mlir::Value broadcast(mlir::Value scalar, llvm::ArrayRef<int64_t> shape) {
    auto type = mlir::RankedTensorType::get(
        shape, getTensorType(scalar).getElementType());
    return stablehlo::BroadcastInDimOp::create(builder, loc, type, scalar,
                                               llvm::ArrayRef<int64_t>{});
  }
  /// Extends the last dimension to `size`; what is there is of no matter.
  mlir::Value padLast(mlir::Value value, int64_t size) {
    mlir::RankedTensorType type = getTensorType(value);
    int64_t missing = size - type.getShape().back();
    if (missing == 0)
      return value;
    llvm::SmallVector<int64_t> shape(type.getShape()), none(shape.size(), 0);
    shape.back() = size;
    llvm::SmallVector<int64_t> high = none;
    high.back() = missing;
    mlir::Type element = type.getElementType();
    return stablehlo::PadOp::create(
        builder, loc, mlir::RankedTensorType::get(shape, element), value,
        zeros(mlir::RankedTensorType::get({}, element)), none, high, none);
  }
  /// `size` elements of the last dimension, from `first` on.
  mlir::Value sliceLast(mlir::Value value, int64_t first, int64_t size) {
    mlir::RankedTensorType type = getTensorType(value);
    if (type.getShape().back() == size)
      return value;
    llvm::SmallVector<int64_t> shape(type.getShape()), limits(shape),
        starts(shape.size(), 0), strides(shape.size(), 1);
    starts.back() = first;
    limits.back() = first + size;
    shape.back() = size;
    return stablehlo::SliceOp::create(
        builder, loc, mlir::RankedTensorType::get(shape, type.getElementType()),
        value, starts, limits, strides);
  }
  /// Cuts the last dimension down to `size`.
  mlir::Value truncateLast(mlir::Value value, int64_t size) {
    return sliceLast(value, 0, size);
  }
};

} // namespace amsp

#endif // AMSP_DIALECT_AMSP_TRANSFORMS_HLOBUILDER_H
