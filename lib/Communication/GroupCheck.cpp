//===- GroupCheck.cpp - Groups that partition the world -------------------===//

#include "amsp/Communication/GroupCheck.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace amsp;

static std::string describe(const Digit &digit) {
  return ("digit " + Twine(digit.stride) + ":" + Twine(digit.size)).str();
}

/// True if ranks below `bound` and ranks from it on lie on two sides of a
/// member of some level, or of several whole ones.
static bool followsLevels(int64_t bound, ArrayRef<int64_t> levels) {
  int64_t end = 1;
  for (int64_t size : levels) {
    end *= size;
    if (end % bound != 0 && bound % end != 0)
      return false;
  }
  return true;
}

std::string amsp::checkGroup(ArrayRef<Digit> digits, ArrayRef<int64_t> levels) {
  int64_t world = 1;
  for (int64_t size : levels)
    world *= size;
  SmallVector<Digit> sorted(make_filter_range(
      digits, [](const Digit &digit) { return digit.size > 1; }));
  llvm::sort(sorted, [](const Digit &lhs, const Digit &rhs) {
    return lhs.stride < rhs.stride;
  });
  int64_t below = 1;
  for (const Digit &digit : sorted) {
    if (digit.stride > world || digit.size > world / digit.stride ||
        world % (digit.stride * digit.size) != 0)
      return (describe(digit) + " does not fit a world of " + Twine(world) +
              " ranks")
          .str();
    if (digit.stride % below != 0)
      return describe(digit) + " overlaps another digit of its group";
    below = digit.stride * digit.size;
    if (!followsLevels(digit.stride, levels) || !followsLevels(below, levels))
      return describe(digit) + " crosses the bounds of a level";
  }
  return {};
}
