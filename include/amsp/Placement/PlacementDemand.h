//===- PlacementDemand.h - Where only pieces are needed ---------*- C++ -*-===//

#ifndef AMSP_PLACEMENT_PLACEMENTDEMAND_H
#define AMSP_PLACEMENT_PLACEMENTDEMAND_H

#include "amsp/Placement/PlacementAnalysis.h"

namespace amsp {

/// For each replicated value of a step, whether all its uses take it in the
/// same pieces, directly or through ops and loops that can be computed in
/// pieces themselves: then no rank needs it whole. A greatest fixed point over
/// the uses, from the results backwards.
class PlacementDemand {
public:
  PlacementDemand(mlir::func::FuncOp step, const PlacementAnalysis &analysis);

  /// The split or flat placement in which all uses take the value; nothing if
  /// some use needs it whole, if uses differ, or if there are none.
  std::optional<Placement> getPieces(mlir::Value value) const;

private:
  /// Each returns whether a demand has changed.
  bool visitBlock(mlir::Block &block);
  bool visitOp(mlir::Operation *op);
  bool visitWhile(stablehlo::WhileOp loop);
  bool visitCase(stablehlo::CaseOp branches);
  bool visitTerminator(mlir::Operation *terminator);
  bool join(mlir::Value value, const Placement &placement);
  bool joinAsDemanded(mlir::Value value, mlir::Value by);

  std::optional<Placement> getAsked(mlir::Operation *op,
                                    const Transfer &transfer,
                                    unsigned operand) const;

  const PlacementAnalysis &analysis;
  /// Replicated: some use needs the value whole. Absent: no use so far.
  llvm::DenseMap<mlir::Value, Placement> demands;
};

} // namespace amsp

#endif // AMSP_PLACEMENT_PLACEMENTDEMAND_H
