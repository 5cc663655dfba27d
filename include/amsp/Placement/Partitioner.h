//===- Partitioner.h - Rewrites a step as one rank's program ----*- C++ -*-===//

#ifndef AMSP_PLACEMENT_PARTITIONER_H
#define AMSP_PLACEMENT_PARTITIONER_H

#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/PlacementAnalysis.h"
#include "amsp/Placement/PlacementConverter.h"
#include "mlir/IR/IRMapping.h"

namespace amsp {

/// Which rows of the batch are a rank's.
enum class RowOrder {
  /// As many rows next to each other: what placements speak of.
  Blocks,
  /// Every n-th row, of n ranks: the same wherever no op divides what belongs
  /// to
  /// a row, or joins rows.
  Interleaved,
};

/// Rewrites a step for the global batch as the program of one rank, given the
/// placements of its values.
///
/// Local values are made on demand: `get` finds a value in the placement that a
/// use asks for, pulls the placement up into replicated producers, or converts.
/// A flat value that is used whole (a parameter) is gathered in two stages:
/// from the resting pieces of OS to the kept pieces of P once, before its first
/// use; and from these to the whole at each use. A slice that a loop takes of a
/// stack is taken of the kept pieces, and gathered by itself. The whole value,
/// and the chain of shape changes and converts behind it, live in a *window*: a
/// run of uses with no use of another unit between them.
class Partitioner {
public:
  /// `grids`: one per strategy that the placements speak of.
  Partitioner(mlir::func::FuncOp step, const PlacementAnalysis &analysis,
              llvm::ArrayRef<Grid> grids, ReduceType reduceType);

  /// Makes the program for interleaved rows of a batch with so many.
  void interleaveRows(int64_t rows) { interleavedRows = rows; }
  /// Whether a value's split dimension holds no whole number of elements for
  /// each of the interleaved rows, so that the program is not right.
  bool joinsRows() const { return hasJoinedRows; }

  /// Replaces the body and the types of the step. Returns the number of
  /// operands that had to be gathered for want of a rule.
  unsigned run();

private:
  /// The local values of a global one, by placement.
  using LocalValues =
      llvm::DenseMap<mlir::Value,
                     llvm::SmallVector<std::pair<Placement, mlir::Value>, 2>>;

  void processBlock(mlir::Block &block);
  void processOp(mlir::Operation *op);
  void processBarrier(stablehlo::OptimizationBarrierOp barrier);
  void processWhile(stablehlo::WhileOp loop);
  void processCase(stablehlo::CaseOp branches);
  void processRegion(mlir::Region &from, mlir::Region &to,
                     llvm::ArrayRef<Placement> carries);
  mlir::Operation *emitLocal(mlir::Operation *op, const Transfer &transfer,
                             llvm::ArrayRef<mlir::Value> operands);
  mlir::Operation *insertLocal(mlir::Operation *op, mlir::Operation *local,
                               const Transfer &transfer);
  void maskOperands(mlir::Operation *op, mlir::Operation *local,
                    const Transfer &transfer);
  mlir::Value getIdentity(mlir::Operation *op, mlir::Value operand);
  mlir::Value maskPadding(mlir::Operation *op, mlir::Value piece,
                          mlir::RankedTensorType global,
                          const Placement &placement, mlir::Value identity);
  void define(mlir::Value value, mlir::Value local);
  void remarkGathers(mlir::Operation *op, const Transfer &transfer);

  void checkRows(mlir::Value value, const Placement &placement);
  mlir::Value get(mlir::Value value, const Placement &placement);
  mlir::Value make(mlir::Value value, const Placement &placement);
  mlir::Value pullUp(mlir::Value value, const Placement &placement);
  mlir::Value pullConstant(mlir::Operation *op, const Placement &placement);
  mlir::Value pullElement(stablehlo::BroadcastInDimOp broadcast,
                          const Placement &placement);
  mlir::Value pullIota(stablehlo::IotaOp iota, const Placement &placement);
  std::optional<Placement> pullBroadcast(mlir::Value value,
                                         const Placement &placement) const;
  bool isWidened(mlir::Value value) const;
  mlir::Value widen(mlir::Value value);
  mlir::Value getWhole(mlir::Value value);
  mlir::Value getKept(mlir::Value value);
  Placement getKeptPlacement(mlir::Value value) const;
  mlir::Value getUse(mlir::Value value, const Placement &placement);

  /// The state, or use of state, that optimization barriers hand on as this
  /// value; else the value itself.
  mlir::Value skipBarriers(mlir::Value value) const;
  bool isUseChain(mlir::Value value) const;
  /// The flat value at the root of a use chain, or the value itself.
  mlir::Value getChainRoot(mlir::Value value) const;
  /// The flat operand of an op that takes a flat value apart, or changes its
  /// shape or type; null for other values.
  mlir::Value getStateOperand(mlir::Value value) const;
  /// The parameter argument that a flat value is, or is a slice of.
  std::optional<unsigned> getParameter(mlir::Value value) const;
  llvm::StringRef getUnit(unsigned parameter) const;
  CollectiveTag getTag(mlir::Value value) const;
  void enterWindow(llvm::StringRef unit);
  void findGradients();

  static mlir::Value lookup(const LocalValues &locals, mlir::Value value,
                            const Placement &placement);
  /// Makes a local value known until the innermost of the first `open` regions
  /// ends.
  void remember(mlir::Value value, const Placement &placement,
                mlir::Value local, size_t open);
  void remember(mlir::Value value, const Placement &placement,
                mlir::Value local) {
    remember(value, placement, local, scopes.size());
  }

  // Accessors of ops are not const.
  mutable mlir::func::FuncOp step;
  const PlacementAnalysis &analysis;
  llvm::ArrayRef<Grid> grids;
  PlacementConverter converter;
  mlir::OpBuilder builder;
  /// Where ops for the outermost level go while a loop is being built.
  mlir::Operation *outermostLoop = nullptr;
  /// How many regions are open around that loop.
  size_t outermostScopes = 0;
  LocalValues locals, windowLocals;
  /// The local values remembered in each open region.
  llvm::SmallVector<llvm::SmallVector<std::pair<mlir::Value, Placement>>>
      scopes;
  llvm::StringRef windowUnit;
  int64_t window = 0;
  /// 0 if the rows are in blocks.
  int64_t interleavedRows = 0;
  bool hasJoinedRows = false;
  /// Parameter by value on the way to its gradient.
  llvm::DenseMap<mlir::Value, unsigned> gradients;
  unsigned gatheredOperands = 0;
};

} // namespace amsp

#endif // AMSP_PLACEMENT_PARTITIONER_H
