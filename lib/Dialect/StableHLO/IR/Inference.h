//===- Inference.h - Errors while result types are inferred -----*- C++ -*-===//

#ifndef AMSP_LIB_DIALECT_STABLEHLO_IR_INFERENCE_H
#define AMSP_LIB_DIALECT_STABLEHLO_IR_INFERENCE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace amsp::stablehlo {

/// The error that `op->emitOpError` would give, where there is no op yet.
template <typename OpType, typename... Args>
llvm::LogicalResult inferenceError(std::optional<mlir::Location> location,
                                   Args &&...args) {
  return mlir::emitOptionalError(location, "'", OpType::getOperationName(),
                                 "' op ", std::forward<Args>(args)...);
}

inline mlir::RankedTensorType getTensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace amsp::stablehlo

#endif // AMSP_LIB_DIALECT_STABLEHLO_IR_INFERENCE_H
