//===- SavedStatistics.h - Statistics that a scan of layers saves -*- C++ -*-=//

#ifndef AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SAVEDSTATISTICS_H
#define AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SAVEDSTATISTICS_H

#include "mlir/IR/Operation.h"

namespace amsp {

/// The scan of the backward pass has an attention of its own for the statistics
/// of its rows. Where it takes what that of the forward pass took in the same
/// layer, the forward scan saves its statistics in stacks, which the backward
/// scan reads; the second attention is gone. Returns how many are.
unsigned saveStatisticsOfScans(mlir::Operation *root);

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_TRANSFORMS_SAVEDSTATISTICS_H
