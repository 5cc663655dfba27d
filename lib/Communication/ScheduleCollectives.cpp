//===- ScheduleCollectives.cpp - Starts early, awaits late ----------------===//

#include "Decisions.h"
#include "OverlapSelection.h"
#include "amsp/Communication/AsyncCollectives.h"
#include "amsp/Communication/OverlapCosts.h"
#include "amsp/Communication/OverlapPlan.h"
#include "amsp/Communication/Passes.h"
#include "amsp/Dialect/AMSP/IR/CheapOps.h"
#include "amsp/Dialect/StableHLO/IR/IterationBoundary.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

namespace amsp {
#define GEN_PASS_DEF_SCHEDULECOLLECTIVES
#include "amsp/Communication/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// True for a reduction that reads no more than its operands.
static bool isClosedReduction(Operation *op) {
  if (!isa<stablehlo::ReduceOp>(op))
    return false;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return captured.empty();
}

/// True for ops that may move to where a collective starts or is awaited: they
/// are no more than a pass over memory.
static bool isMovable(Operation *op) {
  if (!isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (op->getNumRegions() != 0)
    return isClosedReduction(op);
  return isMemoryPass(op) || isIterationBoundary(op) ||
         isa<stablehlo::DynamicUpdateSliceOp>(op) ||
         isa<arith::ArithDialect, tensor::TensorDialect>(op->getDialect());
}

namespace {
/// The collectives of a block with what they depend on.
class BlockSchedule {
public:
  BlockSchedule(Block &block, const OverlapCosts &costs,
                const OverlapSelection &selection, const Pass &pass)
      : block(block), costs(costs), selection(selection), pass(pass) {}

  /// Describes the block, and the blocks nested in it, to the planner.
  void describe();
  int64_t getLeastBytes() const { return getLeastBytesInFlight(problem); }
  /// Twice what the uses of units need that need the most, but not less than
  /// twice the least.
  int64_t getDefaultBytes() const;
  void setEager(bool isEager);
  /// Splits and orders. `bound` is at least getLeastBytes.
  void apply(int64_t bound);

  struct Summary {
    int64_t split = 0, whole = 0, peakBytes = 0;
    int64_t lateGathers = 0, earlyAwaits = 0;
  };
  Summary getSummary() const { return summary; }

private:
  CollectiveOpInterface getWhole(Operation *op) const;
  void describeNested(Operation &op);
  int64_t getLargestUse(bool isGather) const;
  void findReady();
  void findDeadlines();

  void emitEvents(const OverlapPlan &plan);
  void noteWhole(unsigned collective);
  void noteSplit(unsigned collective, int64_t start, const OverlapPlan &plan);
  void emitStart(unsigned collective);
  void emitAwait(unsigned collective);
  void emitOp(Operation *op);
  void emitOperands(Operation *op);
  void emitDeferred();
  void defer(Operation *op, Operation *missing);
  void release(Operation *op);
  Operation *findMissing(Operation *op) const;

  Block &block;
  const OverlapCosts &costs;
  const OverlapSelection &selection;
  const Pass &pass; // whose decisions these are
  OverlapProblem problem;
  SmallVector<Operation *> ops; // by position
  SmallVector<CollectiveOpInterface> collectives;
  llvm::DenseMap<Operation *, int64_t> positions;
  llvm::DenseMap<Operation *, unsigned> numbers; // of collectives
  /// The blocks with collectives in an op, with its position.
  std::vector<std::pair<int64_t, std::unique_ptr<BlockSchedule>>> nested;
  Summary summary;

  // While ops are moved into their new order.
  SmallVector<CollectiveOpInterface> starts; // by collective
  llvm::DenseSet<Operation *> waiting;       // not yet in the new order
  /// Movable ops by an op that they wait for, as positions.
  llvm::DenseMap<Operation *, SmallVector<int64_t, 2>> deferred;
  std::set<int64_t> released; // positions of those that may wait no longer
};
} // namespace

/// A collective that may be split.
CollectiveOpInterface BlockSchedule::getWhole(Operation *op) const {
  auto collective = dyn_cast_or_null<CollectiveOpInterface>(op);
  return collective && !collective.isStart() && selection.includes(collective)
             ? collective
             : CollectiveOpInterface();
}

void BlockSchedule::describeNested(Operation &op) {
  int64_t least = 0;
  // One that may not be split is in flight while it runs.
  if (auto collective = dyn_cast<CollectiveOpInterface>(op);
      collective && !collective.isStart())
    least = costs.getBytes(collective);
  for (Region &region : op.getRegions())
    for (Block &inner : region) {
      bool hasCollective = inner
                               .walk([](CollectiveOpInterface collective) {
                                 return collective.isStart()
                                            ? WalkResult::advance()
                                            : WalkResult::interrupt();
                               })
                               .wasInterrupted();
      if (!hasCollective)
        continue;
      auto schedule =
          std::make_unique<BlockSchedule>(inner, costs, selection, pass);
      schedule->describe();
      least = std::max(least, schedule->getLeastBytes());
      int64_t position = ops.size();
      if (problem.loops.empty() || problem.loops.back() != position)
        problem.loops.push_back(position);
      nested.emplace_back(position, std::move(schedule));
    }
  problem.nestedBytes.push_back(least);
}

void BlockSchedule::describe() {
  for (Operation &op : block.without_terminator()) {
    if (CollectiveOpInterface collective = getWhole(&op)) {
      numbers[&op] = collectives.size();
      collectives.push_back(collective);
      OverlapCollective &described = problem.collectives.emplace_back();
      described.isGather = collective.getKind() == CollectiveKind::AllGather;
      described.bytes = costs.getBytes(collective);
      described.seconds = costs.getSeconds(collective);
      continue;
    }
    positions[&op] = ops.size();
    describeNested(op);
    ops.push_back(&op);
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    problem.seconds.push_back(collective ? costs.getSeconds(collective)
                                         : costs.getSeconds(op));
  }
  findReady();
  findDeadlines();
}

/// The bytes of a unit's collectives that follow each other on a channel.
int64_t BlockSchedule::getLargestUse(bool isGather) const {
  int64_t largest = 0, bytes = 0;
  std::pair<StringAttr, Attribute> use;
  for (auto [index, described] : llvm::enumerate(problem.collectives)) {
    if (described.isGather != isGather)
      continue;
    CollectiveOpInterface op = collectives[index];
    auto gather = dyn_cast<AllGatherOp>(*op);
    std::pair<StringAttr, Attribute> own{
        op.getPart(0).getUnit(), gather ? gather.getWindowAttr() : Attribute()};
    if (own != use || !own.first)
      bytes = 0;
    use = own;
    bytes += described.bytes;
    largest = std::max(largest, bytes);
  }
  return largest;
}

int64_t BlockSchedule::getDefaultBytes() const {
  int64_t bytes = getLargestUse(true) + getLargestUse(false);
  bytes = 2 * std::max(bytes, getLeastBytes());
  for (const auto &[position, inner] : nested)
    bytes = std::max(bytes, inner->getDefaultBytes());
  return bytes;
}

void BlockSchedule::setEager(bool isEager) {
  problem.isEager = isEager;
  for (auto &[position, inner] : nested)
    inner->setEager(isEager);
}

/// What a collective reads is made by ops that stay, and by movable ones, which
/// come along.
void BlockSchedule::findReady() {
  llvm::DenseMap<Operation *, std::pair<int64_t, SmallVector<unsigned, 2>>>
      known;
  for (Operation &op : block.without_terminator()) {
    bool isCollective = numbers.contains(&op);
    if (!isCollective && !isMovable(&op))
      continue;
    int64_t ready = 0;
    llvm::SmallSetVector<unsigned, 4> producers;
    for (Value operand : op.getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (!definition || definition->getBlock() != &block)
        continue;
      if (auto number = numbers.find(definition); number != numbers.end()) {
        producers.insert(number->second);
      } else if (auto entry = known.find(definition); entry != known.end()) {
        ready = std::max(ready, entry->second.first);
        producers.insert_range(entry->second.second);
      } else {
        ready = std::max(ready, positions.lookup(definition) + 1);
      }
    }
    if (isCollective) {
      OverlapCollective &own = problem.collectives[numbers.lookup(&op)];
      own.ready = ready;
      llvm::append_range(own.after, producers);
    } else {
      known[&op] = {ready, SmallVector<unsigned, 2>(producers.getArrayRef())};
    }
  }
}

/// Movable ops that need a result wait until another op needs theirs.
void BlockSchedule::findDeadlines() {
  int64_t last = ops.size();
  llvm::DenseMap<Operation *, int64_t> known; // of movable ops
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    bool isCollective = numbers.contains(&op);
    if (!isCollective && !isMovable(&op))
      continue;
    int64_t deadline = last;
    for (Operation *user : op.getUsers()) {
      Operation *top = block.findAncestorOpInBlock(*user);
      if (numbers.contains(top))
        continue; // the planner knows
      if (auto entry = known.find(top); entry != known.end())
        deadline = std::min(deadline, entry->second);
      else if (auto position = positions.find(top); position != positions.end())
        deadline = std::min(deadline, position->second);
    }
    if (isCollective)
      problem.collectives[numbers.lookup(&op)].deadline = deadline;
    else
      known[&op] = deadline;
  }
}

//===----------------------------------------------------------------------===//
// The new order
//===----------------------------------------------------------------------===//

/// An op that `op` reads and that is not there yet; null if there is none.
Operation *BlockSchedule::findMissing(Operation *op) const {
  for (Value operand : op->getOperands())
    if (Operation *definition = operand.getDefiningOp();
        definition && waiting.contains(definition))
      return definition;
  return nullptr;
}

void BlockSchedule::defer(Operation *op, Operation *missing) {
  deferred[missing].push_back(positions.lookup(op));
}

/// `op` waits no longer, nor do those that wait for it alone.
void BlockSchedule::release(Operation *op) {
  waiting.erase(op);
  auto entry = deferred.find(op);
  if (entry == deferred.end())
    return;
  released.insert(entry->second.begin(), entry->second.end());
  deferred.erase(entry);
}

void BlockSchedule::emitOp(Operation *op) {
  op->moveBefore(block.getTerminator());
  release(op);
}

/// Brings along what `op` reads.
void BlockSchedule::emitOperands(Operation *op) {
  SmallVector<Operation *> path{op};
  while (!path.empty()) {
    if (Operation *missing = findMissing(path.back())) {
      path.push_back(missing);
      continue;
    }
    Operation *done = path.pop_back_val();
    if (done != op)
      emitOp(done);
  }
}

/// In the order of positions: each may release others behind it.
void BlockSchedule::emitDeferred() {
  while (!released.empty()) {
    Operation *op = ops[*released.begin()];
    released.erase(released.begin());
    if (!waiting.contains(op))
      continue; // came along with a start
    if (Operation *missing = findMissing(op))
      defer(op, missing);
    else
      emitOp(op);
  }
}

void BlockSchedule::noteWhole(unsigned collective) {
  CollectiveOpInterface op = collectives[collective];
  noteLeft(pass, op.getLoc(), "whole", [&] {
    return describeForRemark(op) + ": what follows needs it at once";
  });
}

/// `start`: before which op it is.
void BlockSchedule::noteSplit(unsigned collective, int64_t start,
                              const OverlapPlan &plan) {
  CollectiveOpInterface op = collectives[collective];
  noteDone(pass, op.getLoc(), "split", [&] {
    auto await = llvm::find_if(plan.events, [&](const OverlapEvent &event) {
      return !event.isStart && event.collective == collective;
    });
    double seconds = 0;
    for (int64_t i = start; i < await->position; ++i)
      seconds += problem.seconds[i];
    return llvm::formatv("{0}: {1:f3} us, in flight over {2} ops of {3:f3} us",
                         describeForRemark(op),
                         problem.collectives[collective].seconds * 1e6,
                         await->position - start, seconds * 1e6)
        .str();
  });
}

void BlockSchedule::emitStart(unsigned collective) {
  CollectiveOpInterface op = collectives[collective];
  emitOperands(op);
  OpBuilder builder(block.getTerminator());
  starts[collective] = createStart(builder, op);
}

void BlockSchedule::emitAwait(unsigned collective) {
  CollectiveOpInterface op = collectives[collective];
  OpBuilder builder(block.getTerminator());
  createAwait(builder, starts[collective], op);
  release(op);
  op->erase();
}

/// Events with nothing between start and await leave a collective whole.
void BlockSchedule::emitEvents(const OverlapPlan &plan) {
  ArrayRef<OverlapEvent> events = plan.events;
  auto emitAt = [&](int64_t position) {
    while (!events.empty() && events.front().position == position) {
      OverlapEvent event = events.front();
      bool isWhole = event.isStart && events.size() > 1 &&
                     events[1].position == position && !events[1].isStart &&
                     events[1].collective == event.collective;
      events = events.drop_front(isWhole ? 2 : 1);
      // What an await before has released runs before the next one may stop.
      if (isWhole || !event.isStart)
        emitDeferred();
      if (isWhole) {
        emitOperands(collectives[event.collective]);
        emitOp(collectives[event.collective]);
        ++summary.whole;
        noteWhole(event.collective);
      } else if (event.isStart) {
        emitStart(event.collective);
        ++summary.split;
        noteSplit(event.collective, position, plan);
      } else {
        emitAwait(event.collective);
      }
    }
  };
  for (auto [position, op] : llvm::enumerate(ops)) {
    emitAt(position);
    emitDeferred();
    if (!waiting.contains(op))
      continue;
    if (Operation *missing = isMovable(op) ? findMissing(op) : nullptr)
      defer(op, missing);
    else
      emitOp(op);
  }
  emitAt(ops.size());
  emitDeferred();
}

void BlockSchedule::apply(int64_t bound) {
  OverlapPlan plan = planOverlap(problem, bound);
  summary.peakBytes = plan.peakBytes;
  summary.lateGathers = plan.lateGathers;
  summary.earlyAwaits = plan.earlyAwaits;
  waiting.insert(ops.begin(), ops.end());
  for (CollectiveOpInterface collective : collectives)
    waiting.insert(collective);
  starts.resize(collectives.size());
  emitEvents(plan);
  for (auto &[position, inner] : nested) {
    int64_t over = plan.bytesOver[position];
    inner->apply(bound - over);
    Summary of = inner->getSummary();
    summary.split += of.split;
    summary.whole += of.whole;
    summary.lateGathers += of.lateGathers;
    summary.earlyAwaits += of.earlyAwaits;
    summary.peakBytes = std::max(summary.peakBytes, over + of.peakBytes);
  }
}

namespace {
struct ScheduleCollectives
    : amsp::impl::ScheduleCollectivesBase<ScheduleCollectives> {
  using ScheduleCollectivesBase::ScheduleCollectivesBase;

  void runOnOperation() override {
    func::FuncOp step = getOperation();
    if (prefetchBytes < -1) {
      step.emitError() << "prefetch-bytes " << prefetchBytes.getValue()
                       << ": expected a number of bytes, or -1 for the default";
      return signalPassFailure();
    }
    llvm::Expected<OverlapCosts> costs = OverlapCosts::create(cluster);
    if (!costs) {
      step.emitError() << llvm::toString(costs.takeError());
      return signalPassFailure();
    }
    llvm::Expected<OverlapSet> set = parseOverlapSet(overlap);
    if (!set) {
      step.emitError() << "overlap: " << llvm::toString(set.takeError());
      return signalPassFailure();
    }
    if (step.isExternal() || !step.getBody().hasOneBlock())
      return;
    FailureOr<OverlapSelection> selection =
        OverlapSelection::create(step, *set);
    if (failed(selection))
      return signalPassFailure();
    BlockSchedule schedule(step.getBody().front(), *costs, *selection, *this);
    schedule.describe();
    schedule.setEager(!costs->isOfCluster());
    int64_t least = schedule.getLeastBytes();
    int64_t bound =
        prefetchBytes < 0 ? schedule.getDefaultBytes() : prefetchBytes;
    if (raisesBound)
      bound = std::max(bound, least);
    if (bound < least) {
      step.emitError() << "a bound of " << bound
                       << " bytes in flight (prefetch-bytes) is too small for "
                          "the largest gather and the largest reduction, which "
                          "need "
                       << least;
      return signalPassFailure();
    }
    // A program may come with collectives in flight: the bound is not of those.
    bool isOwnSchedule =
        !step.walk([](AwaitOp) { return WalkResult::interrupt(); })
             .wasInterrupted();
    schedule.apply(bound);
    if (isOwnSchedule)
      step->setAttr(kPrefetchBytesAttr,
                    Builder(&getContext()).getI64IntegerAttr(bound));
    BlockSchedule::Summary summary = schedule.getSummary();
    numSplit += summary.split;
    numWhole += summary.whole;
    boundBytes = bound;
    peakBytes = summary.peakBytes;
    lateGathers += summary.lateGathers;
    earlyAwaits += summary.earlyAwaits;
    if (summary.lateGathers > 0)
      step.emitRemark() << "a bound of " << bound
                        << " bytes in flight is too small to hide every gather "
                           "(late: "
                        << summary.lateGathers << ")";
  }
};
} // namespace
