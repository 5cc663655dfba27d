//===- ChoiceSearch.cpp - The fastest choices within a memory -------------===//

#include "amsp/Planner/ChoiceSearch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <cmath>
#include <limits>
#include <optional>

using namespace llvm;
using namespace amsp;

/// Times closer than this share of the best one are equal.
static constexpr double kTolerance = 1e-6;
/// Partial selections that the first search keeps, which only looks for a good
/// selection, and the second, which proves that there is no better one.
static constexpr size_t kFewStates = 256, kManyStates = size_t(1) << 18;

SmallVector<unsigned> amsp::getFront(ArrayRef<Choice> choices) {
  auto order = to_vector(seq(static_cast<unsigned>(choices.size())));
  sort(order, [&](unsigned a, unsigned b) {
    return std::tie(choices[a].bytes, choices[a].seconds, a) <
           std::tie(choices[b].bytes, choices[b].seconds, b);
  });
  SmallVector<unsigned> front;
  for (unsigned index : order)
    if (front.empty() || choices[index].seconds < choices[front.back()].seconds)
      front.push_back(index);
  return front;
}

/// The lower convex hull of a front.
static SmallVector<unsigned> getHull(ArrayRef<Choice> choices,
                                     ArrayRef<unsigned> front) {
  SmallVector<unsigned> hull;
  for (unsigned index : front) {
    const Choice &next = choices[index];
    while (hull.size() >= 2) {
      const Choice &first = choices[hull[hull.size() - 2]];
      const Choice &middle = choices[hull.back()];
      bool isBelow =
          (middle.seconds - first.seconds) * (next.bytes - first.bytes) <
          (next.seconds - first.seconds) * (middle.bytes - first.bytes);
      if (isBelow)
        break;
      hull.pop_back();
    }
    hull.push_back(index);
  }
  return hull;
}

namespace {
class ChoiceSolver {
public:
  ChoiceSolver(ArrayRef<ChoiceClass> classes, double limit)
      : classes(classes), limit(limit) {}

  ChoiceCounts solve();

private:
  /// From one hull choice to the next for all units of a class.
  struct Edge {
    size_t ofClass;
    unsigned from, to;
    double price; // seconds saved per byte
  };
  /// Choices of the first classes.
  struct State {
    double bytes = 0, seconds = 0;
    double cost = 0; // beyond the bound
    size_t parent = 0;
    SmallVector<std::pair<unsigned, int64_t>, 2> counts;
  };
  /// What the search of one class needs.
  struct Survivors {
    size_t ofClass = 0;
    SmallVector<unsigned> choices; // the best at the price first
    SmallVector<double> costs;
    /// Least and most bytes of the classes searched later.
    double leastLater = 0, mostLater = 0;
  };

  void startFromLeastBytes();
  std::vector<Edge> getEdges() const;
  void relax();
  void move(size_t ofClass, unsigned from, unsigned to, int64_t units);
  bool improve();
  std::vector<Survivors> getSurvivors() const;
  void search(size_t maxStates);
  void expand(const Survivors &survivors, const State &state, size_t index,
              int64_t units, std::vector<State> &next);
  void dropDominated(std::vector<State> &states, size_t maxStates);
  void take(const std::vector<std::vector<State>> &layers,
            ArrayRef<Survivors> survivors);

  ArrayRef<ChoiceClass> classes;
  double limit;
  ChoiceCounts best;
  double price = 0, bound = 0;
  bool isExact = true;
};
} // namespace

void ChoiceSolver::startFromLeastBytes() {
  for (const ChoiceClass &choiceClass : classes) {
    ArrayRef<Choice> choices = choiceClass.choices;
    unsigned first = getFront(choices).front();
    best.counts.emplace_back(choices.size(), 0)[first] = choiceClass.units;
    auto units = static_cast<double>(choiceClass.units);
    best.bytes += units * choices[first].bytes;
    best.seconds += units * choices[first].seconds;
  }
}

std::vector<ChoiceSolver::Edge> ChoiceSolver::getEdges() const {
  std::vector<Edge> edges;
  for (auto [index, choiceClass] : enumerate(classes)) {
    ArrayRef<Choice> choices = choiceClass.choices;
    SmallVector<unsigned> hull = getHull(choices, getFront(choices));
    for (size_t i = 1; i < hull.size(); ++i) {
      const Choice &from = choices[hull[i - 1]], &to = choices[hull[i]];
      edges.push_back({index, hull[i - 1], hull[i],
                       (from.seconds - to.seconds) / (to.bytes - from.bytes)});
    }
  }
  // A class's edges, cheapest last, keep their order.
  sort(edges, [](const Edge &a, const Edge &b) {
    return std::tie(b.price, a.ofClass, a.from) <
           std::tie(a.price, b.ofClass, b.from);
  });
  return edges;
}

