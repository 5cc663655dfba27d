//===- ProgramCosts.cpp - Compute and memory of a rank's program ----------===//

#include "amsp/Planner/ProgramCosts.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/PlacementAnalysis.h"
#include "amsp/Target/DataTypes.h"
#include <cmath>

using namespace mlir;
using namespace amsp;

double amsp::getAchievedShare(const Device &device, double operations) {
  const std::vector<AchievedRate> &curve = device.achieved;
  if (curve.empty())
    return 1;
  auto next = llvm::find_if(curve, [&](const AchievedRate &point) {
    return point.operations >= operations;
  });
  if (next == curve.begin())
    return next->share;
  if (next == curve.end())
    return curve.back().share;
  auto last = std::prev(next);
  double position = std::log(operations / last->operations) /
                    std::log(next->operations / last->operations);
  return last->share + position * (next->share - last->share);
}

static std::optional<double> getPeak(const Device &device, Type type) {
  if (type.isF64())
    return device.peakF64;
  if (type.isF32())
    return device.peakF32;
  if (type.isF16())
    return device.peakF16;
  if (type.isBF16())
    return device.peakBF16;
  return std::nullopt;
}

static double getBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return 0;
  return static_cast<double>(type.getNumElements() *
                             getElementBytes(type.getElementType()));
}

static double getOperations(stablehlo::DotGeneralOp dot) {
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
  auto result = cast<RankedTensorType>(dot.getType());
  double operations = 2 * static_cast<double>(result.getNumElements());
  for (int64_t dim : dot.getDotDimensionNumbers().getLhsContractingDimensions())
    operations *= static_cast<double>(lhs.getDimSize(dim));
  return operations;
}

/// True for ops whose results code generation computes where they are used.
static bool isFused(Operation *op) {
  if (isa<stablehlo::ConstantOp, stablehlo::IotaOp, stablehlo::ReshapeOp,
          stablehlo::BroadcastInDimOp>(op))
    return true;
  if (!op->hasTrait<stablehlo::Elementwise>() || !op->hasOneUse())
    return false;
  Operation *user = *op->user_begin();
  return user->getBlock() == op->getBlock() &&
         (user->hasTrait<stablehlo::Elementwise>() ||
          isa<stablehlo::ReduceOp>(user));
}

static bool isParameterGather(Operation *op) {
  auto gather = dyn_cast<AllGatherOp>(op);
  return gather && gather.getParameter();
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
  /// What is read when the value is: itself, or what it is fused from.
  static void addSources(Value value, llvm::SetVector<Value> &sources);
};
} // namespace

void Liveness::add(LiveBytes &live, Value value, double sign) {
  Operation *op = value.getDefiningOp();
  (isParameterGather(op) ? live.gathered : live.activations) +=
      sign * getBytes(value);
}

void Liveness::addSources(Value value, llvm::SetVector<Value> &sources) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  if (!isFused(op)) {
    sources.insert(value);
    return;
  }
  for (Value operand : op->getOperands())
    addSources(operand, sources);
}

LiveBytes Liveness::getPeak(Block &block) {
  // The last op of the block that reads a value, itself or by fusion.
  llvm::DenseMap<Value, Operation *> lastUsers;
  llvm::MapVector<Operation *, llvm::SmallVector<Value>> dying;
  for (Operation &op : block) {
    if (isFused(&op))
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
      if (!isFused(&op))
        if (auto last = lastUsers.find(result); last != lastUsers.end())
          dying[last->second].push_back(result);
  LiveBytes live, peak;
  for (Operation &op : block) {
    if (isFused(&op))
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

/// Seconds of one run of an op that is not fused, or a diagnostic.
static FailureOr<double> getSeconds(Operation *op, const Device &device,
                                    double &operations) {
  double bytes = 0;
  for (Value value : op->getOperands())
    bytes += getBytes(value);
  for (Value value : op->getResults())
    bytes += getBytes(value);
  double seconds = bytes / *device.memoryBandwidth;
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  if (!dot)
    return seconds;
  Type type = cast<RankedTensorType>(dot.getLhs().getType()).getElementType();
  std::optional<double> peak = getPeak(device, type);
  if (!peak)
    return op->emitError() << "the cluster's device.peak gives no rate for "
                           << type << ", in which this contraction computes";
  operations = getOperations(dot);
  return std::max(seconds,
                  operations / (*peak * getAchievedShare(device, operations)));
}

FailureOr<ProgramCosts> amsp::estimateProgram(func::FuncOp step,
                                              const Device &device) {
  ProgramCosts costs;
  WalkResult walk = step.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isContainer =
        isa<func::FuncOp, stablehlo::WhileOp, stablehlo::CaseOp>(op);
    bool isCollective = isa<AllGatherOp, ReduceScatterOp, AllReduceOp>(op);
    if (isContainer || isCollective || isFused(op) ||
        op->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    double operations = 0;
    FailureOr<double> seconds = getSeconds(op, device, operations);
    if (failed(seconds))
      return WalkResult::interrupt();
    auto runs = static_cast<double>(getTripCount(op));
    costs.operations += runs * operations;
    costs.computeSeconds += runs * *seconds;
    return WalkResult::skip();
  });
  if (walk.wasInterrupted())
    return failure();
  LiveBytes peak = Liveness().getPeak(step.getBody().front());
  costs.activationBytes = peak.activations;
  costs.gatheredBytes = peak.gathered;
  return costs;
}
