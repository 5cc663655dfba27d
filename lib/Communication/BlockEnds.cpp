//===- BlockEnds.cpp - What a block has nothing to hide behind ------------===//

#include "BlockEnds.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/IterationBoundary.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include <limits>

using namespace mlir;
using namespace amsp;

bool amsp::isCheap(Operation *op) {
  return op->hasTrait<stablehlo::Elementwise>() ||
         isa<GroupIndexOp, stablehlo::BroadcastInDimOp,
             stablehlo::ConcatenateOp, stablehlo::ConstantOp,
             stablehlo::DynamicSliceOp, stablehlo::IotaOp, stablehlo::PadOp,
             stablehlo::ReduceOp, stablehlo::ReshapeOp, stablehlo::SliceOp,
             stablehlo::TransposeOp>(op);
}

/// True for ops that do not count between a collective and computation.
static bool isPassedThrough(Operation *op) {
  return isCheap(op) || isIterationBoundary(op);
}

static bool isContraction(Operation *op) {
  return isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op);
}

static bool holdsContraction(Operation &op) {
  return op
      .walk([](Operation *nested) {
        return isContraction(nested) ? WalkResult::interrupt()
                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

BlockEnds::BlockEnds(Block &block) : block(block) {
  Operation *begin = nullptr, *end = nullptr;
  int64_t position = 0;
  for (Operation &op : block) {
    positions[&op] = position++;
    if (!holdsContraction(op))
      continue;
    begin = begin ? begin : &op;
    end = &op;
  }
  if (begin && isContraction(begin))
    first = positions.lookup(begin);
  if (end && isContraction(end))
    last = positions.lookup(end);
}

int64_t BlockEnds::getFirstUse(Operation *op) {
  if (auto known = uses.find(op); known != uses.end())
    return known->second;
  int64_t use = std::numeric_limits<int64_t>::max();
  for (Operation *user : op->getUsers()) {
    Operation *top = block.findAncestorOpInBlock(*user);
    use = std::min(use, isPassedThrough(top) ? getFirstUse(top)
                                             : positions.lookup(top));
  }
  return uses[op] = use;
}

int64_t BlockEnds::getLastSource(Operation *op) {
  if (auto known = sources.find(op); known != sources.end())
    return known->second;
  int64_t source = -1;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || producer->getBlock() != &block)
      continue;
    source = std::max(source, isPassedThrough(producer)
                                  ? getLastSource(producer)
                                  : positions.lookup(producer));
  }
  return sources[op] = source;
}

bool BlockEnds::isNeededAtBegin(Operation *op) {
  return first && getFirstUse(op) <= *first;
}

bool BlockEnds::isMadeAtEnd(Operation *op) {
  return last && getLastSource(op) >= *last;
}
