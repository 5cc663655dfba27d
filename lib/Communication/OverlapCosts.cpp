//===- OverlapCosts.cpp - Times that decide what overlaps -----------------===//

#include "amsp/Communication/OverlapCosts.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/PlacementAnalysis.h"
#include "amsp/Planner/OpCosts.h"
#include "amsp/Target/DataTypes.h"

using namespace mlir;
using namespace amsp;

/// Of the nominal cluster: bytes/s in memory and between ranks, operations/s.
static constexpr double kMemoryBandwidth = 1e10;
static constexpr double kLinkBandwidth = 1e9;
static constexpr double kPeak = 5e10;

OverlapCosts::OverlapCosts() {
  device.memoryBandwidth = kMemoryBandwidth;
  device.peakF64 = device.peakF32 = device.peakF16 = device.peakBF16 = kPeak;
}

/// Types for which the device gives no rate have the one of some other type.
void OverlapCosts::setDevice(const Device &given) {
  device = given;
  double known = kPeak;
  for (std::optional<double> peak :
       {given.peakF64, given.peakF16, given.peakBF16, given.peakF32})
    known = peak.value_or(known);
  for (std::optional<double> *peak :
       {&device.peakF64, &device.peakF32, &device.peakF16, &device.peakBF16})
    *peak = peak->value_or(known);
}

llvm::Expected<OverlapCosts> OverlapCosts::create(StringRef cluster) {
  OverlapCosts costs;
  if (cluster.empty())
    return costs;
  llvm::Expected<Cluster> parsed = parseCluster(cluster);
  if (!parsed)
    return parsed.takeError();
  bool isComplete =
      parsed->device && parsed->device->memoryBandwidth &&
      (!parsed->collectiveTables.empty() ||
       llvm::all_of(parsed->levels, [](const ClusterLevel &level) {
         return level.bandwidth && level.latency;
       }));
  if (!isComplete)
    return costs;
  llvm::Expected<CollectiveModel> model = CollectiveModel::create(*parsed);
  if (!model)
    return model.takeError();
  costs.setDevice(*parsed->device);
  costs.model = std::move(*model);
  return costs;
}

double OverlapCosts::getSeconds(Operation &op) const {
  double seconds = 0;
  int64_t outerTrips = getTripCount(&op);
  op.walk<WalkOrder::PreOrder>([&](Operation *nested) {
    FailureOr<OpCost> cost = getOpCost(nested, device);
    if (succeeded(cost))
      // A whole number: the trips of the loops in between.
      seconds += cost->seconds * static_cast<double>(getTripCount(nested)) /
                 static_cast<double>(outerTrips);
    bool isContainer = isa<stablehlo::WhileOp, stablehlo::CaseOp>(nested);
    return isContainer ? WalkResult::advance() : WalkResult::skip();
  });
  return seconds;
}

int64_t OverlapCosts::getBytes(CollectiveOpInterface op) const {
  return describeCollective(op).getPaddedBytes();
}

double OverlapCosts::getSeconds(CollectiveOpInterface op) const {
  CollectiveRecord record = describeCollective(op);
  if (model)
    return getCollectiveSeconds(record, *model);
  return record.getSentElements() *
         static_cast<double>(getElementBytes(record.elementType)) /
         kLinkBandwidth;
}
