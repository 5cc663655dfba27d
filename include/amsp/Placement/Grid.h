//===- Grid.h - The ranks of a cluster and their digits ---------*- C++ -*-===//
//
// Ranks are numbered with the innermost level fastest. A level's coordinate is
// a mixed-radix number: P's factor lowest, then s_g/s_p, then s_os/s_g, then
// the replicas. Groups are lists of these digits, never of ranks.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_PLACEMENT_GRID_H
#define AMSP_PLACEMENT_GRID_H

#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "amsp/Placement/Strategy.h"

namespace amsp {

/// The three families of values that a strategy shards.
enum class ModelState { P, G, OS };

class Grid {
public:
  /// `strategy` must have been verified for `levels`.
  Grid(llvm::ArrayRef<int64_t> levels, const Strategy &strategy);

  int64_t getWorldSize() const { return world; }
  llvm::ArrayRef<int64_t> getLevels() const { return levels; }
  const Strategy &getStrategy() const { return strategy; }

  /// Digits over which a state is cut, most significant first: the states in
  /// the order P, G, OS, and within one the innermost level first. So the
  /// pieces of OS nest in those of G, and these in those of P.
  llvm::SmallVector<Digit> getDigits(ModelState state) const;
  /// The digits of `fine` that `coarse` does not have: gathering over them
  /// leads from one to the other.
  llvm::SmallVector<Digit> getDigitsBetween(ModelState coarse,
                                            ModelState fine) const;
  /// The digits over which a state is replicated.
  llvm::SmallVector<Digit> getReplicaDigits(ModelState state) const;
  /// All ranks, in rank order: how the batch is cut.
  llvm::SmallVector<Digit> getWorldDigits() const;

  /// Number of pieces of a state.
  int64_t getPieces(ModelState state) const;
  /// Elements of one piece of a state's value with that many elements. The
  /// padded length is a multiple of os's full product, for every state.
  int64_t getPieceElements(int64_t elements, ModelState state) const;
  int64_t getPaddedElements(int64_t elements) const;

private:
  llvm::SmallVector<int64_t> levels;
  Strategy strategy;
  int64_t world = 1;
  /// Digits by family: P, G beyond P, OS beyond G, replicas. None of size 1.
  std::array<llvm::SmallVector<Digit>, 4> digits;
};

} // namespace amsp

#endif // AMSP_PLACEMENT_GRID_H
