//===- Decomposition.cpp - A collective as several, by level --------------===//

#include "amsp/Planner/Decomposition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace amsp;

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
    // Within a level, one collective is as good as two.
    parts = cutByLevel(ordered, levels);
    whole.digits.assign(digits.begin(), digits.end());
    whole.kind = kind;
  }

  Decomposition run();

private:
  using Stages = SmallVector<CollectiveStage>;
  using Digits = SmallVector<Digit>;

  void tryCuts(ArrayRef<Digits> scattered, ArrayRef<Digits> reduced);
  void consider(const Stages &stages);
  Decomposition time(const Stages &stages) const;
  static SmallVector<Digits> cutAt(ArrayRef<Digits> parts, uint64_t cuts);

  CollectiveKind kind;
  int64_t elements, width;
  const CollectiveModel &model;
  SmallVector<int64_t> levels;
  /// The digits, those of one level next to each other together.
  SmallVector<Digits> parts;
  CollectiveStage whole;
  /// The fastest decomposition by its number of stages.
  std::map<size_t, Decomposition> fastest;
};
} // namespace

/// Joins neighbouring parts. Bit i of `cuts`: not across the end of part i.
SmallVector<Search::Digits> Search::cutAt(ArrayRef<Digits> parts,
                                          uint64_t cuts) {
  SmallVector<Digits> runs;
  for (auto [index, part] : enumerate(parts)) {
    if (index == 0 || (cuts >> (index - 1) & 1))
      runs.emplace_back();
    append_range(runs.back(), part);
  }
  return runs;
}

Decomposition Search::time(const Stages &stages) const {
  Decomposition timed;
  timed.stages = stages;
  // Elements of the full side of the next reduce_scatter or all_reduce, of the
  // piece side of the next all_gather.
  int64_t side = elements;
  if (kind == CollectiveKind::AllGather)
    side /= getGroupSize(whole.digits);
  for (const CollectiveStage &stage : stages) {
    int64_t members = getGroupSize(stage.digits), full = side;
    if (stage.kind == CollectiveKind::AllGather)
      full = side = side * members;
    if (stage.kind == CollectiveKind::ReduceScatter) {
      full = alignTo(side, members);
      side = full / members;
    }
    timed.stageBytes.push_back(static_cast<double>(full * width));
    timed.seconds += model.getSeconds(stage.kind, timed.stageBytes.back(),
                                      getGroupShape(stage.digits, levels));
  }
  return timed;
}

void Search::consider(const Stages &stages) {
  Decomposition timed = time(stages);
  auto [best, isFirst] = fastest.try_emplace(stages.size());
  if (isFirst || timed.seconds < best->second.seconds)
    best->second = std::move(timed);
}

/// All ways to cut both lists in runs of one collective each.
void Search::tryCuts(ArrayRef<Digits> scattered, ArrayRef<Digits> reduced) {
  auto countCuts = [](ArrayRef<Digits> list) {
    return list.empty() ? 1 : uint64_t(1) << (list.size() - 1);
  };
  for (uint64_t outer = 0; outer < countCuts(scattered); ++outer)
    for (uint64_t inner = 0; inner < countCuts(reduced); ++inner) {
      SmallVector<Digits> runs = cutAt(scattered, outer);
      Stages stages;
      if (kind != CollectiveKind::AllGather)
        for (const Digits &run : runs)
          stages.push_back({CollectiveKind::ReduceScatter, run});
      for (const Digits &run : cutAt(reduced, inner))
        stages.push_back({CollectiveKind::AllReduce, run});
      if (kind != CollectiveKind::ReduceScatter)
        for (const Digits &run : reverse(runs))
          stages.push_back({CollectiveKind::AllGather, run});
      consider(stages);
    }
}

Decomposition Search::run() {
  consider({whole});
  if (parts.empty())
    return fastest.begin()->second;
  if (kind == CollectiveKind::AllReduce) {
    SmallVector<Digits> innermostFirst(reverse(parts));
    ArrayRef<Digits> all(innermostFirst);
    for (size_t scattered = 0; scattered <= all.size(); ++scattered)
      tryCuts(all.take_front(scattered), all.drop_front(scattered));
  } else {
    tryCuts(parts, {});
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
