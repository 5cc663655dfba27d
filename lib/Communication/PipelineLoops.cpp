//===- PipelineLoops.cpp - Layers' collectives one iteration apart --------===//
//
// The collectives of an iteration that need not wait for its computation are
// those whose operands are slices of loop invariants, and those whose results
// only go into a stack or a sum. The former run one iteration ahead, the latter
// one behind: a loop of three stages, written out as prologue, loop and
// epilogue. What each iteration gathers anew from the same pieces, or adds to
// one sum, moves only where its own iteration has nothing to hide it behind.
//
//===----------------------------------------------------------------------===//

#include "BlockEnds.h"
#include "Decisions.h"
#include "LoopCloning.h"
#include "amsp/Communication/LoopForms.h"
#include "amsp/Communication/Passes.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Target/TensorBytes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

namespace amsp {
#define GEN_PASS_DEF_PIPELINELOOPS
#include "amsp/Communication/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;
using stablehlo::WhileOp;

static bool isMovable(Operation *op) {
  return isMemoryEffectFree(op) && op->getNumRegions() == 0;
}

static bool isReduction(Operation *op) {
  return isa<AllReduceOp, ReduceScatterOp>(op);
}

/// True for a reshape, or a broadcast that only adds dimensions of size 1.
static bool isReshape(Operation *op) {
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return broadcast.getOperand().getType().getNumElements() ==
               broadcast.getType().getNumElements() &&
           llvm::is_sorted(broadcast.getBroadcastDimensions());
  return isa<stablehlo::ReshapeOp>(op);
}

static int64_t getBytes(Value value) {
  return getTensorBytes(cast<RankedTensorType>(value.getType()));
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

namespace {
/// Which ops of a loop's body run ahead and behind.
class Stages {
public:
  Stages(WhileOp loop, const CountedLoop &counted);

  /// Of all that may move, what a loop can carry in so many bytes (0: all).
  void find(int64_t maxBytes);
  bool areEmpty() const { return gathers.empty() && reductions.empty(); }

  bool isAhead(Operation *op) const { return ahead.contains(op); }
  bool isBehind(Operation *op) const { return behind.contains(op); }
  /// Ops that run with the iteration's computation: gathers that run ahead do
  /// not, while what computes their operands may be read by others, too.
  bool isWithin(Operation *op) const {
    return !isBehind(op) && !llvm::is_contained(gathers, op);
  }

  /// Gathers that run ahead, in their order, and their bytes.
  SmallVector<Operation *> gathers;
  int64_t gatheredBytes = 0;
  /// Reductions that run behind, the values that are handed to them from one
  /// iteration to the next, and the carries that only they change.
  SmallVector<Operation *> reductions;
  llvm::SetVector<Value> delayed;
  int64_t delayedBytes = 0;
  llvm::SmallSetVector<unsigned, 4> stacks;
  /// True if sums are among these carries. Then nothing follows the last
  /// iteration that hides what runs behind, but the iteration itself.
  bool hasSums = false;

private:
  void findAhead(int64_t maxBytes);
  void findBehind(int64_t maxBytes);
  bool addSlices(Operation *gather, llvm::SetVector<Operation *> &slices);
  bool addUsers(Operation *reduction, llvm::SetVector<Operation *> &users);
  void addReshapes(llvm::SetVector<Operation *> &users);
  bool addYield(OpOperand &use, Operation *writer);
  void addExposed(ArrayRef<Operation *> run, BlockEnds &ends);

  WhileOp loop;
  CountedLoop counted;
  Block &body;
  llvm::DenseSet<Operation *> ahead, behind;
  /// What the ends of an iteration leave exposed.
  llvm::DenseSet<Operation *> exposed;
};
} // namespace

void Stages::find(int64_t maxBytes) {
  int64_t limit =
      maxBytes == 0 ? std::numeric_limits<int64_t>::max() : maxBytes;
  findAhead(limit);
  findBehind(limit - gatheredBytes);
}

static bool areOfOneUse(CollectiveOpInterface lhs, CollectiveOpInterface rhs) {
  auto getWindow = [](Operation *op) {
    auto gather = dyn_cast<AllGatherOp>(op);
    return gather ? gather.getWindowAttr() : IntegerAttr();
  };
  return lhs.getPart(0).getUnit() == rhs.getPart(0).getUnit() &&
         getWindow(lhs) == getWindow(rhs);
}

/// A unit's collectives that follow each other belong together.
Stages::Stages(WhileOp loop, const CountedLoop &counted)
    : loop(loop), counted(counted), body(loop.getBody().front()) {
  BlockEnds ends(body);
  SmallVector<Operation *> runs[2];
  for (auto op : body.getOps<CollectiveOpInterface>()) {
    if (!op.getPart(0).getUnit() || !(isa<AllGatherOp>(*op) || isReduction(op)))
      continue;
    SmallVector<Operation *> &run = runs[isReduction(op)];
    if (!run.empty() &&
        !areOfOneUse(cast<CollectiveOpInterface>(run.front()), op)) {
      addExposed(run, ends);
      run.clear();
    }
    run.push_back(op);
  }
  for (ArrayRef<Operation *> run : runs)
    addExposed(run, ends);
}

/// Where nothing in its own iteration hides the whole run.
void Stages::addExposed(ArrayRef<Operation *> run, BlockEnds &ends) {
  if (llvm::any_of(run, [&](Operation *op) {
        return isReduction(op) ? ends.isMadeAtEnd(op)
                               : ends.isNeededAtBegin(op);
      }))
    exposed.insert(run.begin(), run.end());
}

/// Adds what computes the gather's operands; false if that is more than slices,
/// at a position that the counter gives, of what the loop does not change. Of
/// what it does not change as a whole, only what is exposed.
bool Stages::addSlices(Operation *gather,
                       llvm::SetVector<Operation *> &slices) {
  bool readsCounter = false;
  slices.insert(gather);
  for (size_t i = 0; i < slices.size(); ++i) {
    Operation *op = slices[i];
    if (!isMovable(op) || (op != gather && isa<CollectiveOpInterface>(op)))
      return false;
    for (Value operand : op->getOperands()) {
      if (operand.getParentBlock() != &body)
        continue;
      if (Operation *producer = operand.getDefiningOp())
        slices.insert(producer);
      else if (operand == body.getArgument(counted.counter))
        readsCounter = true;
      else
        return false;
    }
  }
  return readsCounter || exposed.contains(gather);
}

void Stages::findAhead(int64_t maxBytes) {
  for (auto gather : body.getOps<AllGatherOp>()) {
    llvm::SetVector<Operation *> slices;
    int64_t bytes = 0;
    for (Value result : gather->getResults())
      bytes += getBytes(result);
    if (gatheredBytes + bytes > maxBytes || !addSlices(gather, slices))
      continue;
    gatheredBytes += bytes;
    gathers.push_back(gather);
    ahead.insert_range(slices);
  }
}

/// True if the operand is what `op` writes slices into, or adds to.
static bool accumulates(Operation *op, OpOperand &operand) {
  return isa<stablehlo::AddOp>(op) ||
         (isa<stablehlo::DynamicUpdateSliceOp>(op) &&
          operand.getOperandNumber() == 0);
}

/// True if the only thing that happens to the carry is that `writer` writes
/// slices into it, or adds to it.
bool Stages::addYield(OpOperand &use, Operation *writer) {
  unsigned index = use.getOperandNumber();
  BlockArgument carry = body.getArgument(index);
  return carry.hasOneUse() && carry.getUses().begin()->getOwner() == writer &&
         accumulates(writer, *carry.getUses().begin()) &&
         loop.getCond().getArgument(index).use_empty();
}

/// Adds what becomes of the reduction's results; false if that is more than
/// slices written into stacks, or, of what is exposed, than summands.
bool Stages::addUsers(Operation *reduction,
                      llvm::SetVector<Operation *> &users) {
  users.insert(reduction);
  for (size_t i = 0; i < users.size(); ++i) {
    Operation *op = users[i];
    if (!isMovable(op) || (isa<CollectiveOpInterface>(op) && !isReduction(op)))
      return false;
    for (OpOperand &use : op->getUses()) {
      if (use.getOwner()->getBlock() != &body)
        return false;
      if (use.getOwner() != body.getTerminator())
        users.insert(use.getOwner());
      else if (!addYield(use, op) ||
               (isa<stablehlo::AddOp>(op) && !exposed.contains(reduction)))
        return false;
    }
  }
  return true;
}

/// Adds reshapes for the users alone: what is handed on is then what computes
/// it, and that can write the carry's buffer.
void Stages::addReshapes(llvm::SetVector<Operation *> &users) {
  for (size_t i = 0; i < users.size(); ++i)
    for (Value operand : users[i]->getOperands()) {
      Operation *reshape = operand.getDefiningOp();
      if (reshape && isReshape(reshape) && reshape->getBlock() == &body &&
          llvm::all_of(reshape->getUsers(),
                       [&](Operation *user) { return users.contains(user); }))
        users.insert(reshape);
    }
}

void Stages::findBehind(int64_t maxBytes) {
  Operation *yield = body.getTerminator();
  for (Operation &op : body) {
    llvm::SetVector<Operation *> users;
    if (!isReduction(&op) || isBehind(&op) || !addUsers(&op, users))
      continue;
    addReshapes(users);
    // What others compute from iterations behind is not at hand.
    llvm::SetVector<Value> handed;
    int64_t bytes = 0;
    for (Operation *user : users)
      for (OpOperand &use : user->getOpOperands()) {
        Value operand = use.get();
        Operation *producer = operand.getDefiningOp();
        auto carry = dyn_cast<BlockArgument>(operand);
        bool isStack =
            carry && carry.getOwner() == &body && accumulates(user, use) &&
            yield->getOperand(carry.getArgNumber()).getDefiningOp() == user;
        if (operand.getParentBlock() != &body || isStack ||
            (producer && (users.contains(producer) || isBehind(producer))))
          continue;
        if (handed.insert(operand) && !delayed.contains(operand))
          bytes += getBytes(operand);
      }
    if (delayedBytes + bytes > maxBytes)
      continue;
    delayedBytes += bytes;
    reductions.push_back(&op);
    delayed.insert_range(handed);
    behind.insert_range(users);
    for (OpOperand &use : yield->getOpOperands())
      if (Operation *writer = use.get().getDefiningOp();
          writer && users.contains(writer)) {
        stacks.insert(use.getOperandNumber());
        hasSums |= isa<stablehlo::AddOp>(writer);
      }
  }
  // Of two reductions for one stack, the second is handed to the first's users
  // until it runs behind itself.
  delayed.remove_if([&](Value value) {
    Operation *producer = value.getDefiningOp();
    if (!producer || !isBehind(producer))
      return false;
    delayedBytes -= getBytes(value);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// Writes the stages of a loop anew. Its state is what stands, between two ops
/// that are built, for the carries, for what was gathered ahead, and for what
/// waits to be reduced.
class LoopWriter {
public:
  LoopWriter(WhileOp loop, const CountedLoop &counted, const Stages &stages)
      : loop(loop), counted(counted), stages(stages), cloner(loop, counted),
        builder(loop), carries(loop.getOperand()) {}

  void run();

private:
  /// The results of the gathers for the iteration in which the counter is that.
  SmallVector<Value> gatherAhead(Value count);
  /// The two other stages, in the loop or beside it.
  void compute(bool isBeside);
  void reduceBehind(bool isBeside);
  void iterate(Value next, bool isBeside);
  void writeLoop(int64_t end);
  SmallVector<Value> getState() const;
  void setState(ValueRange state);

  WhileOp loop;
  const CountedLoop &counted;
  const Stages &stages;
  LoopCloner cloner;
  OpBuilder builder;
  SmallVector<Value> carries, gathered, delayed;
};
} // namespace

SmallVector<Value> LoopWriter::gatherAhead(Value count) {
  IRMapping mapping;
  mapping.map(loop.getBody().getArgument(counted.counter), count);
  cloner.cloneBody(builder, mapping,
                   [&](Operation *op) { return stages.isAhead(op); });
  SmallVector<Value> results;
  for (Operation *gather : stages.gathers)
    for (Value result : gather->getResults())
      results.push_back(mapping.lookup(result));
  return results;
}

void LoopWriter::compute(bool isBeside) {
  IRMapping mapping;
  mapping.map(loop.getBody().getArguments(), carries);
  auto *next = gathered.begin();
  for (Operation *gather : stages.gathers)
    for (Value result : gather->getResults())
      mapping.map(result, *next++);
  auto isWithin = [&](Operation *op) { return stages.isWithin(op); };
  if (isBeside)
    cloner.separate(builder, mapping, isWithin);
  cloner.cloneBody(builder, mapping, isWithin);
  delayed = llvm::map_to_vector(stages.delayed, [&](Value value) {
    return mapping.lookupOrDefault(value);
  });
  for (auto [index, value] : llvm::enumerate(cloner.getYielded(mapping)))
    if (!stages.stacks.contains(index))
      carries[index] = value;
}

void LoopWriter::reduceBehind(bool isBeside) {
  IRMapping mapping;
  for (unsigned index : stages.stacks)
    mapping.map(loop.getBody().getArgument(index), carries[index]);
  for (auto [value, handed] : llvm::zip_equal(stages.delayed, delayed))
    mapping.map(value, handed);
  auto isBehind = [&](Operation *op) { return stages.isBehind(op); };
  if (isBeside)
    cloner.separate(builder, mapping, isBehind);
  cloner.cloneBody(builder, mapping, isBehind);
  SmallVector<Value> yielded = cloner.getYielded(mapping);
  for (unsigned index : stages.stacks)
    carries[index] = yielded[index];
}

SmallVector<Value> LoopWriter::getState() const {
  SmallVector<Value> state = carries;
  llvm::append_range(state, gathered);
  llvm::append_range(state, delayed);
  return state;
}

void LoopWriter::setState(ValueRange state) {
  for (SmallVector<Value> *part : {&carries, &gathered, &delayed}) {
    size_t size = part->size();
    part->assign(state.begin(), state.begin() + size);
    state = state.drop_front(size);
  }
}

/// An iteration in which reductions of the one before and gathers for the next,
/// in which the counter is `next`, are independent of the computation.
void LoopWriter::iterate(Value next, bool isBeside) {
  if (!stages.reductions.empty())
    reduceBehind(isBeside);
  SmallVector<Value> ahead;
  if (!stages.gathers.empty())
    ahead = gatherAhead(next);
  compute(isBeside);
  gathered = ahead;
}

/// A loop of such iterations, up to `end`.
void LoopWriter::writeLoop(int64_t end) {
  WhileOp created = cloner.createLoop(builder, getState(), end);
  setState(created.getBody().getArguments());
  Value count = carries[counted.counter];
  iterate(stablehlo::AddOp::create(builder, loop.getLoc(), count,
                                   cloner.getStep(builder)),
          /*isBeside=*/false);
  stablehlo::ReturnOp::create(builder, loop.getLoc(), getState());
  builder.setInsertionPointAfter(created);
  setState(created.getResults());
}

void LoopWriter::run() {
  bool hasAhead = !stages.gathers.empty();
  bool hasBehind = !stages.reductions.empty();
  bool writesLast = hasAhead || stages.hasSums;
  int64_t begin = 0, end = counted.trips - (writesLast ? 1 : 0);
  if (hasAhead)
    gathered = gatherAhead(cloner.getCount(builder, 0));
  if (hasBehind) {
    SmallVector<Value> ahead;
    if (hasAhead)
      ahead = gatherAhead(cloner.getCount(builder, 1));
    compute(/*isBeside=*/true);
    gathered = ahead;
    begin = 1;
    carries[counted.counter] = cloner.getCount(builder, begin);
  }
  if (end - begin == 1)
    iterate(cloner.getCount(builder, end), /*isBeside=*/true);
  else if (begin < end)
    writeLoop(end);
  carries[counted.counter] = cloner.getCount(builder, end);
  if (writesLast) {
    if (hasBehind)
      reduceBehind(/*isBeside=*/true);
    compute(/*isBeside=*/true);
    carries[counted.counter] = cloner.getCount(builder, counted.trips);
  }
  if (hasBehind)
    reduceBehind(/*isBeside=*/true);
  cloner.separate(builder, carries);
  loop.replaceAllUsesWith(carries);
  loop.erase();
}

/// The counted loop of several iterations that this is, or none.
static std::optional<CountedLoop> getPipelined(WhileOp loop) {
  std::optional<CountedLoop> counted = getCountedLoop(loop);
  return counted && counted->trips > 1 ? counted : std::nullopt;
}

bool amsp::canPipelineLoops(func::FuncOp step, int64_t maxBytes) {
  return step
      .walk([&](WhileOp loop) {
        std::optional<CountedLoop> counted = getPipelined(loop);
        if (!counted)
          return WalkResult::advance();
        Stages stages(loop, *counted);
        stages.find(maxBytes);
        return stages.areEmpty() ? WalkResult::advance()
                                 : WalkResult::interrupt();
      })
      .wasInterrupted();
}

namespace {
struct PipelineLoops : amsp::impl::PipelineLoopsBase<PipelineLoops> {
  using Base::Base;

  void runOnOperation() override {
    if (maxBytes < 0) {
      getOperation().emitError()
          << "max-bytes " << maxBytes.getValue()
          << ": expected a number of bytes, or 0 for no bound";
      return signalPassFailure();
    }
    // Inner loops first: an outer one is written anew with what it holds.
    SmallVector<WhileOp> loops;
    getOperation().walk([&](WhileOp loop) { loops.push_back(loop); });
    for (WhileOp loop : loops) {
      std::optional<CountedLoop> counted = getPipelined(loop);
      if (!counted)
        continue;
      Stages stages(loop, *counted);
      stages.find(maxBytes);
      if (stages.areEmpty())
        continue;
      notePipelined(loop, stages);
      numLoops += 1;
      numGathers += stages.gathers.size();
      numReductions += stages.reductions.size();
      bytes += stages.gatheredBytes + stages.delayedBytes;
      LoopWriter(loop, *counted, stages).run();
    }
  }

private:
  void notePipelined(WhileOp loop, const Stages &stages) const {
    noteDone(*this, loop.getLoc(), "pipelined", [&] {
      return llvm::formatv("{0} gathers of {1} bytes run one iteration ahead, "
                           "{2} reductions of {3} bytes one behind",
                           stages.gathers.size(), stages.gatheredBytes,
                           stages.reductions.size(), stages.delayedBytes)
          .str();
    });
  }
};
} // namespace
