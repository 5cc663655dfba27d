//===- PlacementAnalysis.h - Placements of every value of a step *- C++ -*-===//

#ifndef AMSP_PLACEMENT_PLACEMENTANALYSIS_H
#define AMSP_PLACEMENT_PLACEMENTANALYSIS_H

#include "amsp/Placement/PlacementOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace amsp::stablehlo {
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
/// flat states: so gradients are found, not declared. Rows that an op moves
/// between ranks are cut anew behind it (Recut.h).
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
  /// The placement in which uses find it: that of its completion or recut, if
  /// any.
  Placement getPlacement(mlir::Value value) const;
  bool isCompleted(mlir::Value value) const {
    return completions.contains(value);
  }
  /// Completed values and their placements, in the order they were decided.
  const llvm::MapVector<mlir::Value, Placement> &getCompletions() const {
    return completions;
  }

  /// The placements an op takes and gives. Not for `while` and terminators.
  Transfer getTransfer(mlir::Operation *op) const;
  /// The placement of a value that a terminator hands on: of a loop's carry, or
  /// of the step's result.
  Placement getYielded(mlir::OpOperand &operand) const;
  const PlacementContext &getContext() const { return context; }

private:
  void run();
  void visitBlock(mlir::Block &block);
  void visitWhile(stablehlo::WhileOp loop);
  bool completePartials();
  bool pullFlatCompletions();
  bool demandFlat(mlir::Value value, unsigned strategy);
  bool accumulatePieces();
  void setNatural(mlir::Value value, const Placement &placement);

  mlir::func::FuncOp step;
  llvm::SmallVector<std::optional<Placement>> results;
  PlacementContext context;
  llvm::DenseMap<mlir::Value, Placement> natural;
  llvm::MapVector<mlir::Value, Placement> completions;
  llvm::DenseMap<mlir::Value, Placement> recuts;
  /// Loop carries (first region's arguments) that accumulate pieces, and of
  /// which strategy.
  llvm::DenseMap<mlir::Value, unsigned> pieceCarries;
  llvm::DenseSet<mlir::Value> demanded;
};

/// How often a loop is taken to run whose count is not known: more than once,
/// so that sums are completed before it rather than in it.
inline constexpr int64_t kUnknownTripCount = 16;

/// How often a step runs the op: the product of the trip counts of the loops
/// around it.
int64_t getTripCount(mlir::Operation *op);

/// Iterations of a loop whose condition compares a carry, stepped by a
/// constant from a constant, with a constant.
std::optional<int64_t> getLoopTripCount(stablehlo::WhileOp loop);

} // namespace amsp

#endif // AMSP_PLACEMENT_PLACEMENTANALYSIS_H
