//===- UnitCosts.cpp - Memory and time of a unit by strategy --------------===//

#include "amsp/Planner/UnitCosts.h"
#include "amsp/Planner/Decomposition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace llvm;
using namespace amsp;

/// Groups parameters by a key, or each by itself. In the order of the first.
template <typename Key>
static std::vector<SmallVector<const PlannedParameter *>>
group(const Unit &unit, bool fuses, Key getKey) {
  std::vector<SmallVector<const PlannedParameter *>> groups;
  std::map<decltype(getKey(unit.parameters.front())), size_t> numbers;
  for (const PlannedParameter &parameter : unit.parameters) {
    auto [number, isNew] =
        numbers.try_emplace(getKey(parameter), groups.size());
    if (isNew || !fuses) {
      number->second = groups.size();
      groups.emplace_back();
    }
    groups[number->second].push_back(&parameter);
  }
  return groups;
}

UnitCosts::UnitCosts(const Unit &unit, const Context &context)
    : size(context.space.getNumFactors()), gathers(size * size),
      reductions(size * size), updates(size) {
  for (const PlannedParameter &parameter : unit.parameters)
    addUpdates(parameter, context);
  auto gathered = group(unit, context.fuses, [](const PlannedParameter &of) {
    return std::tuple(of.useBytes, of.gathers, of.gatheredParts);
  });
  auto reduced = group(unit, context.fuses, [](const PlannedParameter &of) {
    return std::tuple(of.reductionBytes, of.gradientBytes, of.reducedParts);
  });
  for (unsigned os = 0; os < size; ++os)
    for (unsigned inner : context.space.getDivisors(os)) {
      for (const Fused &parameters : gathered)
        addGathers(parameters, context, inner, os);
      for (const Fused &parameters : reduced)
        addReductions(parameters, context, inner, os);
    }
}

void UnitCosts::add(const UnitCosts &other, int64_t count) {
  auto addTo = [&](std::vector<Cost> &sums, ArrayRef<Cost> costs) {
    for (auto [sum, cost] : zip_equal(sums, costs)) {
      auto times = static_cast<double>(count);
      sum.bytes += times * cost.bytes;
      sum.seconds += times * cost.seconds;
      sum.onceSeconds += times * cost.onceSeconds;
      sum.eachSeconds += times * cost.eachSeconds;
    }
  };
  addTo(gathers, other.gathers);
  addTo(reductions, other.reductions);
  addTo(updates, other.updates);
  evaluations += other.evaluations;
}

UnitMemory UnitCosts::getMemory(unsigned p, unsigned g, unsigned os) const {
  return {gathers[at(p, os)].bytes, reductions[at(g, os)].bytes,
          updates[os].bytes};
}

/// Elements of the parameter with the padding that pieces of OS need. The parts
/// of a stack are cut each.
static double getPadded(const PlannedParameter &parameter, int64_t pieces) {
  int64_t parts = std::max(parameter.gatheredParts, parameter.reducedParts);
  return static_cast<double>(parts *
                             alignTo(parameter.elements / parts, pieces));
}

void UnitCosts::addUpdates(const PlannedParameter &parameter,
                           const Context &context) {
  for (unsigned os = 0; os < size; ++os) {
    int64_t pieces = context.space.getPieces(os);
    double piece = getPadded(parameter, pieces) / static_cast<double>(pieces);
    updates[os].bytes += piece * (parameter.restBytes + parameter.stateBytes);
    // The update reads and writes the value and the states, and reads the
    // gradient.
    if (parameter.gradientBytes > 0 || parameter.stateBytes > 0)
      updates[os].seconds += context.updateScale * piece *
                             (2 * (parameter.restBytes + parameter.stateBytes) +
                              parameter.gradientBytes) /
                             context.memoryBandwidth;
  }
}

/// The digits that lead from pieces of `coarse` to those of `fine`, the
/// innermost level first.
static SmallVector<Digit> getDigits(const StrategySpace &space, unsigned coarse,
                                    unsigned fine) {
  SmallVector<Digit> digits;
  int64_t stride = 1;
  for (auto [members, inner, size] :
       zip(space.getFactors(fine), space.getFactors(coarse),
           space.getFactors(space.getAll()))) {
    if (members > inner)
      digits.push_back({stride * inner, members / inner});
    stride *= size;
  }
  return digits;
}

