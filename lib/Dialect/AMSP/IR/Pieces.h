//===- Pieces.h - The two sides of a collective -----------------*- C++ -*-===//

#ifndef AMSP_LIB_DIALECT_AMSP_IR_PIECES_H
#define AMSP_LIB_DIALECT_AMSP_IR_PIECES_H

#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "mlir/IR/Operation.h"

namespace amsp {

/// Checks that `piece` is what a member of `group` holds of `full`; `op` is
/// what a diagnostic is about.
mlir::LogicalResult verifyPieces(mlir::Operation *op,
                                 mlir::RankedTensorType full,
                                 mlir::RankedTensorType piece, GroupAttr group,
                                 std::optional<int64_t> dim, int64_t keep);

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_IR_PIECES_H
