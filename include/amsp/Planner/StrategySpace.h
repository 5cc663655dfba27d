//===- StrategySpace.h - All strategies of a cluster ------------*- C++ -*-===//

#ifndef AMSP_PLANNER_STRATEGYSPACE_H
#define AMSP_PLANNER_STRATEGYSPACE_H

#include "amsp/Placement/Strategy.h"
#include <vector>

namespace amsp {

/// All factors of the levels and which divides which: a strategy is a chain
/// `p | g | os` of three of them.
class StrategySpace {
public:
  explicit StrategySpace(llvm::ArrayRef<int64_t> levels);

  /// Factors by their number: those with fewer pieces have smaller numbers; of
  /// those with equally many, the ones that fill inner levels.
  size_t getNumFactors() const { return factors.size(); }
  llvm::ArrayRef<int64_t> getFactors(unsigned index) const {
    return factors[index];
  }
  /// The number of pieces that the factors make.
  int64_t getPieces(unsigned index) const { return pieces[index]; }
  /// The factors that divide these on every level, themselves included.
  llvm::ArrayRef<unsigned> getDivisors(unsigned index) const {
    return divisors[index];
  }
  /// The sizes of the levels: the last factors.
  unsigned getAll() const { return static_cast<unsigned>(factors.size() - 1); }
  unsigned getNumber(llvm::ArrayRef<int64_t> factors) const;

  Strategy getStrategy(unsigned p, unsigned g, unsigned os) const;

private:
  std::vector<llvm::SmallVector<int64_t, 4>> factors;
  std::vector<int64_t> pieces;
  std::vector<llvm::SmallVector<unsigned, 0>> divisors;
};

} // namespace amsp

#endif // AMSP_PLANNER_STRATEGYSPACE_H