void ChoiceSolver::move(size_t ofClass, unsigned from, unsigned to,
                        int64_t units) {
  ArrayRef<Choice> choices = classes[ofClass].choices;
  best.counts[ofClass][from] -= units;
  best.counts[ofClass][to] += units;
  auto moved = static_cast<double>(units);
  best.bytes += moved * (choices[to].bytes - choices[from].bytes);
  best.seconds += moved * (choices[to].seconds - choices[from].seconds);
}

/// Takes the edges that save most per byte while they fit. The first that does
/// not fit gives the price; filling the rest with a fraction of it, the bound.
void ChoiceSolver::relax() {
  bound = best.seconds;
  for (const Edge &edge : getEdges()) {
    const ChoiceClass &choiceClass = classes[edge.ofClass];
    double bytes = choiceClass.choices[edge.to].bytes -
                   choiceClass.choices[edge.from].bytes;
    double fitting = std::floor((limit - best.bytes) / bytes);
    int64_t units = choiceClass.units;
    if (fitting < static_cast<double>(units))
      units = static_cast<int64_t>(fitting);
    move(edge.ofClass, edge.from, edge.to, units);
    bound = best.seconds;
    if (units == choiceClass.units)
      continue;
    price = edge.price;
    bound -= price * (limit - best.bytes);
    return;
  }
}

/// The one move of some units that saves most within the bytes left over.
bool ChoiceSolver::improve() {
  double saved = kTolerance * best.seconds;
  std::optional<std::tuple<size_t, unsigned, unsigned, int64_t>> found;
  for (auto [index, choiceClass] : enumerate(classes))
    for (auto [from, count] : enumerate(best.counts[index]))
      for (auto [to, choice] : enumerate(choiceClass.choices)) {
        const Choice &old = choiceClass.choices[from];
        if (count == 0 || choice.seconds >= old.seconds)
          continue;
        double bytes = choice.bytes - old.bytes;
        auto units = static_cast<double>(count);
        if (bytes > 0)
          units = std::min(units, std::floor((limit - best.bytes) / bytes));
        if (units * (old.seconds - choice.seconds) <= saved)
          continue;
        saved = units * (old.seconds - choice.seconds);
        found = {index, from, to, static_cast<int64_t>(units)};
      }
  if (found)
    std::apply([&](auto... args) { move(args...); }, *found);
  return found.has_value();
}

std::vector<ChoiceSolver::Survivors> ChoiceSolver::getSurvivors() const {
  double gap = best.seconds - bound;
  std::vector<Survivors> all;
  for (auto [index, choiceClass] : enumerate(classes)) {
    ArrayRef<Choice> choices = choiceClass.choices;
    SmallVector<unsigned> front = getFront(choices);
    auto priced = [&](unsigned choice) {
      return choices[choice].seconds + price * choices[choice].bytes;
    };
    sort(front, [&](unsigned a, unsigned b) {
      return std::pair(priced(a), a) < std::pair(priced(b), b);
    });
    Survivors &survivors = all.emplace_back();
    survivors.ofClass = index;
    for (unsigned choice : front) {
      double cost = priced(choice) - priced(front.front());
      if (cost > gap)
        break;
      survivors.choices.push_back(choice);
      survivors.costs.push_back(cost);
    }
  }
  // Large steps first: what is left over is then filled by small ones.
  auto getRange = [&](const Survivors &survivors) {
    auto bytes = map_range(survivors.choices, [&](unsigned choice) {
      return classes[survivors.ofClass].choices[choice].bytes;
    });
    auto units = static_cast<double>(classes[survivors.ofClass].units);
    auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
    return std::pair(units * *least, units * *most);
  };
  auto getWidth = [&](const Survivors &survivors) {
    auto [least, most] = getRange(survivors);
    return most - least;
  };
  sort(all, [&](const Survivors &a, const Survivors &b) {
    return std::pair(-getWidth(a), a.ofClass) <
           std::pair(-getWidth(b), b.ofClass);
  });
  for (size_t i = all.size() - 1; i > 0; --i) {
    auto [least, most] = getRange(all[i]);
    all[i - 1].leastLater = all[i].leastLater + least;
    all[i - 1].mostLater = all[i].mostLater + most;
  }
  return all;
}

