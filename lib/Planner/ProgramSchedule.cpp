//===- ProgramSchedule.cpp - A rank's program, simulated ------------------===//

#include "amsp/Planner/ProgramSchedule.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/PlacementAnalysis.h"
#include "amsp/Planner/OpCosts.h"

using namespace mlir;
using namespace amsp;

namespace {
class ProgramScheduler {
public:
  ProgramScheduler(const Device &device, const CollectiveModel &collectives)
      : device(device), collectives(collectives) {
    schedule.addChannel("gather");
    schedule.addChannel("reduce");
    compute = schedule.addLabel("compute");
    gemm = schedule.addLabel("gemm");
  }

  LogicalResult addStep(func::FuncOp step);
  Schedule take() { return std::move(schedule); }

private:
  void addTransfer(const CollectiveRecord &record);
  LogicalResult addBlock(Block &body, unsigned block);
  LogicalResult addOp(Operation *op, unsigned block);
  LogicalResult addLoop(stablehlo::WhileOp loop, unsigned block);
  LogicalResult addCase(stablehlo::CaseOp branch, unsigned block);
  FailureOr<double> getComputeSeconds(Region &region) const;

  const Device &device;
  const CollectiveModel &collectives;
  Schedule schedule;
  unsigned compute, gemm;
  /// Each collective has one transfer and one slot, of the same number.
  llvm::DenseMap<Operation *, unsigned> transfers;
};
} // namespace

void ProgramScheduler::addTransfer(const CollectiveRecord &record) {
  auto levels =
      llvm::map_to_vector(collectives.getLevels(),
                          [](const ClusterLevel &level) { return level.size; });
  GroupShape group = getGroupShape(record.group.getDigits(), levels);
  ScheduledTransfer transfer;
  transfer.id = record.id;
  transfer.name = record.name;
  if (StringAttr unit = record.getUnit())
    transfer.unit = unit.str();
  transfer.channel = record.kind == CollectiveKind::AllGather ? 0 : 1;
  transfer.bytes = getCollectiveBytes(record);
  transfer.seconds = getCollectiveSeconds(record, collectives);
  transfer.loads =
      collectives.getLoads(getTransferKind(record.kind), transfer.bytes, group);
  for (auto [level, members] : llvm::enumerate(group))
    if (members > 1)
      transfer.level = level;
  transfers[record.op] = schedule.addTransfer(std::move(transfer));
  schedule.addSlot();
}

LogicalResult ProgramScheduler::addStep(func::FuncOp step) {
  for (const CollectiveRecord &record : collectCollectives(step))
    addTransfer(record);
  return addBlock(step.getBody().front(), 0);
}

LogicalResult ProgramScheduler::addBlock(Block &body, unsigned block) {
  for (Operation &op : body)
    if (failed(addOp(&op, block)))
      return failure();
  return success();
}

LogicalResult ProgramScheduler::addOp(Operation *op, unsigned block) {
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    return addLoop(loop, block);
  if (auto branch = dyn_cast<stablehlo::CaseOp>(op))
    return addCase(branch, block);
  if (auto await = dyn_cast<AwaitOp>(op)) {
    schedule.await(block, transfers.lookup(await.getStart()));
    return success();
  }
  if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    unsigned transfer = transfers.lookup(op);
    schedule.start(block, transfer, transfer);
    if (!collective.isStart())
      schedule.await(block, transfer);
    return success();
  }
  FailureOr<OpCost> cost = getOpCost(op, device);
  if (failed(cost))
    return failure();
  schedule.compute(block, cost->seconds, cost->operations > 0 ? gemm : compute);
  return success();
}

LogicalResult ProgramScheduler::addLoop(stablehlo::WhileOp loop,
                                        unsigned block) {
  unsigned body = schedule.addBlock();
  if (failed(addBlock(loop.getCond().front(), body)) ||
      failed(addBlock(loop.getBody().front(), body)))
    return failure();
  schedule.repeat(block, body,
                  getLoopTripCount(loop).value_or(kUnknownTripCount));
  return success();
}

FailureOr<double> ProgramScheduler::getComputeSeconds(Region &region) const {
  double seconds = 0;
  WalkResult walk = region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    FailureOr<OpCost> cost = getOpCost(op, device);
    if (failed(cost))
      return WalkResult::interrupt();
    seconds += cost->seconds * static_cast<double>(getTripCount(op));
    bool isContainer = isa<stablehlo::WhileOp, stablehlo::CaseOp>(op);
    return isContainer ? WalkResult::advance() : WalkResult::skip();
  });
  if (walk.wasInterrupted())
    return failure();
  return seconds;
}

LogicalResult ProgramScheduler::addCase(stablehlo::CaseOp branch,
                                        unsigned block) {
  Region *longest = nullptr;
  double most = -1;
  for (Region &region : branch->getRegions()) {
    FailureOr<double> seconds = getComputeSeconds(region);
    if (failed(seconds))
      return failure();
    if (*seconds > most) {
      most = *seconds;
      longest = &region;
    }
  }
  return addBlock(longest->front(), block);
}

FailureOr<Schedule>
amsp::buildProgramSchedule(func::FuncOp step, const Device &device,
                           const CollectiveModel &collectives) {
  ProgramScheduler scheduler(device, collectives);
  if (failed(scheduler.addStep(step)))
    return failure();
  return scheduler.take();
}

FailureOr<ProgramSimulation>
amsp::simulateStep(func::FuncOp step, const Cluster &cluster,
                   const CollectiveModel &collectives, bool timeline) {
  FailureOr<Schedule> schedule =
      buildProgramSchedule(step, *cluster.device, collectives);
  if (failed(schedule))
    return failure();
  SimulationOptions options = getSimulationOptions(cluster);
  options.timeline = timeline;
  SimulatedStep simulated = simulate(*schedule, options);
  return ProgramSimulation{std::move(*schedule), std::move(simulated)};
}
