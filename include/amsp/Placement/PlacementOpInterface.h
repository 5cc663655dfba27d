//===- PlacementOpInterface.h - How ops carry placements --------*- C++ -*-===//

#ifndef AMSP_PLACEMENT_PLACEMENTOPINTERFACE_H
#define AMSP_PLACEMENT_PLACEMENTOPINTERFACE_H

#include "amsp/Placement/Placement.h"
#include "mlir/IR/OpDefinition.h"

namespace amsp {

/// Placements that an op takes and gives, one per operand and result.
struct Transfer {
  llvm::SmallVector<Placement> operands, results;
};

/// What rules may know of the cluster. They do not depend on group sizes but
/// for whether the batch's pieces stay whole when a dimension is reshaped.
struct PlacementContext {
  /// Ranks over which the batch is cut.
  int64_t batchPieces = 1;
  /// Whether rows that these ranks do not divide are padded; otherwise every
  /// rank has all of them.
  bool padsRows = true;
  /// Bits in which sums of floating-point values are reduced at least: what a
  /// narrower value costs.
  unsigned minSumBits = 32;
};

/// Everything replicated: right for every op.
Transfer getReplicatedTransfer(mlir::Operation *op);

/// True if the value is a zero of any shape: a constant or its broadcast.
bool isZero(mlir::Value value);

} // namespace amsp

#include "amsp/Placement/PlacementOpInterface.h.inc"

namespace amsp {
/// Attaches the rules of the StableHLO and chlo ops.
void registerPlacementExternalModels(mlir::DialectRegistry &registry);
} // namespace amsp

#endif // AMSP_PLACEMENT_PLACEMENTOPINTERFACE_H
