//===- AsyncCollectives.h - Splits collectives in two -----------*- C++ -*-===//

#ifndef AMSP_COMMUNICATION_ASYNCCOLLECTIVES_H
#define AMSP_COMMUNICATION_ASYNCCOLLECTIVES_H

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp {

/// On the function of a scheduled step: the bytes that its collectives have in
/// flight at most, full sides with padding. The verifiers hold it against that.
inline constexpr llvm::StringLiteral kPrefetchBytesAttr = "amsp.prefetch_bytes";

/// What it says of a step; -1 if the step has none.
int64_t getPrefetchBytes(mlir::func::FuncOp step);

/// Builds the start of `op`, a collective that is not split, at the builder's
/// place.
CollectiveOpInterface createStart(mlir::OpBuilder &builder,
                                  CollectiveOpInterface op);

/// Builds the await of `start` and hands its results to the users of `op`,
/// which then has none.
AwaitOp createAwait(mlir::OpBuilder &builder, CollectiveOpInterface start,
                    CollectiveOpInterface op);

} // namespace amsp

#endif // AMSP_COMMUNICATION_ASYNCCOLLECTIVES_H
