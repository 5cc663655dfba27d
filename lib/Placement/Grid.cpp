//===- Grid.cpp - The ranks of a cluster and their digits -----------------===//

#include "amsp/Placement/Grid.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace amsp;

Grid::Grid(ArrayRef<int64_t> levels, const Strategy &strategy)
    : levels(levels), strategy(strategy) {
  int64_t stride = 1;
  for (auto [size, p, g, os] :
       zip(levels, strategy.p, strategy.g, strategy.os)) {
    std::array<int64_t, 4> sizes = {p, g / p, os / g, size / os};
    for (auto [family, digitSize] : zip(digits, sizes)) {
      if (digitSize > 1)
        family.push_back({stride, digitSize});
      stride *= digitSize;
    }
  }
  world = stride;
}

/// The digits of families [first, last).
static SmallVector<Digit> joinFamilies(ArrayRef<SmallVector<Digit>> families,
                                       size_t first, size_t last) {
  SmallVector<Digit> joined;
  for (size_t i = first; i < last; ++i)
    append_range(joined, families[i]);
  return joined;
}

static size_t familiesOf(ModelState state) {
  return static_cast<size_t>(state) + 1;
}

SmallVector<Digit> Grid::getDigits(ModelState state) const {
  return joinFamilies(digits, 0, familiesOf(state));
}
SmallVector<Digit> Grid::getDigitsBetween(ModelState coarse,
                                          ModelState fine) const {
  return joinFamilies(digits, familiesOf(coarse), familiesOf(fine));
}
SmallVector<Digit> Grid::getReplicaDigits(ModelState state) const {
  return joinFamilies(digits, familiesOf(state), digits.size());
}
SmallVector<Digit> Grid::getWorldDigits() const {
  if (world == 1)
    return {};
  return {{1, world}};
}

int64_t Grid::getPieces(ModelState state) const {
  return getGroupSize(getDigits(state));
}
int64_t Grid::getPaddedElements(int64_t elements) const {
  return alignTo(elements, getPieces(ModelState::OS));
}
int64_t Grid::getPieceElements(int64_t elements, ModelState state) const {
  return getPaddedElements(elements) / getPieces(state);
}
