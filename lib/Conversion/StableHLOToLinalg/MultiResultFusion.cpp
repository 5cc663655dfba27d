//===- MultiResultFusion.cpp - One pass over memory, several results ------===//

#include "FusionHeuristics.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace amsp;

/// More results than this are more streams than the hardware prefetches.
static constexpr unsigned maxResults = 6;
static constexpr unsigned maxOperands = 32;

static bool isParallel(linalg::GenericOp op) {
  return op.getNumParallelLoops() == op.getNumLoops();
}

/// All results are written in the order of the loops. Then an update in place
/// reads and writes the same element.
static bool writesInLoopOrder(linalg::GenericOp op) {
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return op.getMatchingIndexingMap(&init).isIdentity();
  });
}

/// Whether both visit the same points in the same order, and the consumer reads
/// the producer's element at each.
static bool haveSameLoops(linalg::GenericOp producer, OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  return isParallel(producer) && writesInLoopOrder(producer) &&
         consumer.getMatchingIndexingMap(operand).isIdentity() &&
         producer.getStaticLoopRanges() == consumer.getStaticLoopRanges() &&
         (!isParallel(consumer) || writesInLoopOrder(consumer));
}

/// All other users of the producer come after the consumer.
static bool canSinkTo(Operation *producer, Operation *consumer) {
  return llvm::all_of(producer->getUsers(), [&](Operation *user) {
    Operation *ancestor = consumer->getBlock()->findAncestorOpInBlock(*user);
    return user == consumer ||
           (ancestor && consumer->isBeforeInBlock(ancestor));
  });
}

/// Ops that make the destination of a consumer.
static bool isDestination(Operation *op) {
  if (isa<tensor::EmptyOp>(op))
    return true;
  auto fill = dyn_cast<linalg::FillOp>(op);
  return fill && matchPattern(fill.getInputs()[0], m_Constant());
}

/// Moves the consumer right behind the producer if all that it needs is there.
static bool hoistTo(RewriterBase &rewriter, Operation *producer,
                    Operation *consumer) {
  SetVector<Operation *> moved;
  auto collect = [&](auto &self, Value value) -> bool {
    Operation *definition = value.getDefiningOp();
    if (!definition || definition->getBlock() != producer->getBlock() ||
        definition == producer || definition->isBeforeInBlock(producer))
      return true;
    if (!isDestination(definition) && !matchPattern(value, m_Constant()))
      return false;
    for (Value operand : definition->getOperands())
      if (!self(self, operand))
        return false;
    moved.insert(definition);
    return true;
  };
  SetVector<Value> needed(consumer->operand_begin(), consumer->operand_end());
  getUsedValuesDefinedAbove(consumer->getRegions(), needed);
  for (Value value : needed)
    if (!collect(collect, value))
      return false;
  moved.insert(consumer);
  Operation *last = producer;
  for (Operation *op : moved) {
    rewriter.moveOpAfter(op, last);
    last = op;
  }
  return true;
}

/// Returns the fused op, or null.
static linalg::GenericOp fuse(RewriterBase &rewriter,
                              linalg::GenericOp producer, OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  if (!haveSameLoops(producer, operand) ||
      !linalg::areElementwiseOpsFusable(operand) ||
      producer->getNumResults() + consumer->getNumResults() > maxResults ||
      producer->getNumOperands() + consumer->getNumOperands() > maxOperands)
    return {};
  if (!canSinkTo(producer, consumer) && !hoistTo(rewriter, producer, consumer))
    return {};
  rewriter.setInsertionPoint(consumer);
  FailureOr<linalg::ElementwiseOpFusionResult> fused =
      linalg::fuseElementwiseOps(rewriter, operand);
  if (failed(fused))
    return {};
  for (Operation *op : {consumer.getOperation(), producer.getOperation()}) {
    for (Value result : op->getResults())
      if (Value replacement = fused->replacements.lookup(result))
        rewriter.replaceAllUsesExcept(result, replacement, fused->fusedOp);
    rewriter.eraseOp(op);
  }
  return cast<linalg::GenericOp>(fused->fusedOp);
}

/// Fuses one producer into the op, if there is one to fuse.
static linalg::GenericOp fuseSomeProducer(RewriterBase &rewriter,
                                          linalg::GenericOp op) {
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    if (!producer || producer->getBlock() != op->getBlock())
      continue;
    if (linalg::GenericOp fused = fuse(rewriter, producer, operand))
      return fused;
  }
  return {};
}

unsigned amsp::fuseIntoMultiResultOps(RewriterBase &rewriter, Block &block) {
  unsigned count = 0;
  Operation *op = block.empty() ? nullptr : &block.front();
  while (op) {
    // What a fusion erases or moves lies before the next op.
    Operation *next = op->getNextNode();
    auto generic = dyn_cast<linalg::GenericOp>(op);
    while (generic && (generic = fuseSomeProducer(rewriter, generic)))
      ++count;
    op = next;
  }
  return count;
}
