//===- PackedParameters.h - Whose tensors a buffer holds --------*- C++ -*-===//
//
// Small tensors of a collective may move as one buffer, its last tensor. Whose
// they are is said by `amsp.packed` on the collective, two lists of equal
// length:
//
//   amsp.packed = {elements = array<i64: 6, 4>, parameters = array<i64: 0, 2>}
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_DIALECT_AMSP_IR_PACKEDPARAMETERS_H
#define AMSP_DIALECT_AMSP_IR_PACKEDPARAMETERS_H

#include "mlir/IR/Operation.h"

namespace amsp {

inline constexpr llvm::StringLiteral kPackedAttr = "amsp.packed";

struct PackedParameter {
  int64_t parameter; // an argument's number
  int64_t elements;  // of its full side, padding included
};

/// Says whose tensors the last tensor of a collective holds; nothing if it is
/// nobody's.
void setPackedParameters(mlir::Operation *collective,
                         llvm::ArrayRef<PackedParameter> parameters);

/// In the order in which they lie in the buffer; fails if the attribute is not
/// of the form above.
mlir::FailureOr<llvm::SmallVector<PackedParameter>>
getPackedParameters(mlir::Operation *collective);

} // namespace amsp

#endif // AMSP_DIALECT_AMSP_IR_PACKEDPARAMETERS_H
