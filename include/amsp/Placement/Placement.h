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
    /// The batch is cut along dimension `dim`, over all ranks.
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
  Reduction reduction = Reduction::Sum;
  PartialOver over = PartialOver::Batch;
  ModelState state = ModelState::OS;
  /// Of which strategy the digits are, where units differ: its number in the
  /// list of grids.
  unsigned strategy = 0;

  static Placement replicated() { return {}; }
  static Placement split(int64_t dim) {
    Placement placement;
    placement.kind = Split;
    placement.dim = dim;
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
  static Placement flat(ModelState state, unsigned strategy = 0) {
    Placement placement;
    placement.kind = Flat;
    placement.state = state;
    placement.strategy = strategy;
    return placement;
  }
  static Placement partialFlat(unsigned strategy = 0) {
    Placement placement;
    placement.kind = PartialFlat;
    placement.state = ModelState::G;
    placement.strategy = strategy;
    return placement;
  }

  bool isReplicated() const { return kind == Replicated; }
  bool isSplit() const { return kind == Split; }
  bool isFlat() const { return kind == Flat; }
  /// A sum, maximum or minimum that is still to be completed.
  bool isPartial() const { return kind == Partial || kind == PartialFlat; }
  bool isPartialSum() const {
    return isPartial() && reduction == Reduction::Sum;
  }

  /// Fields in an order that tells placements apart.
  std::tuple<int, int64_t, int, int, int, unsigned> key() const {
    bool hasStrategy = kind == Flat || kind == PartialFlat ||
                       (kind == Partial && over == PartialOver::States);
    return {kind,
            kind == Split ? dim : 0,
            kind == Partial ? static_cast<int>(reduction) : 0,
            kind == Partial ? static_cast<int>(over) : 0,
            kind == Flat ? static_cast<int>(state) : 0,
            hasStrategy ? strategy : 0};
  }
  bool operator==(const Placement &other) const { return key() == other.key(); }
  bool operator!=(const Placement &other) const { return key() != other.key(); }
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const Placement &placement);

/// The type of a rank's local value: of one dimension if it is flat, unless OS
/// is not cut at all. `grids`: one per strategy.
mlir::RankedTensorType getLocalType(mlir::RankedTensorType global,
                                    const Placement &placement,
                                    llvm::ArrayRef<Grid> grids);

} // namespace amsp

#endif // AMSP_PLACEMENT_PLACEMENT_H
