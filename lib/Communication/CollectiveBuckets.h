//===- CollectiveBuckets.h - Collectives that may become one ----*- C++ -*-===//

#ifndef AMSP_LIB_COMMUNICATION_COLLECTIVEBUCKETS_H
#define AMSP_LIB_COMMUNICATION_COLLECTIVEBUCKETS_H

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"

namespace amsp {

inline bool isGather(CollectiveKind kind) {
  return kind == CollectiveKind::AllGather;
}

/// What collectives agree in that become one.
struct SharedTraits {
  CollectiveKind kind;
  std::optional<Reduction> reduction;
  GroupAttr group;
  mlir::Type elementType;
  mlir::IntegerAttr window;
  mlir::StringAttr unit; // null for what no parameter asks for

  bool operator==(const SharedTraits &other) const {
    return std::tie(kind, reduction, group, elementType, window, unit) ==
           std::tie(other.kind, other.reduction, other.group, other.elementType,
                    other.window, other.unit);
  }
};

struct CollectiveBucket {
  SharedTraits shared;
  llvm::SmallVector<CollectiveOpInterface> members;
};

/// The buckets of a block, in the order of their first members. A unit's uses
/// end where another unit's begin, for gathers and for reductions alike; so
/// nothing waits for another unit. A parameter's second reduction is of another
/// layer of its stack, or of another microbatch: the first does not wait for
/// it. Collectives of several units are in none.
std::vector<CollectiveBucket> collectBuckets(mlir::Block &block);

} // namespace amsp

#endif // AMSP_LIB_COMMUNICATION_COLLECTIVEBUCKETS_H
