//===- BufferLifetimes.cpp - When buffers are in use ----------------------===//

#include "BufferLifetimes.h"
#include "BufferAliases.h"

using namespace mlir;
using namespace amsp;

void ProgramOrder::number(Operation *op) {
  int64_t begin = next++;
  for (Region &region : op->getRegions())
    for (Operation &nested : region.getOps())
      number(&nested);
  spans[op] = {begin, next++};
}

LiveBuffer amsp::getLifetime(Operation *maker, const ProgramOrder &order) {
  Value made = maker->getResult(0);
  LiveBuffer buffer{getBufferBytes(cast<MemRefType>(made.getType())),
                    std::numeric_limits<int64_t>::max(), -1};
  forEachAccess(made, [&](OpOperand &use) {
    Operation *top = maker->getBlock()->findAncestorOpInBlock(*use.getOwner());
    buffer.begin = std::min(buffer.begin, order.getBegin(top));
    buffer.end = std::max(buffer.end, order.getEnd(top));
  });
  return buffer;
}
