//===- MemoryProfile.cpp - What a rank's memory holds in a step -----------===//

#include "amsp/Target/CPU/MemoryProfile.h"
#include "BufferAliases.h"
#include "BufferLifetimes.h"
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Target/CPU/Passes.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace amsp;

StringRef amsp::stringifyBufferUse(BufferUse use) {
  static constexpr StringLiteral names[] = {"kept", "gathered", "gradients",
                                            "communication", "activations"};
  return names[static_cast<size_t>(use)];
}

SmallVector<CollectivePurpose>
amsp::getPurposes(ArrayRef<CollectiveRecord> records) {
  return llvm::map_to_vector(records, [](const CollectiveRecord &record) {
    CollectivePurpose purpose;
    purpose.isGather = record.kind == CollectiveKind::AllGather;
    purpose.ofParameter = record.hasParameter();
    // Gathers for one use carry the number of its window.
    purpose.isKept = purpose.isGather && purpose.ofParameter &&
                     !CollectiveOpInterface(record.op)->hasAttr("window");
    return purpose;
  });
}

namespace {
class UseFinder {
public:
  UseFinder(ArrayRef<CollectivePurpose> purposes) : purposes(purposes) {}

  void visit(Operation *op);
  BufferUse getUse(Value buffer) const {
    auto it = uses.find(buffer);
    return it == uses.end() ? BufferUse::Activations : it->second;
  }

private:
  template <typename OpTy> void visitCollective(OpTy op);
  void findAccumulator(Value gradient);
  /// The first use in the order of the enumeration counts.
  void set(Value memref, BufferUse use) {
    Value buffer = getRootBuffer(memref);
    auto [it, isNew] = uses.try_emplace(buffer, use);
    if (!isNew)
      it->second = std::min(it->second, use);
  }

  ArrayRef<CollectivePurpose> purposes;
  DenseMap<Value, BufferUse> uses;
};
} // namespace

/// A gradient that is reduced in a loop is added to a buffer of as many
/// elements that lives around the loop, or written to a slice of one: that of
/// its layer.
void UseFinder::findAccumulator(Value gradient) {
  Value buffer = getRootBuffer(gradient);
  Operation *maker = buffer.getDefiningOp();
  if (!maker || isa<func::FuncOp>(maker->getParentOp()))
    return;
  int64_t elements = cast<MemRefType>(buffer.getType()).getNumElements();
  forEachAccess(buffer, [&](OpOperand &use) {
    if (!isa<LaunchOp>(use.getOwner()))
      return;
    for (Value operand : use.getOwner()->getOperands()) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      Value root = type ? getRootBuffer(operand) : Value();
      if (!root || root == buffer || !root.getDefiningOp<ArenaViewOp>() ||
          type.getNumElements() != elements)
        continue;
      if (root.getParentRegion()->isProperAncestor(buffer.getParentRegion()))
        set(root, BufferUse::Gradients);
    }
  });
}

template <typename OpTy> void UseFinder::visitCollective(OpTy op) {
  const CollectivePurpose &purpose = purposes[op.getInfo().getId()];
  BufferUse source = BufferUse::Communication;
  BufferUse destination = BufferUse::Communication;
  if (purpose.ofParameter && purpose.isGather)
    destination = purpose.isKept ? BufferUse::Kept : BufferUse::Gathered;
  else if (purpose.ofParameter)
    source = destination = BufferUse::Gradients;
  for (Value memref : op.getSources())
    set(memref, source);
  for (Value memref : op.getDestinations()) {
    set(memref, destination);
    if (destination == BufferUse::Gradients)
      findAccumulator(memref);
  }
}

void UseFinder::visit(Operation *op) {
  if (auto start = dyn_cast<CollectiveStartOp>(op))
    visitCollective(start);
}

static void addInterface(func::FuncOp step, MemoryProfile &profile) {
  for (BlockArgument argument : step.getArguments()) {
    unsigned index = argument.getArgNumber();
    int64_t bytes = getBufferBytes(cast<MemRefType>(argument.getType()));
    auto role = step.getArgAttrOfType<RoleAttr>(index, kRoleAttr);
    bool isState =
        role && llvm::is_contained({Role::Param, Role::OptState, Role::State},
                                   role.getValue());
    if (step.getArgAttr(index, kResultBufferAttr))
      profile.resultBytes += bytes;
    else
      (isState ? profile.stateBytes : profile.inputBytes) += bytes;
  }
}

MemoryProfile amsp::getMemoryProfile(ModuleOp module,
                                     ArrayRef<CollectivePurpose> purposes) {
  auto step = module.lookupSymbol<func::FuncOp>(kMainFunction);
  MemoryProfile profile;
  profile.arenaBytes =
      step->getAttrOfType<IntegerAttr>(kArenaBytesAttr).getInt();
  addInterface(step, profile);
  UseFinder uses(purposes);
  if (!purposes.empty())
    step.walk([&](Operation *op) { uses.visit(op); });
  ProgramOrder order(step);
  BufferOverwrites overwrites(module);
  // What begins to live at each op, and ends before it.
  std::map<int64_t, BytesByUse> changes;
  step.walk([&](ArenaViewOp view) {
    LiveBuffer life = getLifetime(view, order, overwrites);
    auto use = static_cast<size_t>(uses.getUse(view.getResult()));
    for (const LiveSpan &span : life.getSpans()) {
      changes[span.begin][use] += life.bytes;
      changes[span.end + 1][use] -= life.bytes;
    }
  });
  BytesByUse live = {};
  int64_t most = -1;
  for (const auto &[op, change] : changes) {
    for (auto [bytes, difference] : llvm::zip_equal(live, change))
      bytes += difference;
    profile.overTime.push_back(live);
    int64_t total = std::accumulate(live.begin(), live.end(), int64_t(0));
    if (total > most) {
      most = total;
      profile.peak = live;
    }
  }
  return profile;
}
