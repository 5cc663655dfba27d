//===- WholeValues.h - Flat values that are gathered once -------*- C++ -*-===//

#ifndef AMSP_PLACEMENT_WHOLEVALUES_H
#define AMSP_PLACEMENT_WHOLEVALUES_H

#include "amsp/Placement/PlacementAnalysis.h"

namespace amsp {

/// The flat values that are better whole from where they are made: an op
/// without a rule for pieces takes one whole, and another one what follows from
/// it elementwise. So are the iterates of a matrix update (Muon), each of which
/// would be gathered by itself. Uses of a parameter are none of them: they are
/// gathered where they are used.
llvm::SmallVector<mlir::Value> findWholeValues(mlir::func::FuncOp step,
                                               const PlacementAnalysis &);

} // namespace amsp

#endif // AMSP_PLACEMENT_WHOLEVALUES_H
