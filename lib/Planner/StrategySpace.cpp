//===- StrategySpace.cpp - All strategies of a cluster --------------------===//

#include "amsp/Planner/StrategySpace.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>
#include <numeric>

using namespace llvm;
using namespace amsp;

using Factors = SmallVector<int64_t, 4>;

static int64_t multiply(ArrayRef<int64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t(1),
                         std::multiplies<>());
}

static bool divides(ArrayRef<int64_t> inner, ArrayRef<int64_t> outer) {
  return all_of(zip(inner, outer), [](auto pair) {
    return std::get<1>(pair) % std::get<0>(pair) == 0;
  });
}

StrategySpace::StrategySpace(ArrayRef<int64_t> levels) : factors(1) {
  for (int64_t size : levels) {
    std::vector<Factors> longer;
    for (const Factors &inner : factors)
      for (int64_t factor = 1; factor <= size; ++factor)
        if (size % factor == 0) {
          longer.push_back(inner);
          longer.back().push_back(factor);
        }
    factors = std::move(longer);
  }
  sort(factors, [](const Factors &a, const Factors &b) {
    return std::pair(multiply(a), b) < std::pair(multiply(b), a);
  });
  for (const Factors &outer : factors) {
    pieces.push_back(multiply(outer));
    auto &list = divisors.emplace_back();
    for (auto [index, inner] : enumerate(factors))
      if (divides(inner, outer))
        list.push_back(static_cast<unsigned>(index));
  }
}

unsigned StrategySpace::getNumber(ArrayRef<int64_t> wanted) const {
  auto found = find_if(factors, [&](const Factors &candidate) {
    return ArrayRef<int64_t>(candidate) == wanted;
  });
  assert(found != factors.end() && "factors do not divide the levels");
  return static_cast<unsigned>(found - factors.begin());
}

Strategy StrategySpace::getStrategy(unsigned p, unsigned g, unsigned os) const {
  auto copy = [&](unsigned index) {
    return SmallVector<int64_t>(factors[index].begin(), factors[index].end());
  };
  return {copy(p), copy(g), copy(os)};
}
