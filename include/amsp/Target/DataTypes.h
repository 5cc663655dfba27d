//===- DataTypes.h - Element types at the C ABI -----------------*- C++ -*-===//

#ifndef AMSP_TARGET_DATATYPES_H
#define AMSP_TARGET_DATATYPES_H

#include "amsp-c/Step.h"
#include "mlir/IR/BuiltinTypes.h"

namespace amsp {

/// The ABI's number of an element type; none for types that no buffer of a step
/// may have. A signless integer counts as signed.
std::optional<amsp_dtype> getDataType(mlir::Type elementType);

/// `f32`, `i64`, ... as the manifest writes it.
llvm::StringRef getDataTypeName(amsp_dtype dtype);

/// Bytes of an element in memory.
int64_t getElementBytes(mlir::Type elementType);

} // namespace amsp

#endif // AMSP_TARGET_DATATYPES_H
