//===- MemoryRange.cpp - Which bytes a memref covers ----------------------===//

#include "MemoryRange.h"
#include "BufferAliases.h"
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "amsp/Target/DataTypes.h"

using namespace mlir;
using namespace amsp;

/// The elements between the first and the last one of a memref, from the start
/// of its buffer; none where that is known only at run time.
static std::optional<std::pair<int64_t, int64_t>>
getStaticExtent(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset))
    return std::nullopt;
  if (type.getNumElements() == 0)
    return std::pair(offset, offset);
  int64_t last = offset;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
    if (ShapedType::isDynamic(stride))
      return std::nullopt;
    last += (size - 1) * stride;
  }
  return std::pair(offset, last + 1);
}

MemoryRange MemoryRange::of(Value memref) {
  Value view = memref;
  std::optional<std::pair<int64_t, int64_t>> extent;
  // The offset of a view's type counts from the buffer below all views.
  while (!(extent = getStaticExtent(cast<MemRefType>(view.getType())))) {
    Operation *op = view.getDefiningOp();
    Value source = op ? getViewSource(op) : Value();
    if (!source)
      break;
    view = source;
  }
  int64_t width =
      getElementBytes(cast<MemRefType>(memref.getType()).getElementType());
  MemoryRange range;
  range.buffer = getRootBuffer(memref);
  range.end = std::numeric_limits<int64_t>::max();
  if (extent)
    std::tie(range.begin, range.end) =
        std::pair(extent->first * width, extent->second * width);
  if (auto arena = range.buffer.getDefiningOp<ArenaViewOp>()) {
    range.buffer = Value();
    range.begin += arena.getOffset();
    if (extent)
      range.end += arena.getOffset();
  }
  return range;
}
