//===- UnitCosts.cpp - Memory and time of a unit by strategy --------------===//

#include "amsp/Planner/UnitCosts.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace amsp;

UnitCosts::UnitCosts(const Unit &unit, const Context &context)
    : size(context.space.getNumFactors()), gathers(size * size),
      reductions(size * size), updates(size) {
  for (const PlannedParameter &parameter : unit.parameters)
    addParameter(parameter, context);
}

UnitMemory UnitCosts::getMemory(unsigned p, unsigned g, unsigned os) const {
  return {gathers[at(p, os)].bytes, reductions[at(g, os)].bytes,
          updates[os].bytes};
}

/// Elements of the parameter with the padding that pieces of OS need.
static double getPadded(const PlannedParameter &parameter, int64_t pieces) {
  return static_cast<double>(alignTo(parameter.elements, pieces));
}

void UnitCosts::addParameter(const PlannedParameter &parameter,
                             const Context &context) {
  const StrategySpace &space = context.space;
  for (unsigned os = 0; os < size; ++os) {
    int64_t pieces = space.getPieces(os);
    double piece = getPadded(parameter, pieces) / static_cast<double>(pieces);
    updates[os].bytes += piece * (parameter.restBytes + parameter.stateBytes);
    // The update reads and writes the value and the states, and reads the
    // gradient.
    if (parameter.gradientBytes > 0 || parameter.stateBytes > 0)
      updates[os].seconds += piece *
                             (2 * (parameter.restBytes + parameter.stateBytes) +
                              parameter.gradientBytes) /
                             context.memoryBandwidth;
    for (unsigned inner : space.getDivisors(os)) {
      addGathers(parameter, context, inner, os);
      addReductions(parameter, context, inner, os);
    }
  }
}

/// A collective that leads from pieces of `fine` to those of `coarse`, or back.
double UnitCosts::ask(const Context &context, CollectiveKind kind, double bytes,
                      unsigned coarse, unsigned fine) {
  if (coarse == fine)
    return 0;
  ++evaluations;
  GroupShape group;
  for (auto [members, inner] :
       zip(context.space.getFactors(fine), context.space.getFactors(coarse)))
    group.push_back(members / inner);
  return context.collectives.getSeconds(kind, bytes, group);
}

void UnitCosts::addGathers(const PlannedParameter &parameter,
                           const Context &context, unsigned p, unsigned os) {
  const StrategySpace &space = context.space;
  if (parameter.gathers == 0)
    return;
  Cost &cost = gathers[at(p, os)];
  double bytes = getPadded(parameter, space.getPieces(os)) * parameter.useBytes;
  double kept = bytes / static_cast<double>(space.getPieces(p));
  // What rests is what is kept, if neither pieces nor type differ.
  if (p != os || parameter.useBytes != parameter.restBytes)
    cost.bytes += kept;
  double first = ask(context, CollectiveKind::AllGather, kept, p, os);
  cost.onceSeconds += first;
  cost.seconds += first;
  cost.seconds += static_cast<double>(parameter.gathers) *
                  ask(context, CollectiveKind::AllGather, bytes, 0, p);
}

void UnitCosts::addReductions(const PlannedParameter &parameter,
                              const Context &context, unsigned g, unsigned os) {
  if (parameter.gradientBytes == 0)
    return;
  const StrategySpace &space = context.space;
  Cost &cost = reductions[at(g, os)];
  double padded = getPadded(parameter, space.getPieces(os));
  double bytes = padded * parameter.reductionBytes;
  auto piecesG = static_cast<double>(space.getPieces(g));
  auto piecesOS = static_cast<double>(space.getPieces(os));
  bool accumulates = context.microbatches > 1;
  cost.bytes +=
      padded * parameter.gradientBytes / (accumulates ? piecesG : piecesOS);
  double last;
  if (accumulates) {
    cost.seconds += static_cast<double>(context.microbatches) *
                    ask(context, CollectiveKind::ReduceScatter, bytes, 0, g);
    last = ask(context, CollectiveKind::ReduceScatter, bytes / piecesG, g, os);
  } else {
    last = ask(context, CollectiveKind::ReduceScatter, bytes, 0, os);
  }
  last += ask(context, CollectiveKind::AllReduce, bytes / piecesOS, os,
              space.getAll());
  cost.onceSeconds += last;
  cost.seconds += last;
}
