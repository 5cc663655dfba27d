//===- CountedLoop.h - Loops that run a known number of times ---*- C++ -*-===//

#ifndef AMSP_PLACEMENT_COUNTEDLOOP_H
#define AMSP_PLACEMENT_COUNTEDLOOP_H

#include "mlir/IR/Operation.h"

namespace amsp::stablehlo {
class WhileOp;
} // namespace amsp::stablehlo

namespace amsp {

/// A loop whose condition compares a carry, stepped by a constant from a
/// constant, with a constant.
struct CountedLoop {
  /// The carry that counts.
  unsigned counter = 0;
  int64_t first = 0, step = 1;
  /// Iterations.
  int64_t trips = 0;

  /// The counter in an iteration, which are numbered from 0.
  int64_t getCount(int64_t iteration) const { return first + step * iteration; }
};

std::optional<CountedLoop> getCountedLoop(stablehlo::WhileOp loop);

/// Iterations of a counted loop.
std::optional<int64_t> getLoopTripCount(stablehlo::WhileOp loop);

/// How often a loop is taken to run whose count is not known: more than once,
/// so that sums are completed before it rather than in it.
inline constexpr int64_t kUnknownTripCount = 16;

/// How often a step runs the op: the product of the trip counts of the loops
/// around it.
int64_t getTripCount(mlir::Operation *op);

} // namespace amsp

#endif // AMSP_PLACEMENT_COUNTEDLOOP_H
