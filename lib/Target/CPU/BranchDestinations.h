//===- BranchDestinations.h - One buffer per conditional result -*- C++ -*-===//

#ifndef AMSP_LIB_TARGET_CPU_BRANCHDESTINATIONS_H
#define AMSP_LIB_TARGET_CPU_BRANCHDESTINATIONS_H

#include "mlir/IR/Operation.h"

namespace amsp {

/// Gives each tensor that a conditional (`scf.if`, `scf.index_switch`) results
/// in a destination made before it, which every branch writes: an old value
/// that dies there, else a new buffer. So no buffer is chosen at run time.
void placeBranchResults(mlir::Operation *conditional);

} // namespace amsp

#endif // AMSP_LIB_TARGET_CPU_BRANCHDESTINATIONS_H