/// A collective that leads from pieces of `fine` to those of `coarse`, or back.
UnitCosts::Asked UnitCosts::ask(const Context &context, CollectiveKind kind,
                                double bytes, unsigned coarse, unsigned fine) {
  if (coarse == fine)
    return {};
  ++evaluations;
  GroupShape group;
  for (auto [members, inner] :
       zip(context.space.getFactors(fine), context.space.getFactors(coarse)))
    group.push_back(members / inner);
  bool isOverLevels =
      count_if(group, [](int64_t members) { return members > 1; }) > 1;
  if (context.decomposes && isOverLevels) {
    Decomposition parts = decompose(
        kind, getDigits(context.space, coarse, fine),
        static_cast<int64_t>(bytes), /*width=*/1, context.collectives);
    return {parts.seconds, parts.lastSeconds};
  }
  double seconds = context.collectives.getSeconds(kind, bytes, group);
  return {seconds, seconds};
}

bool UnitCosts::canOverlap(const Context &context, int64_t parts,
                           bool isInLoop) {
  bool isPipelined = context.overlapping && context.overlapping->isPipelined;
  return parts == 1 || (isInLoop && isPipelined);
}

void UnitCosts::addGathers(const Fused &parameters, const Context &context,
                           unsigned p, unsigned os) {
  const StrategySpace &space = context.space;
  int64_t uses = parameters.front()->gathers;
  if (uses == 0)
    return;
  Cost &cost = gathers[at(p, os)];
  double bytes = 0;
  for (const PlannedParameter *parameter : parameters) {
    double whole =
        getPadded(*parameter, space.getPieces(os)) * parameter->useBytes;
    // What rests is what is kept, if neither pieces nor type differ.
    if (p != os || parameter->useBytes != parameter->restBytes)
      cost.bytes += whole / static_cast<double>(space.getPieces(p));
    bytes += whole;
  }
  double kept = bytes / static_cast<double>(space.getPieces(p));
  Asked first = ask(context, CollectiveKind::AllGather, kept, p, os);
  cost.seconds += first.seconds;
  // Else the gather of the first use takes its result.
  int64_t numParts = parameters.front()->gatheredParts;
  if (space.getPieces(p) == 1 && canOverlap(context, numParts, false))
    cost.onceSeconds += first.overlapping;
  auto parts = static_cast<double>(numParts);
  double runs = static_cast<double>(uses) * parts;
  Asked use = ask(context, CollectiveKind::AllGather, bytes / parts, 0, p);
  cost.seconds += runs * use.seconds;
  if (canOverlap(context, numParts, true))
    cost.eachSeconds += runs * use.overlapping;
}

void UnitCosts::addReductions(const Fused &parameters, const Context &context,
                              unsigned g, unsigned os) {
  if (parameters.front()->gradientBytes == 0)
    return;
  const StrategySpace &space = context.space;
  Cost &cost = reductions[at(g, os)];
  auto piecesG = static_cast<double>(space.getPieces(g));
  auto piecesOS = static_cast<double>(space.getPieces(os));
  bool accumulates = context.microbatches > 1;
  double bytes = 0;
  for (const PlannedParameter *parameter : parameters) {
    double padded = getPadded(*parameter, space.getPieces(os));
    cost.bytes +=
        padded * parameter->gradientBytes / (accumulates ? piecesG : piecesOS);
    bytes += padded * parameter->reductionBytes;
  }
  int64_t numParts = parameters.front()->reducedParts;
  auto parts = static_cast<double>(numParts);
  double runs = parts;
  Asked scatter;
  if (accumulates) {
    double each = parts * static_cast<double>(context.microbatches);
    Asked asked =
        ask(context, CollectiveKind::ReduceScatter, bytes / parts, 0, g);
    cost.seconds += each * asked.seconds;
    if (canOverlap(context, numParts, true))
      cost.eachSeconds += each * asked.overlapping;
    // The sum of all microbatches is no longer in parts.
    runs = 1;
    scatter =
        ask(context, CollectiveKind::ReduceScatter, bytes / piecesG, g, os);
  } else {
    scatter = ask(context, CollectiveKind::ReduceScatter, bytes / parts, 0, os);
  }
  Asked replicas = ask(context, CollectiveKind::AllReduce,
                       bytes / piecesOS / runs, os, space.getAll());
  cost.seconds += runs * (scatter.seconds + replicas.seconds);
  // The all_reduce takes what was scattered.
  if (canOverlap(context, numParts, !accumulates))
    cost.onceSeconds += runs * (os == space.getAll() ? scatter.overlapping
                                                     : replicas.overlapping);
}
