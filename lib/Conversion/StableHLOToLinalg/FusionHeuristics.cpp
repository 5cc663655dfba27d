//===- FusionHeuristics.cpp - What to fuse --------------------------------===//

#include "FusionHeuristics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace amsp;

/// A body that costs at most this is computed again rather than stored: loading
/// its result would cost about as much.
static constexpr unsigned cheapBodyCost = 8;
/// The same where it is computed again for each point of a larger loop.
static constexpr unsigned cheapBroadcastCost = 3;
/// More operands than this no longer fit the registers that hold addresses.
static constexpr unsigned maxOperands = 24;
static constexpr unsigned expensive = 1000;

int64_t amsp::getIterationCount(linalg::LinalgOp op) {
  int64_t count = 1;
  for (int64_t size : op.getStaticLoopRanges())
    count *= size;
  return count;
}

/// Roughly the instructions of an op per element, with throughput in mind.
static unsigned getCost(Operation &op) {
  return TypeSwitch<Operation *, unsigned>(&op)
      .Case<linalg::YieldOp, arith::ConstantOp, linalg::IndexOp,
            arith::IndexCastOp, arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp,
            arith::BitcastOp>([](auto) { return 0; })
      .Case<arith::DivFOp, math::SqrtOp>([](auto) { return 4; })
      .Case<arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
            arith::RemUIOp, tensor::ExtractOp>([](auto) { return expensive; })
      .Case<math::AbsFOp, math::AbsIOp, math::CopySignOp>(
          [](auto) { return 1; })
      .Default([](Operation *other) {
        return isa<arith::ArithDialect>(other->getDialect()) ? 1 : expensive;
      });
}

static unsigned getBodyCost(linalg::GenericOp op) {
  unsigned cost = 0;
  for (Operation &inner : *op.getBody())
    cost += getCost(inner);
  return cost;
}

/// Inputs that have an element for each point of the loops.
static unsigned countFullInputs(linalg::GenericOp op) {
  return llvm::count_if(op.getDpsInputOperands(), [&](OpOperand *input) {
    return op.getMatchingIndexingMap(input).getNumResults() == op.getNumLoops();
  });
}

/// Whether an input is read in another order than it is stored.
static bool transposesInput(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    int64_t last = -1;
    for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      if (static_cast<int64_t>(dim.getPosition()) < last)
        return true;
      last = dim.getPosition();
    }
    return false;
  });
}

static bool hasOneUser(Operation *producer, Operation *user) {
  return llvm::all_of(producer->getUsers(),
                      [&](Operation *other) { return other == user; });
}

bool amsp::isFusionProfitable(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer)
    return false;
  // Ops in different blocks stay there: a loop would compute the producer in
  // each iteration. Not so what is cheaply made of positions, as a mask is: the
  // loop's own may have become that of a copy of an iteration in front of it.
  if (producer->getBlock() != consumer->getBlock() &&
      (producer.getNumDpsInputs() != 0 ||
       getBodyCost(producer) > cheapBodyCost))
    return false;
  if (producer->getNumOperands() + consumer->getNumOperands() > maxOperands)
    return false;
  // A running value would go on running through the consumer's loops.
  if (llvm::any_of(producer.getDpsInitsMutable(), [&](OpOperand &init) {
        return producer.payloadUsesValueFromOperand(&init);
      }))
    return false;
  if (producer->getNumResults() > 1)
    return hasOneUser(producer, consumer) &&
           getIterationCount(consumer) <= getIterationCount(producer);
  unsigned cost = getBodyCost(producer);
  int64_t produced = getIterationCount(producer);
  if (getIterationCount(consumer) > produced) {
    // A scalar is computed once, not in a loop.
    unsigned limit = produced <= 1 ? 0 : cheapBroadcastCost;
    return cost <= limit && countFullInputs(producer) <= 1 &&
           !transposesInput(producer);
  }
  if (hasOneUser(producer, consumer))
    return true;
  // Computing it again may not read more than its result.
  return cost <= cheapBodyCost && countFullInputs(producer) <= 1 &&
         !transposesInput(producer);
}
