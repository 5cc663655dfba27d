//===- Decomposition.cpp - A collective as several, by level --------------===//

#include "amsp/Communication/Decomposition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
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

namespace {
/// Searches the decompositions of one collective.
class Search {
public:
  Search(CollectiveKind kind, ArrayRef<Digit> digits, int64_t elements,
         int64_t width, const CollectiveModel &model)
      : kind(kind), elements(elements), width(width), model(model),
        levels(map_to_vector(model.getLevels(), [](const ClusterLevel &level) {
          return level.size;
        })) {
    SmallVector<Digit> ordered(digits);
    if (kind == CollectiveKind::AllReduce)
      ordered = sortByRank(digits);
    this->digits = splitAtLevels(ordered, levels);
    whole.digits.assign(digits.begin(), digits.end());
    whole.kind = kind;
  }

  Decomposition run();

private:
  using Stages = SmallVector<CollectiveStage>;
  /// Runs of neighbouring digits, most significant first.
  using Runs = SmallVector<SmallVector<Digit>>;

  void tryCuts(ArrayRef<Digit> scattered, ArrayRef<Digit> reduced);
  void consider(const Stages &stages);
  double getSeconds(const Stages &stages) const;
  static Runs cutAt(ArrayRef<Digit> digits, uint64_t cuts);

  CollectiveKind kind;
  int64_t elements, width;
  const CollectiveModel &model;
  SmallVector<int64_t> levels;
  SmallVector<Digit> digits;
  CollectiveStage whole;
  /// The fastest decomposition by its number of stages.
  std::map<size_t, Decomposition> fastest;
};
} // namespace

/// Bit i of `cuts`: a run ends behind digit i.
Search::Runs Search::cutAt(ArrayRef<Digit> digits, uint64_t cuts) {
  Runs runs;
  for (auto [index, digit] : enumerate(digits)) {
    if (index == 0 || (cuts >> (index - 1) & 1))
      runs.emplace_back();
    runs.back().push_back(digit);
  }
  return runs;
}

double Search::getSeconds(const Stages &stages) const {
  double seconds = 0;
  // Elements of the full side of the next reduce_scatter or all_reduce, of the
  // piece side of the next all_gather.
  int64_t side = elements;
  if (kind == CollectiveKind::AllGather)
    side /= getGroupSize(digits);
  for (const CollectiveStage &stage : stages) {
    int64_t members = getGroupSize(stage.digits), full = side;
    if (stage.kind == CollectiveKind::AllGather)
      full = side = side * members;
    if (stage.kind == CollectiveKind::ReduceScatter) {
      full = alignTo(side, members);
      side = full / members;
    }
    seconds += model.getSeconds(stage.kind, static_cast<double>(full * width),
                                getGroupShape(stage.digits, levels));
  }
  return seconds;
}

void Search::consider(const Stages &stages) {
  double seconds = getSeconds(stages);
  auto [best, isFirst] = fastest.try_emplace(stages.size());
  if (isFirst || seconds < best->second.seconds)
    best->second = {stages, seconds};
}

/// All ways to cut both lists of digits in runs of one collective each.
void Search::tryCuts(ArrayRef<Digit> scattered, ArrayRef<Digit> reduced) {
  auto countCuts = [](ArrayRef<Digit> list) {
    return list.empty() ? 1 : uint64_t(1) << (list.size() - 1);
  };
  for (uint64_t outer = 0; outer < countCuts(scattered); ++outer)
    for (uint64_t inner = 0; inner < countCuts(reduced); ++inner) {
      Runs runs = cutAt(scattered, outer);
      Stages stages;
      if (kind != CollectiveKind::AllGather)
        for (const SmallVector<Digit> &run : runs)
          stages.push_back({CollectiveKind::ReduceScatter, run});
      for (const SmallVector<Digit> &run : cutAt(reduced, inner))
        stages.push_back({CollectiveKind::AllReduce, run});
      if (kind != CollectiveKind::ReduceScatter)
        for (const SmallVector<Digit> &run : reverse(runs))
          stages.push_back({CollectiveKind::AllGather, run});
      consider(stages);
    }
}

Decomposition Search::run() {
  consider({whole});
  if (digits.empty())
    return fastest.begin()->second;
  if (kind == CollectiveKind::AllReduce) {
    SmallVector<Digit> innermostFirst(reverse(digits));
    ArrayRef<Digit> all(innermostFirst);
    for (size_t scattered = 0; scattered <= all.size(); ++scattered)
      tryCuts(all.take_front(scattered), all.drop_front(scattered));
  } else {
    tryCuts(digits, {});
  }
  Decomposition best = fastest.begin()->second;
  for (auto &[stages, candidate] : drop_begin(fastest))
    if (candidate.seconds < 0.99 * best.seconds)
      best = candidate;
  return best;
}

Decomposition amsp::decompose(CollectiveKind kind, ArrayRef<Digit> digits,
                              int64_t elements, int64_t width,
                              const CollectiveModel &model) {
  return Search(kind, digits, elements, width, model).run();
}
