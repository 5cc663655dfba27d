//===- Placement.h - How local values relate to global ones -----*- C++ -*-===//

#ifndef AMSP_PLACEMENT_PLACEMENT_H
#define AMSP_PLACEMENT_PLACEMENT_H

#include "amsp/Placement/Grid.h"
#include "mlir/IR/BuiltinTypes.h"

namespace amsp {

/// Over which ranks the local values of a partial value are to be combined.
enum class PartialOver {
  /// All ranks: each has seen its rows of the batch.
  Batch,
  /// The digits of OS: each has seen its piece of a flat value.
  States,
};

/// The placement of a value of the step. Digits stay symbolic (a model state of
/// a strategy, the batch): a grid gives them sizes.
struct Placement {
  enum Kind {
    Replicated,
    /// The batch is cut along dimension `dim`, over all ranks. If these do not
    /// divide it, it has `rows` blocks of equal size: each rank holds as many
    /// as the first one, and what is missing on the last ranks is padding.
    Split,
    /// Combining the local values with `reduction` gives the value.
    Partial,
    /// Flattened and cut over the digits of `state`.
    Flat,
    /// Flat over the digits of G and a partial sum over all others: a gradient
    /// that is accumulated over microbatches.
    PartialFlat,
  };

  Kind kind = Replicated;
  int64_t dim = 0;
  /// Of a split that has padding: the number of rows. Otherwise 0.
  int64_t rows = 0;
  Reduction reduction = Reduction::Sum;
  PartialOver over = PartialOver::Batch;
  ModelState state = ModelState::OS;
  /// Of a flat value: the leading dimensions that are kept whole. Each of their
  /// rows is padded and cut by itself.
  int64_t keep = 0;
  /// Of which strategy the digits are, where units differ: its number in the
  /// list of grids.
  unsigned strategy = 0;

  static Placement replicated() { return {}; }
  static Placement split(int64_t dim, int64_t rows = 0) {
    Placement placement;
    placement.kind = Split;
    placement.dim = dim;
    placement.rows = rows;
    return placement;
  }
  /// The same rows along another dimension, of another value.
  Placement withDim(int64_t other) const {
    Placement placement = *this;
    placement.dim = other;
    return placement;
  }
  static Placement partial(Reduction reduction, PartialOver over,
                           unsigned strategy = 0) {
    Placement placement;
    placement.kind = Partial;
    placement.reduction = reduction;
    placement.over = over;
    placement.strategy = strategy;
    return placement;
  }
  static Placement flat(ModelState state, int64_t keep = 0,
                        unsigned strategy = 0) {
    Placement placement;
    placement.kind = Flat;
    placement.state = state;
    placement.keep = keep;
    placement.strategy = strategy;
    return placement;
  }
  static Placement partialFlat(int64_t keep = 0, unsigned strategy = 0) {
    Placement placement;
    placement.kind = PartialFlat;
    placement.state = ModelState::G;
    placement.keep = keep;
    placement.strategy = strategy;
    return placement;
  }
  Placement withKeep(int64_t kept) const {
    Placement placement = *this;
    placement.keep = kept;
    return placement;
  }

  bool isReplicated() const { return kind == Replicated; }
  bool isSplit() const { return kind == Split; }
  bool hasPaddedRows() const { return kind == Split && rows != 0; }
  bool isFlat() const { return kind == Flat; }
  /// Local values are pieces of rows: a flat value, or a sum of such.
  bool isInPieces() const { return kind == Flat || kind == PartialFlat; }
  /// A sum, maximum or minimum that is still to be completed.
  bool isPartial() const { return kind == Partial || kind == PartialFlat; }
  bool isPartialSum() const {
    return isPartial() && reduction == Reduction::Sum;
  }

  /// Fields in an order that tells placements apart.
  std::tuple<int, int64_t, int64_t, int, int, int, int64_t, unsigned>
  key() const {
    bool hasStrategy =
        isInPieces() || (kind == Partial && over == PartialOver::States);
    return {kind,
            kind == Split ? dim : 0,
            kind == Split ? rows : 0,
            kind == Partial ? static_cast<int>(reduction) : 0,
            kind == Partial ? static_cast<int>(over) : 0,
            kind == Flat ? static_cast<int>(state) : 0,
            isInPieces() ? keep : 0,
            hasStrategy ? strategy : 0};
  }
  bool operator==(const Placement &other) const { return key() == other.key(); }
  bool operator!=(const Placement &other) const { return key() != other.key(); }
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const Placement &placement);

/// The type of a rank's local value: of the kept dimensions and one more if it
/// is flat, unless OS is not cut at all. `grids`: one per strategy.
mlir::RankedTensorType getLocalType(mlir::RankedTensorType global,
                                    const Placement &placement,
                                    llvm::ArrayRef<Grid> grids);

/// Of a split value: how many elements along its dimension all ranks' pieces
/// hold, padding included.
int64_t getPaddedSize(mlir::RankedTensorType global, const Placement &placement,
                      int64_t ranks);

/// Elements of each row that the leading dimensions of a flat value index.
int64_t getRowElements(mlir::RankedTensorType global,
                       const Placement &placement);

/// How many leading dimensions of `to` hold the rows that the `keep` leading
/// ones of `from` hold, when a value is reshaped; the fewest, or nothing if
/// rows are divided or joined.
std::optional<int64_t> mapKeep(mlir::RankedTensorType from,
                               mlir::RankedTensorType to, int64_t keep);

} // namespace amsp

#endif // AMSP_PLACEMENT_PLACEMENT_H
