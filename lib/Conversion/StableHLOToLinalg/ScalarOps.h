//===- ScalarOps.h - StableHLO ops on scalars -------------------*- C++ -*-===//
//
// The scalar meaning of elementwise StableHLO ops in arith and math. Bodies of
// linalg.generic, regions of reductions and of scatters all come from here.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_SCALAROPS_H
#define AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_SCALAROPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace amsp {

/// The type that arith works on: integers lose their sign.
mlir::Type getSignlessType(mlir::Type type);

/// Emits `op`, an elementwise StableHLO op, on scalars of signless types. The
/// element types of the op say whether integers are signed. Returns null when
/// the op has no scalar form.
mlir::Value emitScalarOp(mlir::ImplicitLocOpBuilder &builder,
                         mlir::Operation *op, mlir::ValueRange operands);

/// Emits the conversion of a scalar from `from` to `to` (element types that may
/// be unsigned), with XLA's semantics: floats saturate, NaN becomes 0.
mlir::Value emitScalarConvert(mlir::ImplicitLocOpBuilder &builder,
                              mlir::Value value, mlir::Type from,
                              mlir::Type to);

/// Emits the block of a reduction or scatter region, whose values are tensors
/// of rank 0, on scalars. `remap` gives the converted form of a value defined
/// outside the region. Fills `results` with the operands of its terminator.
mlir::LogicalResult
emitScalarRegion(mlir::ImplicitLocOpBuilder &builder, mlir::Block &block,
                 mlir::ValueRange arguments,
                 llvm::function_ref<mlir::Value(mlir::Value)> remap,
                 llvm::SmallVectorImpl<mlir::Value> &results);

} // namespace amsp

#endif // AMSP_LIB_CONVERSION_STABLEHLOTOLINALG_SCALAROPS_H
