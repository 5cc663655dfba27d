//===- Digits.cpp - Arithmetic on lists of digits -------------------------===//

#include "amsp/Placement/Digits.h"
#include <numeric>

using namespace llvm;
using namespace amsp;

SmallVector<Digit> amsp::splitAtLevels(ArrayRef<Digit> digits,
                                       ArrayRef<int64_t> levels) {
  SmallVector<Digit> split;
  for (const Digit &digit : digits) {
    SmallVector<Digit> parts; // innermost first
    int64_t stride = digit.stride, rest = digit.size, below = 1;
    for (int64_t level : levels) {
      int64_t end = below * level;
      below = end;
      if (rest == 1 || stride >= end)
        continue;
      int64_t within = std::gcd(rest, end / stride);
      if (within > 1)
        parts.push_back({stride, within});
      stride *= within;
      rest /= within;
    }
    if (rest > 1) // beyond the levels, or across the end of one
      parts.push_back({stride, rest});
    append_range(split, reverse(parts));
  }
  return split;
}

/// The level in which the digit begins; their number beyond them.
static size_t getLevel(const Digit &digit, ArrayRef<int64_t> levels) {
  int64_t end = 1;
  for (auto [index, size] : enumerate(levels))
    if (digit.stride < (end *= size))
      return index;
  return levels.size();
}

SmallVector<SmallVector<Digit>> amsp::cutByLevel(ArrayRef<Digit> digits,
                                                 ArrayRef<int64_t> levels) {
  SmallVector<SmallVector<Digit>> parts;
  for (const Digit &digit : splitAtLevels(digits, levels)) {
    if (parts.empty() ||
        getLevel(parts.back().front(), levels) != getLevel(digit, levels))
      parts.emplace_back();
    parts.back().push_back(digit);
  }
  return parts;
}

SmallVector<Digit> amsp::sortByRank(ArrayRef<Digit> digits) {
  SmallVector<Digit> sorted(make_filter_range(
      digits, [](const Digit &digit) { return digit.size > 1; }));
  llvm::sort(sorted, [](const Digit &lhs, const Digit &rhs) {
    return lhs.stride > rhs.stride;
  });
  SmallVector<Digit> joined;
  for (const Digit &digit : sorted) {
    bool continues =
        !joined.empty() && joined.back().stride == digit.stride * digit.size;
    if (continues)
      joined.back() = {digit.stride, joined.back().size * digit.size};
    else
      joined.push_back(digit);
  }
  return joined;
}

/// Takes `removed` out of a digit that holds it; false if none does.
static bool removeDigit(SmallVector<Digit> &digits, const Digit &removed) {
  for (Digit &digit : digits) {
    int64_t end = digit.stride * digit.size;
    int64_t removedEnd = removed.stride * removed.size;
    if (removed.stride % digit.stride != 0 || end % removedEnd != 0)
      continue;
    Digit inner = {digit.stride, removed.stride / digit.stride};
    digit = {removedEnd, end / removedEnd};
    digits.push_back(inner);
    return true;
  }
  return false;
}

std::optional<SmallVector<Digit>> amsp::removeDigits(ArrayRef<Digit> digits,
                                                     ArrayRef<Digit> removed) {
  SmallVector<Digit> rest = sortByRank(digits);
  for (const Digit &digit : sortByRank(removed))
    if (!removeDigit(rest, digit))
      return std::nullopt;
  return sortByRank(rest);
}
