//===- ProgramCosts.cpp - Compute and memory of a rank's program ----------===//

#include "amsp/Planner/ProgramCosts.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/PlacementAnalysis.h"
#include "amsp/Planner/OpCosts.h"
#include "amsp/Planner/UpdateOps.h"
#include "amsp/Target/DataTypes.h"

using namespace mlir;
using namespace amsp;

static double getBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return 0;
  return static_cast<double>(type.getNumElements() *
                             getElementBytes(type.getElementType()));
}

static bool isParameterGather(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && collective.getKind() == CollectiveKind::AllGather &&
         collective.hasParameter();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// Bytes alive, or at the peak.
struct LiveBytes {
  double activations = 0, gathered = 0;

  double getTotal() const { return activations + gathered; }
  void keepLarger(const LiveBytes &other) {
    if (other.getTotal() > getTotal())
      *this = other;
  }
};

class Liveness {
public:
  /// The peak within a block, of the values that its ops make.
  LiveBytes getPeak(Block &block);

private:
  static Operation *getLastUser(Value value, Block &block);
  static void add(LiveBytes &live, Value value, double sign);
};
} // namespace

void Liveness::add(LiveBytes &live, Value value, double sign) {
  Operation *op = value.getDefiningOp();
  (isParameterGather(op) ? live.gathered : live.activations) +=
      sign * getBytes(value);
}

LiveBytes Liveness::getPeak(Block &block) {
  // The last op of the block that reads a value, itself or by fusion.
  llvm::DenseMap<Value, Operation *> lastUsers;
  llvm::MapVector<Operation *, llvm::SmallVector<Value>> dying;
  for (Operation &op : block) {
    if (isFusedIntoUses(&op))
      continue;
    llvm::SetVector<Value> sources;
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        addSources(operand, sources);
    });
    for (Value source : sources)
      if (source.getParentBlock() == &block)
        lastUsers[source] = &op;
  }
  for (Operation &op : block)
    for (Value result : op.getResults())
      if (!isFusedIntoUses(&op))
        if (auto last = lastUsers.find(result); last != lastUsers.end())
          dying[last->second].push_back(result);
  LiveBytes live, peak;
  for (Operation &op : block) {
    if (isFusedIntoUses(&op))
      continue;
    for (Value result : op.getResults())
      add(live, result, 1);
    LiveBytes now = live;
    // The bodies of reductions compute on scalars.
    if (isa<stablehlo::WhileOp, stablehlo::CaseOp>(op))
      for (Region &region : op.getRegions()) {
        LiveBytes inner = getPeak(region.front());
        now.activations =
            std::max(now.activations, live.activations + inner.activations);
        now.gathered = std::max(now.gathered, live.gathered + inner.gathered);
      }
    peak.keepLarger(now);
    for (Value value : dying.lookup(&op))
      add(live, value, -1);
    for (Value result : op.getResults())
      if (result.use_empty())
        add(live, result, -1);
  }
  return peak;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Adds the cost of an op with the bodies that it runs.
static LogicalResult addCosts(Operation *op, const Device &device,
                              ProgramCosts &costs) {
  WalkResult walk = op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    FailureOr<OpCost> cost = getOpCost(inner, device);
    if (failed(cost))
      return WalkResult::interrupt();
    auto runs = static_cast<double>(getTripCount(inner));
    costs.operations += runs * cost->operations;
    costs.computeSeconds += runs * cost->seconds;
    // The bodies of reductions and the like are part of their op.
    bool isContainer =
        isa<func::FuncOp, stablehlo::WhileOp, stablehlo::CaseOp>(inner);
    return isContainer ? WalkResult::advance() : WalkResult::skip();
  });
  return failure(walk.wasInterrupted());
}

/// Seconds of the update. What an optimizer computes of whole values (matrices
/// that it gathers) does not shrink with the pieces.
static FailureOr<double> countUpdate(func::FuncOp step, const Device &device) {
  DenseSet<Operation *> ops = getUpdateOps(step), whole;
  ProgramCosts costs;
  for (Operation &op : step.getBody().front()) {
    if (!ops.contains(&op))
      continue;
    bool isOfWhole = llvm::any_of(op.getOperands(), [&](Value operand) {
      return whole.contains(operand.getDefiningOp()) &&
             cast<RankedTensorType>(operand.getType()).getRank() > 0;
    });
    bool makesWhole = isOfWhole && !isa<stablehlo::DynamicSliceOp>(op);
    if (isa<AllGatherOp>(op) || makesWhole)
      whole.insert(&op);
    else if (failed(addCosts(&op, device, costs)))
      return failure();
  }
  return costs.computeSeconds;
}

FailureOr<ProgramCosts> amsp::estimateProgram(func::FuncOp step,
                                              const Device &device) {
  ProgramCosts costs;
  if (failed(addCosts(step, device, costs)))
    return failure();
  FailureOr<double> update = countUpdate(step, device);
  if (failed(update))
    return failure();
  costs.updateSeconds = *update;
  LiveBytes peak = Liveness().getPeak(step.getBody().front());
  costs.activationBytes = peak.activations;
  costs.gatheredBytes = peak.gathered;
  return costs;
}
