//===- UnitCosts.cpp - Memory and time of a unit by strategy --------------===//

#include "amsp/Planner/UnitCosts.h"
#include "amsp/Planner/Decomposition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <map>
#include <numeric>

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
    return std::tuple(of.useBytes, of.gathers, of.gatheredParts, of.gatherRun);
  });
  auto reduced = group(unit, context.fuses, [](const PlannedParameter &of) {
    return std::tuple(of.reductionBytes, of.gradientBytes, of.reducedParts,
                      of.wholeSums, of.isScattered, of.reductionRun);
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
      sum.once.add(cost.once, times);
      sum.each.add(cost.each, times);
      sum.accumulationSeconds += times * cost.accumulationSeconds;
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

/// The update reads and writes the value and the states, and reads the
/// gradient.
double UnitCosts::getUpdateSeconds(const PlannedParameter &parameter,
                                   const Context &context, int64_t pieces) {
  if (parameter.gradientBytes == 0 && parameter.stateBytes == 0)
    return 0;
  double piece = getPadded(parameter, pieces) / static_cast<double>(pieces);
  return context.updateScale * piece *
         (2 * (parameter.restBytes + parameter.stateBytes) +
          parameter.gradientBytes) /
         context.memoryBandwidth;
}

void UnitCosts::addUpdates(const PlannedParameter &parameter,
                           const Context &context) {
  for (unsigned os = 0; os < size; ++os) {
    int64_t pieces = context.space.getPieces(os);
    double piece = getPadded(parameter, pieces) / static_cast<double>(pieces);
    updates[os].bytes += piece * (parameter.restBytes + parameter.stateBytes);
    updates[os].seconds += getUpdateSeconds(parameter, context, pieces);
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

/// One collective, alone on its links.
UnitCosts::Asked UnitCosts::time(const Context &context, CollectiveKind kind,
                                 double bytes, ArrayRef<int64_t> group) {
  Asked asked;
  asked.seconds = context.collectives.getSeconds(kind, bytes, group);
  asked.overlapping.seconds = asked.seconds;
  if (!context.overlapping)
    return asked;
  SmallVector<double, 0> &busy = asked.overlapping.busy;
  busy.resize(TransferTime::kFirstLevel + group.size());
  busy[kind == CollectiveKind::AllGather ? TransferTime::kGatherChannel
                                         : TransferTime::kReduceChannel] =
      asked.seconds;
  for (auto [level, load] : enumerate(
           context.collectives.getLoads(getTransferKind(kind), bytes, group)))
    busy[TransferTime::kFirstLevel + level] = load * asked.seconds;
  return asked;
}

/// A collective that leads from pieces of `fine` to those of `coarse`, or back.
/// Of several stages, each starts when the one before it should be done.
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
  if (!context.decomposes || !isOverLevels)
    return time(context, kind, bytes, group);
  Decomposition decomposition = decompose(
      kind, getDigits(context.space, coarse, fine), static_cast<int64_t>(bytes),
      /*width=*/1, context.collectives);
  Asked asked;
  for (auto [stage, stageBytes] :
       zip_equal(decomposition.stages, decomposition.stageBytes))
    asked.add(time(context, stage.kind, stageBytes,
                   getGroupShape(stage.digits, context.space.getFactors(
                                                   context.space.getAll()))));
  return asked;
}

double UnitCosts::Moved::getElements() const {
  return std::accumulate(elements.begin(), elements.end(), 0.0);
}

double UnitCosts::Moved::getScaleBytes(double pieces, double share) const {
  double bytes = 0;
  for (double of : elements)
    bytes += 4 * pieces *
             std::ceil(of * share / pieces / static_cast<double>(*block));
  return bytes;
}

/// `share`: of the elements, on the full side.
UnitCosts::Asked UnitCosts::askGather(const Context &context,
                                      const Moved &moved, double share,
                                      unsigned coarse, unsigned fine) {
  constexpr auto kind = CollectiveKind::AllGather;
  double elements = moved.getElements() * share;
  if (!moved.isQuantized() || coarse == fine)
    return ask(context, kind, elements * moved.width, coarse, fine);
  int64_t cuts =
      context.space.getPieces(fine) / context.space.getPieces(coarse);
  auto pieces = static_cast<double>(cuts);
  Asked codes = ask(context, kind, elements, coarse, fine);
  Asked scales =
      ask(context, kind, moved.getScaleBytes(pieces, share), coarse, fine);
  codes.add(scales);
  return codes;
}

/// Of int8, level by level, each of which waits for the one before; an
/// all_reduce then gathers what was summed.
UnitCosts::Asked UnitCosts::askSum(const Context &context, CollectiveKind kind,
                                   const Moved &moved, double share,
                                   unsigned coarse, unsigned fine) {
  double elements = moved.getElements();
  if (!moved.isQuantized() || coarse == fine)
    return ask(context, kind, elements * share * moved.width, coarse, fine);
  Asked sum;
  double left = share;
  ArrayRef<int64_t> all = context.space.getFactors(fine);
  for (auto [level, inner] : enumerate(context.space.getFactors(coarse))) {
    int64_t members = all[level] / inner;
    if (members == 1)
      continue;
    GroupShape group(all.size(), 1);
    group[level] = members;
    auto exchange = [&](double bytes) {
      ++evaluations;
      return time(context, CollectiveKind::AllToAll, bytes, group);
    };
    auto pieces = static_cast<double>(members);
    Asked last = exchange(elements * left);
    last.add(exchange(moved.getScaleBytes(pieces, left)));
    sum.seconds += last.seconds;
    sum.overlapping = std::move(last.overlapping);
    left /= pieces;
  }
  if (kind != CollectiveKind::AllReduce)
    return sum;
  Asked gathered = askGather(context, moved, share, coarse, fine);
  return {sum.seconds + gathered.seconds, gathered.overlapping};
}

/// Whether that part of the collectives may overlap, if any does.
bool UnitCosts::isOn(const Context &context, bool OverlapSet::*part) {
  return !context.overlapping || context.overlapping->parts.*part;
}

/// What is reduced over the pieces of `fine` is of each microbatch if a rank
/// keeps pieces of them, else of a step; see OverlapSelection.
static bool OverlapSet::*getReductionPart(unsigned g, unsigned fine) {
  return g == fine ? &OverlapSet::uses : &OverlapSet::gradients;
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
  Moved moved{{}, parameters.front()->useBytes, context.wire.gatherBlock};
  for (const PlannedParameter *parameter : parameters) {
    double elements = getPadded(*parameter, space.getPieces(os));
    double whole = elements * parameter->useBytes;
    // What rests is what is kept, if neither pieces nor type differ.
    if (p != os || parameter->useBytes != parameter->restBytes)
      cost.bytes += whole / static_cast<double>(space.getPieces(p));
    moved.elements.push_back(elements);
  }
  Asked first = askGather(context, moved,
                          1 / static_cast<double>(space.getPieces(p)), p, os);
  cost.seconds += first.seconds;
  // Else the gather of the first use takes its result.
  int64_t numParts = parameters.front()->gatheredParts;
  if (space.getPieces(p) == 1 && canOverlap(context, numParts, false) &&
      isOn(context, &OverlapSet::parameters))
    cost.once.add(first.overlapping);
  auto parts = static_cast<double>(numParts);
  double runs = static_cast<double>(uses) * parts;
  Asked use = askGather(context, moved, 1 / parts, 0, p);
  cost.seconds += runs * use.seconds;
  if (canOverlap(context, numParts, true) && isOn(context, &OverlapSet::uses))
    cost.each.add(use.overlapping, runs);
}

/// Of adding up a parameter's gradients in pieces of G: each is read as it is
/// reduced, and the sum read and written; at the end the sum is cast for its
/// reduction. Where nothing is sharded, sums are made as the gradients are,
/// which saves their cast, and the last one is counted in the update. The
/// program that compute is counted from adds up pieces of all ranks.
static double getAccumulation(const PlannedParameter &parameter,
                              const UnitCosts::Context &context, unsigned g,
                              unsigned os) {
  const StrategySpace &space = context.space;
  double kept = parameter.gradientBytes, reduced = parameter.reductionBytes;
  double made = parameter.useBytes; // the gradient has the type of the use
  double cast = kept == reduced ? 0 : kept + reduced;
  double castEach = made == reduced ? 0 : made + reduced;
  auto times = static_cast<double>(context.microbatches);
  auto getBytes = [&](unsigned g) {
    return (times * (reduced + 2 * kept) + cast) /
           static_cast<double>(space.getPieces(g));
  };
  double bytes =
      space.getPieces(os) > 1 ? getBytes(g) : times * (3 * made - castEach);
  return static_cast<double>(parameter.elements) *
         (bytes - getBytes(space.getAll())) / context.memoryBandwidth;
}

/// Over all ranks, under every strategy.
void UnitCosts::addWholeSums(const Fused &parameters, const Context &context,
                             unsigned g, Cost &cost) {
  int64_t sums = parameters.front()->wholeSums;
  if (sums == 0)
    return;
  Moved moved{
      {}, parameters.front()->reductionBytes, context.wire.reductionBlock};
  for (const PlannedParameter *parameter : parameters)
    moved.elements.push_back(static_cast<double>(parameter->wholeElements));
  Asked sum = askSum(context, CollectiveKind::AllReduce, moved, 1, 0,
                     context.space.getAll());
  auto runs = static_cast<double>(sums);
  cost.seconds += runs * sum.seconds;
  if (isOn(context, getReductionPart(g, context.space.getAll())))
    (sums == 1 ? cost.once : cost.each).add(sum.overlapping, runs);
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
  Moved moved{
      {}, parameters.front()->reductionBytes, context.wire.reductionBlock};
  for (const PlannedParameter *parameter : parameters) {
    double padded = getPadded(*parameter, space.getPieces(os));
    cost.bytes +=
        padded * parameter->gradientBytes / (accumulates ? piecesG : piecesOS);
    if (accumulates)
      cost.accumulationSeconds += getAccumulation(*parameter, context, g, os);
    moved.elements.push_back(padded);
  }
  addWholeSums(parameters, context, g, cost);
  if (!parameters.front()->isScattered)
    return;
  int64_t numParts = parameters.front()->reducedParts;
  auto parts = static_cast<double>(numParts);
  double runs = parts;
  Asked scatter;
  if (accumulates) {
    double each = parts * static_cast<double>(context.microbatches);
    Asked asked =
        askSum(context, CollectiveKind::ReduceScatter, moved, 1 / parts, 0, g);
    cost.seconds += each * asked.seconds;
    if (canOverlap(context, numParts, true) && isOn(context, &OverlapSet::uses))
      cost.each.add(asked.overlapping, each);
    // The sum of all microbatches is no longer in parts.
    runs = 1;
    scatter = askSum(context, CollectiveKind::ReduceScatter, moved, 1 / piecesG,
                     g, os);
  } else {
    scatter =
        askSum(context, CollectiveKind::ReduceScatter, moved, 1 / parts, 0, os);
  }
  Asked replicas = askSum(context, CollectiveKind::AllReduce, moved,
                          1 / piecesOS / runs, os, space.getAll());
  cost.seconds += runs * (scatter.seconds + replicas.seconds);
  // The all_reduce takes what was scattered.
  bool isScatterLast = os == space.getAll();
  bool OverlapSet::*part = isScatterLast && !accumulates
                               ? getReductionPart(g, os)
                               : &OverlapSet::gradients;
  if (canOverlap(context, numParts, !accumulates) && isOn(context, part))
    cost.once.add(isScatterLast ? scatter.overlapping : replicas.overlapping,
                  runs);
}
