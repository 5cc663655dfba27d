//===- OpCosts.h - Time of one op of a rank's program -----------*- C++ -*-===//

#ifndef AMSP_PLANNER_OPCOSTS_H
#define AMSP_PLANNER_OPCOSTS_H

#include "amsp/Placement/Cluster.h"
#include "amsp/Planner/CollectiveModel.h"
#include "amsp/Target/Manifest.h"
#include "mlir/IR/Operation.h"

namespace amsp {

/// One run of an op on a rank's device.
struct OpCost {
  double operations = 0; // of contractions
  double bytes = 0;      // read and written in the device's memory
  double seconds = 0;
};

/// True for ops whose results code generation computes where they are used, so
/// that they are neither a kernel nor a buffer: constants, broadcasts,
/// reshapes, and elementwise values with a single, elementwise or reducing,
/// use.
bool isFusedIntoUses(mlir::Operation *op);

/// Adds the buffers that are read when `value` is: itself, or those that it is
/// fused from.
void addSources(mlir::Value value, llvm::SetVector<mlir::Value> &sources);

/// The cost of one run of an op. A contraction takes its operations at the
/// device's achieved rate, or its bytes at the memory's bandwidth if that is
/// longer; so does attention, whose bytes are those of its operands and
/// results: at the device's rate of fused attention the pairs that a causal
/// mask leaves, without such a rate all pairs. Any other op takes its bytes.
/// Ops that take a part of a buffer read that part only, those that update one
/// write it in place.
///
/// Zero for ops that are fused into their uses, for collectives, for
/// terminators, and for ops that hold others (loops, branches: ask for the ops
/// in them). Fails, with a diagnostic, for a contraction in a type of which the
/// device gives no peak rate.
mlir::FailureOr<OpCost> getOpCost(mlir::Operation *op, const Device &device);

/// The share of the peak rate at which a contraction of so many operations
/// runs: linear between the curve's points in the logarithm of operations, and
/// constant outside; 1 without a curve.
double getAchievedShare(const Device &device, double operations);

/// Bytes of the full, padded side of a collective, all its operands together.
double getCollectiveBytes(const CollectiveRecord &record);

/// Seconds of one run of a collective, alone on its links but for its sibling
/// groups.
double getCollectiveSeconds(const CollectiveRecord &record,
                            const CollectiveModel &collectives);

} // namespace amsp

#endif // AMSP_PLANNER_OPCOSTS_H
