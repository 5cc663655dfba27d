//===- BlockEnds.cpp - What a block has nothing to hide behind ------------===//

#include "BlockEnds.h"
#include "amsp/Dialect/AMSP/IR/CheapOps.h"
#include "amsp/Dialect/StableHLO/IR/IterationBoundary.h"
#include <limits>

using namespace mlir;
using namespace amsp;

/// Behind all positions.
static constexpr int64_t kNoUse = std::numeric_limits<int64_t>::max();

bool amsp::isCheap(Operation *op) {
  return isMemoryPass(op) || isa<stablehlo::ReduceOp>(op);
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

BlockEnds::BlockEnds(Block &block) {
  findSources(block);
  findUses(block);
  Operation *begin = nullptr, *end = nullptr;
  for (Operation &op : block) {
    if (!holdsContraction(op))
      continue;
    begin = begin ? begin : &op;
    end = &op;
  }
  if (begin && isContraction(begin))
    first = entries.at(begin).position;
  if (end && isContraction(end))
    last = entries.at(end).position;
}

/// Fills the entries but for their uses: operands have theirs before.
void BlockEnds::findSources(Block &block) {
  int64_t position = 0;
  for (Operation &op : block) {
    int64_t source = -1;
    for (Value operand : op.getOperands()) {
      auto producer = entries.find(operand.getDefiningOp());
      if (producer == entries.end())
        continue;
      const Entry &entry = producer->second;
      source = std::max(source, entry.isPassedThrough ? entry.lastSource
                                                      : entry.position);
    }
    entries[&op] = {position++, kNoUse, source, isPassedThrough(&op)};
  }
}

void BlockEnds::findUses(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    int64_t use = kNoUse;
    for (Operation *user : op.getUsers()) {
      const Entry &entry = entries.at(block.findAncestorOpInBlock(*user));
      use = std::min(use,
                     entry.isPassedThrough ? entry.firstUse : entry.position);
    }
    entries.find(&op)->second.firstUse = use;
  }
}

int64_t BlockEnds::getFirstUse(Operation *op) const {
  return entries.at(op).firstUse;
}

int64_t BlockEnds::getLastSource(Operation *op) const {
  return entries.at(op).lastSource;
}

bool BlockEnds::isNeededAtBegin(Operation *op) const {
  return first && getFirstUse(op) <= *first;
}

bool BlockEnds::isMadeAtEnd(Operation *op) const {
  return last && getLastSource(op) >= *last;
}
