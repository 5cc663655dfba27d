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

#include "amsp/Placement/OverlapSet.h"
#include "amsp/Planner/CollectiveModel.h"
#include "amsp/Planner/StrategySpace.h"
#include "amsp/Planner/TransferTime.h"
#include "amsp/Planner/WireFormat.h"

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
  /// Equal parts, as the layers of a stack, that are gathered one by one at
  /// each use, and whose gradients are reduced one by one.
  int64_t gatheredParts = 1, reducedParts = 1;
  /// Elements of sums that make its gradient and are completed whole under
  /// every strategy, by an all_reduce before they are padded, for one; and how
  /// often in a step.
  int64_t wholeElements = 0, wholeSums = 0;
  /// Whether the gradient itself is reduced to pieces; else it is made of what
  /// is summed whole.
  bool isScattered = true;
  /// Which of its unit's runs of uses, and of gradients, with no other unit's
  /// between them, it is part of: those of different ones are not fused.
  int64_t gatherRun = 0, reductionRun = 0;

  auto key() const {
    return std::tuple(elements, restBytes, useBytes, gradientBytes,
                      reductionBytes, stateBytes, gathers, gatheredParts,
                      reducedParts, wholeElements, wholeSums, isScattered,
                      gatherRun, reductionRun);
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
  /// How many of the largest there would be for as many elements; 0: `units`.
  double evenUnits = 0;
  /// Microbatches are a loop; its first and last iteration are beside it.
  bool isLoop = false, isPeeled = false;
  /// Layers in a loop are gathered one iteration ahead and reduced one behind;
  /// else nothing of them overlaps.
  bool isPipelined = false;
  /// Which of them overlap.
  OverlapSet parts = {};
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
    /// Collectives of a unit in one type, equally often, are one.
    bool fuses = false;
    /// A collective over several levels is several where these are faster.
    bool decomposes = false;
    /// How much longer the program's update takes than one that reads and
    /// writes everything once: norms and clipping read gradients again.
    double updateScale = 1;
    WireFormat wire = {};
  };

  UnitCosts(const Unit &unit, const Context &context);

  /// Adds those of `count` other units, for the same strategy of all.
  void add(const UnitCosts &other, int64_t count);

  UnitMemory getMemory(unsigned p, unsigned g, unsigned os) const;
  double getBytes(unsigned p, unsigned g, unsigned os) const {
    return getMemory(p, g, os).getTotal();
  }
  /// Seconds of the collectives, of the optimizer's update, and of adding up
  /// gradients.
  double getSeconds(unsigned p, unsigned g, unsigned os) const {
    return gathers[at(p, os)].seconds + reductions[at(g, os)].seconds +
           updates[os].seconds + getAccumulationSeconds(g, os);
  }
  double getGatherSeconds(unsigned p, unsigned os) const {
    return gathers[at(p, os)].seconds;
  }
  double getReductionSeconds(unsigned g, unsigned os) const {
    return reductions[at(g, os)].seconds;
  }
  double getUpdateSeconds(unsigned os) const { return updates[os].seconds; }
  /// Of adding up the gradients of microbatches, beyond what that takes with
  /// everything sharded.
  double getAccumulationSeconds(unsigned g, unsigned os) const {
    return reductions[at(g, os)].accumulationSeconds;
  }
  /// The parts of them that may overlap with compute: of what runs once a step,
  /// before the first uses and after the last microbatch, and of what runs in
  /// each microbatch. Compute waits for a collective whose result another one
  /// takes.
  const TransferTime &getFirstGathers(unsigned p, unsigned os) const {
    return gathers[at(p, os)].once;
  }
  const TransferTime &getUseGathers(unsigned p, unsigned os) const {
    return gathers[at(p, os)].each;
  }
  const TransferTime &getLastReductions(unsigned g, unsigned os) const {
    return reductions[at(g, os)].once;
  }
  const TransferTime &getEachReductions(unsigned g, unsigned os) const {
    return reductions[at(g, os)].each;
  }
  /// Seconds of the update of a parameter in so many pieces of OS.
  static double getUpdateSeconds(const PlannedParameter &parameter,
                                 const Context &context, int64_t pieces);
  /// Times of collectives that were asked of the model.
  int64_t getEvaluations() const { return evaluations; }

private:
  struct Cost {
    double bytes = 0;
    double seconds = 0;
    /// What of them may overlap: of once a step, and of each microbatch.
    TransferTime once, each;
    double accumulationSeconds = 0; // of gradients
  };
  /// A collective, with what of it is not awaited at once.
  struct Asked {
    double seconds = 0;
    TransferTime overlapping;

    void add(const Asked &other) {
      seconds += other.seconds;
      overlapping.add(other.overlapping);
    }
  };
  /// Whether the collectives of `parts` equal parts overlap, if they run one by
  /// one in their loop; those of all at once have it before or behind them.
  static bool isOn(const Context &context, bool OverlapSet::*part);
  static bool canOverlap(const Context &context, int64_t parts, bool isInLoop);
  size_t at(unsigned inner, unsigned os) const { return inner * size + os; }
  /// Parameters whose collectives are one.
  using Fused = llvm::SmallVector<const PlannedParameter *>;
  void addUpdates(const PlannedParameter &parameter, const Context &context);
  void addGathers(const Fused &parameters, const Context &context, unsigned p,
                  unsigned os);
  void addReductions(const Fused &parameters, const Context &context,
                     unsigned g, unsigned os);
  void addWholeSums(const Fused &parameters, const Context &context, unsigned g,
                    Cost &cost);
  Asked ask(const Context &context, CollectiveKind kind, double bytes,
            unsigned coarse, unsigned fine);
  Asked time(const Context &context, CollectiveKind kind, double bytes,
             llvm::ArrayRef<int64_t> group);
  /// Of tensors of one element type between the same pieces, on the wire as
  /// `block` says; their elements are those of the full sides.
  struct Moved {
    llvm::SmallVector<double> elements;
    double width = 0; // bytes of an element
    std::optional<int64_t> block;

    double getElements() const;
    /// Of int8: a byte for each element, and four for each block of a piece.
    double getScaleBytes(double pieces, double share) const;
    bool isQuantized() const { return block && width > 1 + 4.0 / *block; }
  };
  Asked askGather(const Context &context, const Moved &moved, double share,
                  unsigned coarse, unsigned fine);
  Asked askSum(const Context &context, CollectiveKind kind, const Moved &moved,
               double share, unsigned coarse, unsigned fine);

  size_t size;
  /// By (p, os), (g, os) and os.
  std::vector<Cost> gathers, reductions, updates;
  int64_t evaluations = 0;
};

} // namespace amsp

#endif // AMSP_PLANNER_UNITCOSTS_H
