//===- Verification.h - Checks that several ops share -----------*- C++ -*-===//

#ifndef AMSP_LIB_DIALECT_STABLEHLO_IR_VERIFICATION_H
#define AMSP_LIB_DIALECT_STABLEHLO_IR_VERIFICATION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace amsp::stablehlo {

/// Says what is wrong as `op->emitOpError` would, also where result types are
/// inferred and there is no op yet.
class OpError {
public:
  OpError(std::optional<mlir::Location> location, llvm::StringRef opName)
      : location(location), opName(opName) {}
  explicit OpError(mlir::Operation *op)
      : OpError(op->getLoc(), op->getName().getStringRef()) {}

  template <typename... Args>
  llvm::LogicalResult operator()(Args &&...args) const {
    return mlir::emitOptionalError(location, "'", opName, "' op ",
                                   std::forward<Args>(args)...);
  }

private:
  std::optional<mlir::Location> location;
  llvm::StringRef opName;
};

inline mlir::RankedTensorType getTensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Each of `dimensions` occurs once and is in [0, rank).
llvm::LogicalResult verifyDimensions(OpError error, llvm::StringRef name,
                                     llvm::ArrayRef<int64_t> dimensions,
                                     int64_t rank);

/// The region takes scalars of the tensors' element types (or wider ones),
/// twice, and returns one of each.
llvm::LogicalResult verifyCombiner(mlir::Operation *op, mlir::Region &region,
                                   mlir::TypeRange tensors);

/// The region combines elements of the inputs, beginning with the initial
/// values, to those of the op's results.
llvm::LogicalResult verifyReduction(mlir::Operation *op, mlir::Region &region,
                                    mlir::ValueRange inputs,
                                    mlir::ValueRange initValues);

/// The region's terminator returns `types`.
llvm::LogicalResult verifyReturnedTypes(mlir::Operation *op,
                                        llvm::StringRef name,
                                        mlir::Region &region,
                                        mlir::TypeRange types);

} // namespace amsp::stablehlo

#endif // AMSP_LIB_DIALECT_STABLEHLO_IR_VERIFICATION_H
