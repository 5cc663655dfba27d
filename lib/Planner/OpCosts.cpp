//===- OpCosts.cpp - Time of one op of a rank's program -------------------===//

#include "amsp/Planner/OpCosts.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
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
  // Integers compute where f32 does.
  if (type.isF32() || isa<IntegerType>(type))
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

/// What fused attention computes: contractions for each pair of a query and a
/// key that a causal mask leaves, in forward two, in backward five.
template <typename AttentionOp>
static double getAttentionOperations(AttentionOp op, bool isBackward,
                                     bool leavesOut) {
  auto q = cast<RankedTensorType>(op.getQ().getType());
  auto v = cast<RankedTensorType>(op.getV().getType());
  int64_t queries = q.getDimSize(q.getRank() - 2);
  int64_t keys = v.getDimSize(v.getRank() - 2);
  double pairs = static_cast<double>(queries) * static_cast<double>(keys);
  if (op.getCausal() && leavesOut) {
    pairs = 0;
    for (int64_t query = 0; query < queries; ++query)
      pairs += static_cast<double>(std::min(query + 1, keys));
  }
  for (int64_t size : q.getShape().drop_back(2))
    pairs *= static_cast<double>(size);
  auto elements = static_cast<double>(q.getShape().back());
  auto valueElements = static_cast<double>(v.getShape().back());
  return 2 * pairs *
         (isBackward ? 3 * elements + 2 * valueElements
                     : elements + valueElements);
}

namespace {
/// The contractions of an op.
struct Contractions {
  double operations = 0;
  Type type;
  int64_t count = 1;
  /// Of the peak, if the device says so.
  std::optional<double> share;
};
} // namespace

static std::optional<Contractions> getContractions(Operation *op,
                                                   const Device &device) {
  auto getElement = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  };
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    return Contractions{getOperations(dot), getElement(dot.getLhs()), 1, {}};
  // A device with a rate of its own computes fused; else all pairs are
  // computed, block by block.
  if (auto forward = dyn_cast<AttentionOp>(op)) {
    std::optional<double> share = device.attentionForward;
    return Contractions{
        getAttentionOperations(forward, false, share.has_value()),
        getElement(forward.getQ()), 2, share};
  }
  if (auto backward = dyn_cast<AttentionBackwardOp>(op)) {
    std::optional<double> share = device.attentionBackward;
    return Contractions{
        getAttentionOperations(backward, true, share.has_value()),
        getElement(backward.getQ()), 5, share};
  }
  return std::nullopt;
}

bool amsp::isFusedIntoUses(Operation *op) {
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

void amsp::addSources(Value value, llvm::SetVector<Value> &sources) {
  Operation *op = value.getDefiningOp();
  if (!op || !isFusedIntoUses(op)) {
    sources.insert(value);
    return;
  }
  for (Value operand : op->getOperands())
    addSources(operand, sources);
}

/// Bytes that an op reads and writes.
static double getTraffic(Operation *op) {
  if (isa<stablehlo::SliceOp, stablehlo::DynamicSliceOp, stablehlo::GatherOp>(
          op))
    return 2 * getBytes(op->getResult(0));
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op))
    return 2 * getBytes(update.getUpdate());
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op)) {
    // Reads the updates, and reads and writes as much of the result.
    double bytes = 0;
    for (Value update : scatter.getUpdates())
      bytes += 3 * getBytes(update);
    return bytes;
  }
  llvm::SetVector<Value> sources;
  for (Value operand : op->getOperands())
    addSources(operand, sources);
  double bytes = 0;
  for (Value source : sources)
    bytes += getBytes(source);
  for (Value result : op->getResults())
    bytes += getBytes(result);
  return bytes;
}

FailureOr<OpCost> amsp::getOpCost(Operation *op, const Device &device) {
  OpCost cost;
  bool isContainer = isa<func::FuncOp, stablehlo::WhileOp, stablehlo::CaseOp,
                         stablehlo::OptimizationBarrierOp>(op);
  bool isCollective = isa<CollectiveOpInterface, AwaitOp>(op);
  if (isContainer || isCollective || isFusedIntoUses(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return cost;
  cost.bytes = getTraffic(op);
  cost.seconds = cost.bytes / *device.memoryBandwidth;
  std::optional<Contractions> contractions = getContractions(op, device);
  if (!contractions)
    return cost;
  Type type = contractions->type;
  std::optional<double> peak = getPeak(device, type);
  if (!peak && isa<IntegerType>(type))
    return cost;
  if (!peak)
    return op->emitError() << "the cluster's device.peak gives no rate for "
                           << type << ", in which this contraction computes";
  cost.operations = contractions->operations;
  double share = contractions->share.value_or(getAchievedShare(
      device, cost.operations / static_cast<double>(contractions->count)));
  cost.seconds = std::max(cost.seconds, cost.operations / (*peak * share));
  return cost;
}

double amsp::getCollectiveBytes(const CollectiveRecord &record) {
  return static_cast<double>(record.getPaddedBytes());
}

double amsp::getCollectiveSeconds(const CollectiveRecord &record,
                                  const CollectiveModel &collectives) {
  auto levels =
      llvm::map_to_vector(collectives.getLevels(),
                          [](const ClusterLevel &level) { return level.size; });
  return collectives.getSeconds(
             record.kind, getCollectiveBytes(record),
             getGroupShape(record.group.getDigits(), levels)) +
         static_cast<double>(record.tensors.size() - 1) *
             collectives.getTensorOverhead();
}
