//===- StableHLOTraits.h - Traits of the ops --------------------*- C++ -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOTRAITS_H
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOTRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace amsp::stablehlo {

namespace detail {
/// The results have one shape; each operand has that shape or rank 0.
llvm::LogicalResult verifyElementwise(mlir::Operation *op);

/// The op's results have the given types.
llvm::LogicalResult verifyInferredTypes(mlir::Operation *op,
                                        mlir::TypeRange types);
} // namespace detail

/// An element of a result depends only on the operands' elements at the same
/// index, and on rank-0 operands.
template <typename ConcreteType>
class Elementwise : public mlir::OpTrait::TraitBase<ConcreteType, Elementwise> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::verifyElementwise(op);
  }
};

/// The op's `inferReturnTypes` accepts its operands and gives its results'
/// types.
template <typename ConcreteType>
class InferredTypes
    : public mlir::OpTrait::TraitBase<ConcreteType, InferredTypes> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    llvm::SmallVector<mlir::Type> types;
    if (failed(ConcreteType::inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
            op->getRegions(), types)))
      return llvm::failure();
    return detail::verifyInferredTypes(op, types);
  }
};

} // namespace amsp::stablehlo

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOTRAITS_H
