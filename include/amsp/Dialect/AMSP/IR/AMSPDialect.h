//===- AMSPDialect.h - The amsp dialect -------------------------*- C++ -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPDIALECT_H
#define AMSP_DIALECT_AMSP_IR_AMSPDIALECT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "amsp/Dialect/AMSP/IR/AMSPDialect.h.inc"

namespace amsp {

/// Names of the attributes that passes put on arguments and results.
constexpr llvm::StringLiteral kRoleAttr = "amsp.role";
constexpr llvm::StringLiteral kResultAttr = "amsp.result";
constexpr llvm::StringLiteral kArgumentAttr = "amsp.argument";
constexpr llvm::StringLiteral kUnitAttr = "amsp.unit";
constexpr llvm::StringLiteral kPlacementAttr = "amsp.placement";
constexpr llvm::StringLiteral kGlobalTypeAttr = "amsp.global_type";
constexpr llvm::StringLiteral kNameAttr = "amsp.name";
/// On an argument or result that rests as another step's state does: the
/// leading dimensions that its pieces keep.
constexpr llvm::StringLiteral kTrainedAttr = "amsp.trained";

} // namespace amsp

#endif // AMSP_DIALECT_AMSP_IR_AMSPDIALECT_H