/// Adds to `next` all ways to give `units` units the choices of the class from
/// `index` on down to the first, which takes the rest.
void ChoiceSolver::expand(const Survivors &survivors, const State &state,
                          size_t index, int64_t units,
                          std::vector<State> &next) {
  const ChoiceClass &choiceClass = classes[survivors.ofClass];
  unsigned number = survivors.choices[index];
  const Choice &choice = choiceClass.choices[number];
  double gap = best.seconds - bound - kTolerance * best.seconds;
  for (int64_t count = index == 0 ? units : 0; count <= units; ++count) {
    auto times = static_cast<double>(count);
    State extended = state;
    extended.cost += times * survivors.costs[index];
    if (extended.cost > gap)
      return;
    extended.bytes += times * choice.bytes;
    extended.seconds += times * choice.seconds;
    if (count > 0)
      extended.counts.push_back({number, count});
    if (index > 0) {
      expand(survivors, extended, index - 1, units - count, next);
      continue;
    }
    ++best.states;
    bool fits = extended.bytes + survivors.leastLater <= limit;
    double leftOver =
        std::max(0.0, limit - extended.bytes - survivors.mostLater);
    if (fits && extended.cost + price * leftOver <= gap)
      next.push_back(std::move(extended));
  }
}

void ChoiceSolver::dropDominated(std::vector<State> &states, size_t maxStates) {
  sort(states, [](const State &a, const State &b) {
    return std::tie(a.bytes, a.seconds, a.parent, a.counts) <
           std::tie(b.bytes, b.seconds, b.parent, b.counts);
  });
  double fastest = std::numeric_limits<double>::infinity();
  erase_if(states, [&](const State &state) {
    bool isDominated = state.seconds >= fastest;
    fastest = std::min(fastest, state.seconds);
    return isDominated;
  });
  if (states.size() <= maxStates)
    return;
  isExact = false;
  sort(states, [](const State &a, const State &b) {
    return std::tie(a.cost, a.bytes) < std::tie(b.cost, b.bytes);
  });
  states.resize(maxStates);
}

void ChoiceSolver::take(const std::vector<std::vector<State>> &layers,
                        ArrayRef<Survivors> survivors) {
  const std::vector<State> &last = layers.back();
  auto fastest = std::min_element(
      last.begin(), last.end(),
      [](const State &a, const State &b) { return a.seconds < b.seconds; });
  if (fastest == last.end() || fastest->seconds >= best.seconds)
    return;
  best.bytes = fastest->bytes;
  best.seconds = fastest->seconds;
  const State *state = &*fastest;
  for (size_t i = survivors.size(); i > 0; --i) {
    std::vector<int64_t> &counts = best.counts[survivors[i - 1].ofClass];
    counts.assign(counts.size(), 0);
    for (auto [choice, count] : state->counts)
      counts[choice] = count;
    state = &layers[i - 1][state->parent];
  }
}

void ChoiceSolver::search(size_t maxStates) {
  isExact = true;
  if (best.seconds - bound <= kTolerance * best.seconds)
    return;
  std::vector<Survivors> survivors = getSurvivors();
  std::vector<std::vector<State>> layers{{State()}};
  for (const Survivors &ofClass : survivors) {
    std::vector<State> next;
    for (auto [index, state] : enumerate(layers.back())) {
      State child = state;
      child.parent = index;
      child.counts.clear();
      expand(ofClass, child, ofClass.choices.size() - 1,
             classes[ofClass.ofClass].units, next);
    }
    dropDominated(next, maxStates);
    layers.push_back(std::move(next));
  }
  take(layers, survivors);
}

ChoiceCounts ChoiceSolver::solve() {
  startFromLeastBytes();
  best.leastSeconds = best.seconds;
  best.fits = best.bytes <= limit;
  if (!best.fits || classes.empty())
    return best;
  relax();
  while (improve())
    ;
  search(kFewStates);
  if (!isExact)
    search(kManyStates);
  best.leastSeconds = isExact ? best.seconds : bound;
  return best;
}

ChoiceCounts amsp::selectChoices(ArrayRef<ChoiceClass> classes, double limit) {
  return ChoiceSolver(classes, limit).solve();
}
