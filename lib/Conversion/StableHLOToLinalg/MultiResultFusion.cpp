//===- MultiResultFusion.cpp - One pass over memory, several results ------===//

#include "FusionHeuristics.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
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
/// the producer's element at each, in no other way.
static bool canFuseLoops(linalg::GenericOp producer,
                         linalg::GenericOp consumer) {
  if (!isParallel(producer) || !writesInLoopOrder(producer) ||
      producer.getStaticLoopRanges() != consumer.getStaticLoopRanges() ||
      (isParallel(consumer) && !writesInLoopOrder(consumer)) ||
      producer->getNumResults() + consumer->getNumResults() > maxResults ||
      producer->getNumOperands() + consumer->getNumOperands() > maxOperands)
    return false;
  return llvm::all_of(producer->getUses(), [&](OpOperand &use) {
    if (use.getOwner() != consumer)
      // A body that reads other elements of the producer's result.
      return !consumer->isProperAncestor(use.getOwner());
    return consumer.isDpsInput(&use) &&
           consumer.getMatchingIndexingMap(&use).isIdentity();
  });
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
static bool hoistTo(Operation *producer, Operation *consumer) {
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
  // Not moved: that would number the whole block anew.
  Operation *last = producer;
  for (Operation *op : moved) {
    op->remove();
    producer->getBlock()->getOperations().insertAfter(last->getIterator(), op);
    last = op;
  }
  return true;
}

/// One op with the operands, bodies and results of both.
static linalg::GenericOp createFusedOp(RewriterBase &rewriter,
                                       linalg::GenericOp producer,
                                       linalg::GenericOp consumer) {
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> inputMaps, outputMaps;
  // Block arguments of the old bodies, in the order of the new operands.
  SmallVector<BlockArgument> inputArguments, outputArguments;
  IRMapping mapping;
  for (linalg::GenericOp op : {producer, consumer}) {
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (op.isDpsInit(&operand)) {
        outputs.push_back(operand.get());
        outputMaps.push_back(map);
        outputArguments.push_back(argument);
      } else if (operand.get().getDefiningOp() != producer) {
        inputs.push_back(operand.get());
        inputMaps.push_back(map);
        inputArguments.push_back(argument);
      }
    }
  }
  llvm::append_range(inputMaps, outputMaps);
  llvm::append_range(inputArguments, outputArguments);
  return linalg::GenericOp::create(
      rewriter, rewriter.getFusedLoc({producer.getLoc(), consumer.getLoc()}),
      TypeRange(outputs), inputs, outputs, inputMaps,
      consumer.getIteratorTypesArray(),
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        mapping.map(inputArguments, arguments);
        SmallVector<Value> yielded;
        for (linalg::GenericOp op : {producer, consumer}) {
          for (Operation &inner : op.getBody()->without_terminator())
            builder.clone(inner, mapping);
          for (Value value : op.getBody()->getTerminator()->getOperands())
            yielded.push_back(mapping.lookupOrDefault(value));
          if (op == consumer)
            break;
          for (OpOperand *input : consumer.getDpsInputOperands())
            if (auto result = dyn_cast<OpResult>(input->get());
                result && result.getOwner() == producer)
              mapping.map(consumer.getMatchingBlockArgument(input),
                          yielded[result.getResultNumber()]);
        }
        linalg::YieldOp::create(builder, loc, yielded);
      });
}

/// Returns the fused op, or null.
static linalg::GenericOp fuse(RewriterBase &rewriter,
                              linalg::GenericOp producer,
                              linalg::GenericOp consumer) {
  if (!canFuseLoops(producer, consumer) ||
      (!canSinkTo(producer, consumer) && !hoistTo(producer, consumer)))
    return {};
  rewriter.setInsertionPoint(consumer);
  linalg::GenericOp fused = createFusedOp(rewriter, producer, consumer);
  size_t count = producer->getNumResults();
  rewriter.replaceOp(consumer, fused->getResults().drop_front(count));
  rewriter.replaceOp(producer, fused->getResults().take_front(count));
  return fused;
}

/// Fuses one producer into the op, if there is one to fuse.
static linalg::GenericOp fuseSomeProducer(RewriterBase &rewriter,
                                          linalg::GenericOp op) {
  for (Value input : op.getInputs()) {
    auto producer = input.getDefiningOp<linalg::GenericOp>();
    if (!producer || producer->getBlock() != op->getBlock())
      continue;
    if (linalg::GenericOp fused = fuse(rewriter, producer, op))
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
