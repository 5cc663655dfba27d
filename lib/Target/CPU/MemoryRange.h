//===- MemoryRange.h - Which bytes a memref covers --------------*- C++ -*-===//

#ifndef AMSP_LIB_TARGET_CPU_MEMORYRANGE_H
#define AMSP_LIB_TARGET_CPU_MEMORYRANGE_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace amsp {

/// Bytes [begin, end) of the arena, or of another buffer. A view with an offset
/// known only at run time covers what it is a view of.
struct MemoryRange {
  mlir::Value buffer; // null: the arena
  int64_t begin = 0;
  int64_t end = 0;

  static MemoryRange of(mlir::Value memref);

  bool overlaps(const MemoryRange &other) const {
    return buffer == other.buffer && begin < other.end && other.begin < end;
  }
  bool contains(const MemoryRange &other) const {
    return buffer == other.buffer && begin <= other.begin && other.end <= end;
  }
};

} // namespace amsp

#endif // AMSP_LIB_TARGET_CPU_MEMORYRANGE_H
