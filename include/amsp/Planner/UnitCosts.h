//===- UnitCosts.h - Memory and time of a unit by strategy ------*- C++ -*-===//
//
// The additive model of the search: a strategy's memory and time are sums over
// the parameters of a model, and for each parameter sums of a part that depends
// on P and OS, one that depends on G and OS, and one that depends on OS. See
// docs/planner.md.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_PLANNER_UNITCOSTS_H
#define AMSP_PLANNER_UNITCOSTS_H

#include "amsp/Planner/CollectiveModel.h"
#include "amsp/Planner/StrategySpace.h"

namespace amsp {

/// What the search knows of a parameter. Widths are bytes per element.
struct PlannedParameter {
  int64_t elements = 0;
  /// Of the value at rest, and of the one that uses take: it is gathered in
  /// that type.
  double restBytes = 0, useBytes = 0;
  /// Of the gradient as it is kept; 0 for a frozen parameter.
  double gradientBytes = 0;
  /// Of the gradient in a reduction.
  double reductionBytes = 0;
  /// Of all its optimizer states together.
  double stateBytes = 0;
  /// Uses in a step, of all microbatches: gathers over the digits of P.
  int64_t gathers = 0;

  std::tuple<int64_t, double, double, double, double, double, int64_t>
  key() const {
    return {elements,       restBytes,  useBytes, gradientBytes,
            reductionBytes, stateBytes, gathers};
  }
};

/// Parameters that share a strategy.
struct Unit {
  std::string name;
  std::vector<PlannedParameter> parameters;
};

/// What is kept of a unit on a rank, in bytes.
struct UnitMemory {
  double parameters = 0; // kept from first to last use; at rest if in place
  double gradients = 0;
  double states = 0; // optimizer states and values at rest

  double getTotal() const { return parameters + gradients + states; }
};

/// How a step overlaps communication with compute; see OverlapEstimate.h.
struct Overlapping {
  double interference = 0;
  int64_t units = 1;
};

/// Costs of a unit for every strategy of a space.
class UnitCosts {
public:
  struct Context {
    const StrategySpace &space;
    const CollectiveModel &collectives;
    double memoryBandwidth; // bytes/s of a rank's device
    int64_t microbatches;
    std::optional<Overlapping> overlapping = std::nullopt; // none: it does not
  };

  UnitCosts(const Unit &unit, const Context &context);

  UnitMemory getMemory(unsigned p, unsigned g, unsigned os) const;
  double getBytes(unsigned p, unsigned g, unsigned os) const {
    return getMemory(p, g, os).getTotal();
  }
  /// Seconds of the collectives and of the optimizer's update.
  double getSeconds(unsigned p, unsigned g, unsigned os) const {
    return gathers[at(p, os)].seconds + reductions[at(g, os)].seconds +
           updates[os].seconds;
  }
  double getGatherSeconds(unsigned p, unsigned os) const {
    return gathers[at(p, os)].seconds;
  }
  double getReductionSeconds(unsigned g, unsigned os) const {
    return reductions[at(g, os)].seconds;
  }
  double getUpdateSeconds(unsigned os) const { return updates[os].seconds; }
  /// The parts of them that run once a step: before the first uses, and after
  /// the last microbatch.
  double getFirstGatherSeconds(unsigned p, unsigned os) const {
    return gathers[at(p, os)].onceSeconds;
  }
  double getLastReductionSeconds(unsigned g, unsigned os) const {
    return reductions[at(g, os)].onceSeconds;
  }
  /// Times of collectives that were asked of the model.
  int64_t getEvaluations() const { return evaluations; }

private:
  struct Cost {
    double bytes = 0;
    double seconds = 0;
    double onceSeconds = 0; // the part that does not run in each microbatch
  };
  size_t at(unsigned inner, unsigned os) const { return inner * size + os; }
  void addParameter(const PlannedParameter &parameter, const Context &context);
  void addGathers(const PlannedParameter &parameter, const Context &context,
                  unsigned p, unsigned os);
  void addReductions(const PlannedParameter &parameter, const Context &context,
                     unsigned g, unsigned os);
  double ask(const Context &context, CollectiveKind kind, double bytes,
             unsigned coarse, unsigned fine);

  size_t size;
  /// By (p, os), (g, os) and os.
  std::vector<Cost> gathers, reductions, updates;
  int64_t evaluations = 0;
};

} // namespace amsp

#endif // AMSP_PLANNER_UNITCOSTS_H
