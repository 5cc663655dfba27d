//===- CollectiveBuckets.cpp - Collectives that may become one ------------===//

#include "CollectiveBuckets.h"
#include "amsp/Dialect/AMSP/IR/PackedParameters.h"

using namespace mlir;
using namespace amsp;

/// None if the tensors are those of several units.
static std::optional<SharedTraits> getShared(CollectiveOpInterface op) {
  StringAttr unit = op.getPart(0).getUnit();
  for (PartAttr part : op.getParts().getAsRange<PartAttr>())
    if (part.getUnit() != unit)
      return std::nullopt;
  IntegerAttr window;
  if (auto gather = dyn_cast<AllGatherOp>(*op))
    window = gather.getWindowAttr();
  return SharedTraits{op.getKind(),        op.getCombiner(), op.getGroup(),
                      op.getElementType(), window,           unit};
}

/// True if both move a tensor for the same parameter.
static bool shareParameter(CollectiveOpInterface lhs,
                           CollectiveOpInterface rhs) {
  return llvm::any_of(lhs.getParts().getAsRange<PartAttr>(), [&](PartAttr own) {
    return own.getParameter() &&
           llvm::any_of(rhs.getParts().getAsRange<PartAttr>(),
                        [&](PartAttr other) {
                          return own.getParameter() == other.getParameter();
                        });
  });
}

std::vector<CollectiveBucket> amsp::collectBuckets(Block &block) {
  std::vector<CollectiveBucket> buckets;
  SmallVector<size_t> open;
  StringAttr gathering, reducing;
  for (Operation &op : block) {
    // What has packed tensors was fused, and one more would be behind them.
    if (!isa<AllGatherOp, ReduceScatterOp, AllReduceOp, AllToAllOp>(op) ||
        op.hasAttr(kPackedAttr))
      continue;
    auto collective = cast<CollectiveOpInterface>(op);
    std::optional<SharedTraits> shared = getShared(collective);
    if (!shared)
      continue;
    StringAttr &current = isGather(shared->kind) ? gathering : reducing;
    if (shared->unit && shared->unit != current) {
      llvm::erase_if(open, [&](size_t index) {
        const SharedTraits &other = buckets[index].shared;
        return other.unit && isGather(other.kind) == isGather(shared->kind);
      });
      current = shared->unit;
    }
    auto *found = llvm::find_if(
        open, [&](size_t index) { return buckets[index].shared == *shared; });
    if (found != open.end() && !isGather(shared->kind) &&
        llvm::any_of(buckets[*found].members,
                     [&](CollectiveOpInterface member) {
                       return shareParameter(member, collective);
                     })) {
      open.erase(found);
      found = open.end();
    }
    if (found == open.end()) {
      open.push_back(buckets.size());
      buckets.push_back({*shared, {}});
      found = std::prev(open.end());
    }
    buckets[*found].members.push_back(collective);
  }
  return buckets;
}
