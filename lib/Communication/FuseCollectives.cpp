//===- FuseCollectives.cpp - Collectives of a unit become one -------------===//

#include "BlockEnds.h"
#include "BlockOrder.h"
#include "CollectiveBuckets.h"
#include "Decisions.h"
#include "PackedTensors.h"
#include "amsp/Communication/FusionLimit.h"
#include "amsp/Communication/Passes.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Target/Manifest.h"
#include "amsp/Target/TensorBytes.h"
#include "llvm/Support/FormatVariadic.h"

namespace amsp {
#define GEN_PASS_DEF_FUSECOLLECTIVES
#include "amsp/Communication/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

using Members = ArrayRef<CollectiveOpInterface>;

/// What may wait for a collective of no unit, at most: scalars and the like.
static constexpr int64_t kSmallBytes = 4096;

static int64_t getBytes(CollectiveOpInterface op) {
  return describeCollective(op).getPaddedBytes();
}

static bool isSmall(Operation *op) {
  return llvm::all_of(op->getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && getTensorBytes(tensor) <= kSmallBytes;
  });
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Adds ops between `first` and `value`'s definition that it needs, itself
/// included, each behind those that it needs. False if one of them is too much
/// to be moved up to `first`; `needed` has then some of them.
static bool collectNeeded(Value value, Operation *first,
                          const BlockOrder &order,
                          llvm::SetVector<Operation *> &needed) {
  // Ops that wait for their operands, with the next of these.
  SmallVector<std::pair<Operation *, unsigned>> path;
  auto visit = [&](Value visited) {
    Operation *op = visited.getDefiningOp();
    if (!op || op->getBlock() != first->getBlock() || needed.contains(op) ||
        order.isBefore(op, first))
      return true;
    path.emplace_back(op, 0);
    return op != first && isCheap(op);
  };
  if (!visit(value))
    return false;
  while (!path.empty()) {
    auto &[op, next] = path.back();
    if (next == op->getNumOperands()) {
      needed.insert(op);
      path.pop_back();
    } else if (!visit(op->getOperand(next++))) {
      return false;
    }
  }
  return true;
}

/// True if all ops between the two are cheap.
static bool areNeighbours(Operation *lhs, Operation *rhs) {
  auto between =
      llvm::make_range(std::next(lhs->getIterator()), rhs->getIterator());
  return llvm::all_of(between, [](Operation &op) { return isCheap(&op); });
}

/// Moves what their operands need to before the first gather. Returns how many
/// of them, from the first on, can be there; of no unit, only neighbours, since
/// all results live from there on.
static size_t hoistOperands(Members gathers, bool isOfUnit, BlockOrder &order) {
  Operation *first = gathers.front();
  llvm::SetVector<Operation *> needed;
  size_t count = 1;
  for (CollectiveOpInterface gather : gathers.drop_front()) {
    size_t before = needed.size();
    bool isPossible = isOfUnit || areNeighbours(gathers[count - 1], gather);
    isPossible &= llvm::all_of(gather->getOperands(), [&](Value operand) {
      return collectNeeded(operand, first, order, needed);
    });
    if (!isPossible) {
      while (needed.size() > before)
        needed.pop_back();
      break;
    }
    ++count;
  }
  // Operands come before what needs them.
  order.moveBefore(needed.getArrayRef(), first);
  return count;
}

static bool dependsOn(Operation *op, const DenseSet<Operation *> &others) {
  WalkResult walk = op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (others.contains(operand.getDefiningOp()))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// Finds what stands between the reductions and depends on them, so that it has
/// to wait for the last one. Returns how many reductions, from the first on,
/// can be at the last one's place: none depends on another, and for the sake of
/// no unit nothing of size waits.
static size_t collectDependents(Members reductions, bool isOfUnit,
                                SmallVectorImpl<Operation *> &dependents) {
  DenseSet<Operation *> waiting;
  SmallVector<Operation *> sinceLast;
  size_t count = 0;
  for (Operation *op = reductions.front();; op = op->getNextNode()) {
    bool depends = dependsOn(op, waiting);
    if (op == reductions[count]) {
      if (depends)
        return count;
      dependents.append(sinceLast);
      sinceLast.clear();
      waiting.insert(op);
      if (++count == reductions.size())
        return count;
    } else if (depends) {
      if (!isOfUnit && !(isCheap(op) && isSmall(op)))
        return count;
      sinceLast.push_back(op);
      waiting.insert(op);
    }
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct FuseCollectives : amsp::impl::FuseCollectivesBase<FuseCollectives> {
  using Base::Base;

  void runOnOperation() override;

private:
  void fuse(CollectiveBucket &bucket, int64_t maxBytes, BlockOrder &order);
  void fuseBlock(Block &block);
  void fuseGathers(Members gathers, bool isOfUnit, BlockOrder &order);
  void fuseReductions(Members reductions, bool isOfUnit, BlockOrder &order);
  /// Says why a collective is not one with those before it.
  void noteApart(CollectiveOpInterface op, StringRef why) {
    noteLeft(*this, op.getLoc(), "apart",
             [&] { return (describeForRemark(op) + ": " + why).str(); });
  }
  void merge(Members members, Operation *place, BlockOrder &order);

  std::optional<FusionLimit> limit;
};
} // namespace

/// Replaces the collectives by one in front of `place`.
void FuseCollectives::merge(Members members, Operation *place,
                            BlockOrder &order) {
  SmallVector<Location> locations;
  SmallVector<MovedTensor> tensors;
  SmallVector<Value> results;
  for (CollectiveOpInterface member : members) {
    locations.push_back(member.getLoc());
    llvm::append_range(results, member->getResults());
    for (auto [index, operand] : llvm::enumerate(member->getOperands()))
      tensors.push_back({operand, member.getFullType(index),
                         member.getPieceType(index), member.getPart(index)});
  }
  Operation *before = place->getPrevNode();
  OpBuilder builder(place);
  CollectiveTraits traits = CollectiveTraits::get(members.front());
  int64_t largest = packBytes < 0
                        ? limit->getPackBytes(traits.kind, traits.group)
                        : packBytes;
  PackedTensors packed(builder, builder.getFusedLoc(locations), traits,
                       largest);
  for (auto [result, fused] : llvm::zip_equal(results, packed.build(tensors)))
    result.replaceAllUsesWith(fused);
  order.insert(before ? before->getNextNode() : &place->getBlock()->front(),
               place);
  packedBytes += packed.getCopiedBytes();
  noteDone(*this, packed.getLoc(), "fused",
           [&] { return describeForRemark(packed.getCollective()); });
  if (packed.getCopiedBytes() > 0)
    noteDone(*this, packed.getLoc(), "packed", [&] {
      return llvm::formatv("copies {0} bytes", packed.getCopiedBytes()).str();
    });
  numFused += members.size();
  for (CollectiveOpInterface member : members)
    order.erase(member);
}

void FuseCollectives::fuseGathers(Members gathers, bool isOfUnit,
                                  BlockOrder &order) {
  while (gathers.size() > 1) {
    size_t count = hoistOperands(gathers, isOfUnit, order);
    if (count > 1)
      merge(gathers.take_front(count), gathers.front(), order);
    gathers = gathers.drop_front(count);
    if (!gathers.empty())
      noteApart(gathers.front(), isOfUnit
                                     ? "what it gathers is made too late"
                                     : "its neighbours' results would wait");
  }
}

void FuseCollectives::fuseReductions(Members reductions, bool isOfUnit,
                                     BlockOrder &order) {
  while (reductions.size() > 1) {
    SmallVector<Operation *> dependents;
    size_t count = collectDependents(reductions, isOfUnit, dependents);
    Operation *last = reductions[count - 1];
    order.moveBefore(dependents, last->getNextNode());
    if (count > 1)
      merge(reductions.take_front(count), last, order);
    reductions = reductions.drop_front(count);
    if (!reductions.empty())
      noteApart(reductions.front(),
                isOfUnit ? "it needs another one's result"
                         : "it, or more than scalars, needs another one's "
                           "result");
  }
}

void FuseCollectives::fuse(CollectiveBucket &bucket, int64_t maxBytes,
                           BlockOrder &order) {
  SmallVector<CollectiveOpInterface> group;
  int64_t groupBytes = 0;
  auto flush = [&] {
    // Fusing others may have moved them.
    llvm::sort(group, [&](Operation *lhs, Operation *rhs) {
      return order.isBefore(lhs, rhs);
    });
    auto isOfUnit = static_cast<bool>(bucket.shared.unit);
    if (isGather(bucket.shared.kind))
      fuseGathers(group, isOfUnit, order);
    else
      fuseReductions(group, isOfUnit, order);
    group.clear();
    groupBytes = 0;
  };
  for (CollectiveOpInterface member : bucket.members) {
    int64_t bytes = getBytes(member);
    if (bytes > maxBytes - groupBytes && !group.empty()) {
      noteApart(member, "more than the limit with those before it");
      flush();
    }
    group.push_back(member);
    groupBytes += bytes;
  }
  flush();
}

/// True if the computation of the block begins with the unit's use, or ends
/// with its gradients: nothing hides the whole of it.
static bool isAtEnd(const CollectiveBucket &bucket, const BlockEnds &ends) {
  return bucket.shared.unit &&
         llvm::any_of(bucket.members, [&](Operation *member) {
           return isGather(bucket.shared.kind) ? ends.isNeededAtBegin(member)
                                               : ends.isMadeAtEnd(member);
         });
}

/// Gathers in the order in which they are needed, reductions in that in which
/// their operands are made: wherever they stand, where a bucket is cut what can
/// go first does.
static void sortByTurn(CollectiveBucket &bucket, const BlockEnds &ends,
                       const BlockOrder &order) {
  auto getTurn = [&](Operation *op) {
    return isGather(bucket.shared.kind) ? ends.getFirstUse(op)
                                        : ends.getLastSource(op);
  };
  llvm::sort(bucket.members, [&](Operation *lhs, Operation *rhs) {
    int64_t left = getTurn(lhs), right = getTurn(rhs);
    return left == right ? order.isBefore(lhs, rhs) : left < right;
  });
}

void FuseCollectives::fuseBlock(Block &block) {
  std::vector<CollectiveBucket> buckets = collectBuckets(block);
  if (buckets.empty())
    return;
  SmallVector<int64_t> limits;
  BlockEnds ends(block);
  BlockOrder order(block);
  for (CollectiveBucket &bucket : buckets) {
    const SharedTraits &shared = bucket.shared;
    int64_t bytes = 0;
    for (CollectiveOpInterface member : bucket.members)
      bytes += getBytes(member);
    limits.push_back(splitEnds && isAtEnd(bucket, ends)
                         ? limit->getEndBytes(shared.kind, shared.group, bytes)
                         : limit->getBytes(shared.kind, shared.group));
    sortByTurn(bucket, ends, order);
  }
  for (auto [bucket, bytes] : llvm::zip_equal(buckets, limits))
    fuse(bucket, bytes, order);
}

void FuseCollectives::runOnOperation() {
  if (maxBytes < 0 || packBytes < -1) {
    getOperation().emitError("bytes and pack-bytes cannot be negative");
    return signalPassFailure();
  }
  llvm::Expected<FusionLimit> made = FusionLimit::create(cluster, maxBytes);
  if (!made) {
    getOperation().emitError(llvm::toString(made.takeError()));
    return signalPassFailure();
  }
  limit = std::move(*made);
  SmallVector<Block *> blocks;
  getOperation().walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks)
    fuseBlock(*block);
}
