//===- BlockOrder.cpp - The order of a block that changes -----------------===//

#include "BlockOrder.h"

using namespace mlir;
using namespace amsp;

/// Room for about 30 insertions at one place, in blocks of 2^32 ops.
static constexpr int64_t kStep = int64_t(1) << 30;

BlockOrder::BlockOrder(Block &block) : block(block) { number(); }

void BlockOrder::number() {
  int64_t number = 0;
  for (Operation &op : block)
    numbers[&op] = number += kStep;
}

bool BlockOrder::isBefore(Operation *lhs, Operation *rhs) const {
  return numbers.at(lhs) < numbers.at(rhs);
}

void BlockOrder::moveBefore(ArrayRef<Operation *> ops, Operation *place) {
  if (ops.empty())
    return;
  for (Operation *op : ops)
    op->moveBefore(place);
  insert(ops.front(), place);
}

void BlockOrder::insert(Operation *first, Operation *place) {
  Operation *before = first->getPrevNode();
  int64_t number = before ? numbers.at(before) : 0;
  int64_t room = numbers.at(place) - number;
  auto added = llvm::make_range(first->getIterator(), place->getIterator());
  int64_t step = room / (std::distance(added.begin(), added.end()) + 1);
  if (step == 0)
    return this->number();
  for (Operation &op : added)
    numbers[&op] = number += step;
}

void BlockOrder::erase(Operation *op) {
  numbers.erase(op);
  op->erase();
}
