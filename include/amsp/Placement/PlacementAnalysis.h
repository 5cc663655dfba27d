//===- PlacementAnalysis.h - Placements of every value of a step *- C++ -*-===//

#ifndef AMSP_PLACEMENT_PLACEMENTANALYSIS_H
#define AMSP_PLACEMENT_PLACEMENTANALYSIS_H

#include "amsp/Placement/CountedLoop.h"
#include "amsp/Placement/PlacementOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace amsp::stablehlo {
class CaseOp;
class WhileOp;
} // namespace amsp::stablehlo

namespace amsp {

/// Placements of every value of a step whose calls are inlined, for given
/// placements of its arguments, and where each partial sum is completed.
///
/// A fixed point of the ops' rules gives each value the placement in which it
/// is made (`getNatural`). Where a partial value is completed is a minimum cut
/// through the linear ops between the contractions that make it and the uses
/// that need its value, by bytes times trip counts; ties go to the latest
/// values. From a completed value on, all uses share it (`getPlacement`). It is
/// completed to a flat placement if a chain of elementwise ops leads from it to
/// flat states: so gradients are found, not declared. One that a loop stacks
/// slice by slice is completed in the iteration that makes the slice, one that
/// it accumulates, to pieces of G where it is added. Rows that an op moves
/// between ranks are cut anew behind it (Recut.h). A flat value that ops take
/// whole again and again is gathered once (WholeValues.h). A loop's carry of
/// which no rank needs more than its piece is computed in pieces
/// (PlacementDemand.h).
class PlacementAnalysis {
public:
  /// `arguments`: one placement per argument of `step`, `results`: the one in
  /// which each result is to be returned, where that is fixed.
  PlacementAnalysis(mlir::func::FuncOp step,
                    llvm::ArrayRef<Placement> arguments,
                    llvm::ArrayRef<std::optional<Placement>> results,
                    PlacementContext context);

  /// The placement in which the value's op makes it.
  Placement getNatural(mlir::Value value) const;
  /// The placement in which uses find it: that of its completion, recut or
  /// gather, if any.
  Placement getPlacement(mlir::Value value) const;
  bool isCompleted(mlir::Value value) const {
    return completions.contains(value);
  }
  /// Completed values and their placements, in the order they were decided.
  const llvm::MapVector<mlir::Value, Placement> &getCompletions() const {
    return completions;
  }

  /// The placements an op takes and gives. Not for `while` and terminators; of
  /// `case`, only what it takes.
  Transfer getTransfer(mlir::Operation *op) const;
  /// The placement of a value that a terminator hands on: of a loop's carry, of
  /// a conditional's result, or of the step's result.
  Placement getYielded(mlir::OpOperand &operand) const;
  const PlacementContext &getContext() const { return context; }
  /// How often an op was looked at for its placements, all ops together.
  int64_t getNumVisits() const { return numVisits; }

private:
  void run();
  void visitBlock(mlir::Block &block);
  void visitWhile(stablehlo::WhileOp loop);
  void visitCase(stablehlo::CaseOp branches);
  bool completePartials();
  bool pullFlatCompletions();
  bool demandFlat(mlir::Value value, const Placement &asked);
  bool placeGradientCarries();
  bool placeGradientCarry(stablehlo::WhileOp loop, unsigned index,
                          const Placement &placement);
  bool placeDemandedCarries();
  bool keepWholeValues();
  bool keepsPieces(mlir::Value value, int64_t keep,
                   mlir::OpOperand *yield) const;
  void setNatural(mlir::Value value, const Placement &placement);

  mlir::func::FuncOp step;
  llvm::SmallVector<std::optional<Placement>> results;
  PlacementContext context;
  llvm::DenseMap<mlir::Value, Placement> natural;
  llvm::MapVector<mlir::Value, Placement> completions;
  llvm::DenseMap<mlir::Value, Placement> recuts;
  /// Placements of the loop carries (arguments of the body) that accumulate
  /// gradients, or stack them slice by slice.
  llvm::DenseMap<mlir::Value, Placement> gradientCarries;
  /// Placements of the loop carries (arguments of the body) that would be
  /// replicated if all their uses did not take the same pieces.
  llvm::DenseMap<mlir::Value, Placement> demandedCarries;
  llvm::DenseSet<mlir::Value> demanded;
  /// Flat values that are gathered where they are made.
  llvm::DenseSet<mlir::Value> wholes;
  int64_t numVisits = 0;
};

} // namespace amsp

#endif // AMSP_PLACEMENT_PLACEMENTANALYSIS_H
