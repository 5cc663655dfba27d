//===- ChoiceSearch.h - The fastest choices within a memory -----*- C++ -*-===//

#ifndef AMSP_PLANNER_CHOICESEARCH_H
#define AMSP_PLANNER_CHOICESEARCH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace amsp {

/// A choice for one unit.
struct Choice {
  double bytes = 0; // a whole number: sums are exact
  double seconds = 0;
};

/// Units that have the same choices.
struct ChoiceClass {
  int64_t units = 1;
  std::vector<Choice> choices;
};

/// How many units of each class take each of its choices.
struct ChoiceCounts {
  std::vector<std::vector<int64_t>> counts;
  double bytes = 0;
  double seconds = 0;
  /// No selection is faster than this. Equal to `seconds` up to a millionth,
  /// unless the search met its limit of states.
  double leastSeconds = 0;
  bool fits = false;
  int64_t states = 0; // examined
};

/// The choices of which none is beaten in both bytes and seconds, in ascending
/// order of bytes, as indices.
llvm::SmallVector<unsigned> getFront(llvm::ArrayRef<Choice> choices);

/// Finds the selection of one choice for each unit with the least total time
/// whose total bytes do not exceed `limit`: a multiple-choice knapsack.
///
/// Lagrangian relaxation of the limit gives a bound, the price of a byte, and
/// for each choice what it costs more than the best one at that price. A
/// selection's time is the bound plus these costs plus the price of the bytes
/// left over, so only selections whose costs stay below the gap to the best
/// known selection can be better. Few choices pass; they are searched
/// exhaustively, class by class, with dominated partial selections dropped.
///
/// Selections within a millionth of the optimum count as optimal. If none fits,
/// the result is the selection of least bytes, and `fits` is false.
ChoiceCounts selectChoices(llvm::ArrayRef<ChoiceClass> classes, double limit);

} // namespace amsp

#endif // AMSP_PLANNER_CHOICESEARCH_H
