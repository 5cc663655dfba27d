//===- Recut.h - Rows that are cut anew -------------------------*- C++ -*-===//

#ifndef AMSP_PLACEMENT_RECUT_H
#define AMSP_PLACEMENT_RECUT_H

#include "amsp/Placement/PlacementOpInterface.h"

namespace amsp {

/// Some ops move rows of the batch between ranks: the rows of a microbatch cut
/// from the batch, two views joined along it, a reversed order. They run on
/// gathered operands. If they give rows again, the placement in which each rank
/// goes on with its own, and with padding where the ranks do not divide them;
/// so what follows is not computed by all ranks.
///
/// `operands` are the placements in which the op finds its operands, `transfer`
/// what its rule says of them.
std::optional<Placement> getRecut(mlir::Operation *op,
                                  llvm::ArrayRef<Placement> operands,
                                  const Transfer &transfer,
                                  const PlacementContext &context);

/// How many rows there are, where the ranks do not divide them.
std::optional<int64_t> getUnevenRows(mlir::Operation *op,
                                     llvm::ArrayRef<Placement> operands,
                                     const Transfer &transfer,
                                     const PlacementContext &context);

/// True if a slice along the dimension takes out microbatches of the batch that
/// have one row each, which is not cut.
bool takesSingleRows(mlir::Operation *op, int64_t dim);

} // namespace amsp

#endif // AMSP_PLACEMENT_RECUT_H
