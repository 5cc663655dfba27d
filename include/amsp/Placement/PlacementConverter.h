//===- PlacementConverter.h - Collectives between placements ----*- C++ -*-===//

#ifndef AMSP_PLACEMENT_PLACEMENTCONVERTER_H
#define AMSP_PLACEMENT_PLACEMENTCONVERTER_H

#include "amsp/Placement/Placement.h"
#include "mlir/IR/Builders.h"

namespace amsp {

/// The element type in which sums of floating-point values are reduced.
enum class ReduceType {
  /// 16-bit values in f32: sums of many ranks neither overflow nor vanish.
  F32,
  /// Gradients of f32 in bf16: half the bytes.
  BF16,
  /// Each in its own type.
  Graph,
};

/// `f32`, `bf16` or `graph`.
std::optional<ReduceType> parseReduceType(llvm::StringRef text);

/// What a collective is for; written on it for traffic counts and messages.
struct CollectiveTag {
  /// Argument number of the parameter whose value or gradient it moves.
  std::optional<int64_t> parameter;
  llvm::StringRef unit;
  /// Tells gathers of one piece at different uses apart.
  std::optional<int64_t> window;
};

/// Emits the collectives and local ops that lead from one placement to another:
/// the one place that makes collectives.
///
/// | from \ to     | replicated | flat                      | split         |
/// |---------------|------------|---------------------------|---------------|
/// | partial       | all_reduce | reduce_scatter over the digits of the state,
/// all_reduce over the others | reduce_scatter | | flat          | all_gather |
/// the digits that differ    | gather, slice | | split         | all_gather |
/// gather, slice             | nothing, or gather and slice | | replicated    |
/// -          | local slice               | local slice   |
///
/// A replicated value joins a partial one by being kept on one member; a value
/// that is partial over some digits joins one that is partial over all ranks by
/// being kept on one member of the others. Pieces of two strategies meet as
/// wholes. Where rows are padded, the last one is repeated before they are cut,
/// and what they are gathered to is cut off behind it.
class PlacementConverter {
public:
  /// `grids`: one per strategy.
  PlacementConverter(llvm::ArrayRef<Grid> grids, ReduceType reduceType)
      : grids(grids), reduceType(reduceType) {}

  /// `local` is the local value, in placement `from`, of a global value of type
  /// `global`. Returns its local value in placement `to`.
  mlir::Value convert(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value local, mlir::RankedTensorType global,
                      const Placement &from, const Placement &to,
                      const CollectiveTag &tag = {}) const;

  /// Whether elements beyond a flat piece's valid ones, on some rank, are
  /// padding.
  bool hasPadding(mlir::RankedTensorType global,
                  const Placement &placement) const;

private:
  struct Step;
  mlir::Type getReduceType(mlir::Type element, const Placement &from,
                           const CollectiveTag &tag) const;
  mlir::Value widenPartial(const Step &step, const Placement &from,
                           const Placement &to) const;
  mlir::Value fromPartial(const Step &step, const Placement &from,
                          const Placement &to) const;
  mlir::Value fromFlat(const Step &step, const Placement &from,
                       const Placement &to) const;
  mlir::Value fromSplit(const Step &step, const Placement &from,
                        const Placement &to) const;
  mlir::Value repeatLastRow(const Step &step, const Placement &split) const;
  mlir::Value fromReplicated(const Step &step, const Placement &to) const;
  llvm::SmallVector<Digit> getPartialDigits(const Placement &placement) const;
  const Grid &getGrid(const Placement &placement) const {
    return grids[placement.strategy];
  }
  /// All ranks: the same digits in every grid.
  llvm::SmallVector<Digit> getWorldDigits() const {
    return grids.front().getWorldDigits();
  }

  llvm::ArrayRef<Grid> grids;
  ReduceType reduceType;
};

} // namespace amsp

#endif // AMSP_PLACEMENT_PLACEMENTCONVERTER_H
