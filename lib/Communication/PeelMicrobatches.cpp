//===- PeelMicrobatches.cpp - First and last microbatch beside their loop -===//

#include "Decisions.h"
#include "LoopCloning.h"
#include "amsp/Communication/LoopForms.h"
#include "amsp/Communication/Passes.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

namespace amsp {
#define GEN_PASS_DEF_PEELMICROBATCHES
#include "amsp/Communication/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;
using stablehlo::WhileOp;

/// True for ops that only move rows of their first operand.
static bool movesRows(Operation *op) {
  return isa<stablehlo::ConvertOp, stablehlo::DynamicSliceOp,
             stablehlo::ReshapeOp, stablehlo::SliceOp, stablehlo::TransposeOp,
             AllGatherOp>(op);
}

static bool isBatch(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!movesRows(op))
      return false;
    value = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(value);
  auto step = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!step)
    return false;
  auto role =
      step.getArgAttrOfType<RoleAttr>(argument.getArgNumber(), kRoleAttr);
  return role && role.getValue() == Role::Batch;
}

/// True if an iteration takes its part of the batch.
static bool takesMicrobatches(WhileOp loop) {
  return llvm::any_of(
      loop.getBody().front().getOps<stablehlo::DynamicSliceOp>(),
      [](stablehlo::DynamicSliceOp slice) {
        return isBatch(slice.getOperand());
      });
}

static bool movesState(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && collective.hasParameter();
}

/// True if a collective of state comes to `value` through ops of one block.
static bool comesFromState(Value value, llvm::DenseSet<Value> &seen) {
  SmallVector<Value> worklist{value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !seen.insert(next).second || op->getNumRegions() != 0)
      continue;
    if (movesState(op))
      return true;
    llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

/// True if parameters are gathered before the loop for its iterations.
static bool usesGathered(WhileOp loop) {
  llvm::DenseSet<Value> seen;
  return loop.getBody()
      .walk([&](Operation *op) {
        bool isFound = llvm::any_of(op->getOperands(), [&](Value operand) {
          return operand.getParentBlock() == loop->getBlock() &&
                 comesFromState(operand, seen);
        });
        return isFound ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if what the loop accumulates is reduced behind it.
static bool isReducedBehind(WhileOp loop) {
  SmallVector<Value> worklist(loop.getResults());
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      if (movesState(user))
        return true;
      if (isMemoryEffectFree(user) && user->getNumRegions() == 0 &&
          !isa<CollectiveOpInterface>(user))
        llvm::append_range(worklist, user->getResults());
    }
  }
  return false;
}

namespace {
/// A loop over microbatches, and which of its iterations are peeled.
struct PeeledLoop {
  WhileOp loop;
  CountedLoop counted;
  bool peelsFirst = false, peelsLast = false;
};
} // namespace

/// Of one step, the loops of its own block: those within are of layers.
static SmallVector<PeeledLoop> findPeeledLoops(func::FuncOp step) {
  SmallVector<PeeledLoop> found;
  for (WhileOp loop : step.getOps<WhileOp>()) {
    std::optional<CountedLoop> counted = getCountedLoop(loop);
    if (!counted || counted->trips < 1 || !takesMicrobatches(loop))
      continue;
    bool peelsFirst = usesGathered(loop);
    bool peelsLast =
        isReducedBehind(loop) && (!peelsFirst || counted->trips > 1);
    if (peelsFirst || peelsLast)
      found.push_back({loop, *counted, peelsFirst, peelsLast});
  }
  return found;
}

bool amsp::canPeelMicrobatches(func::FuncOp step) {
  return !findPeeledLoops(step).empty();
}

namespace {
struct PeelMicrobatches : amsp::impl::PeelMicrobatchesBase<PeelMicrobatches> {
  void runOnOperation() override {
    for (const PeeledLoop &peeled : findPeeledLoops(getOperation())) {
      notePeeled(peeled);
      peel(peeled);
      numFirst += peeled.peelsFirst;
      numLast += peeled.peelsLast;
    }
  }

private:
  void notePeeled(PeeledLoop peeled);
  static void peel(PeeledLoop peeled);
};
} // namespace

void PeelMicrobatches::notePeeled(PeeledLoop peeled) {
  noteDone(*this, peeled.loop.getLoc(), "peeled", [&] {
    StringRef which = !peeled.peelsLast    ? "the first"
                      : !peeled.peelsFirst ? "the last"
                                           : "the first and the last";
    return llvm::formatv("{0} of {1} iterations", which, peeled.counted.trips)
        .str();
  });
}

void PeelMicrobatches::peel(PeeledLoop peeled) {
  WhileOp loop = peeled.loop;
  const CountedLoop &counted = peeled.counted;
  LoopCloner cloner(loop, counted);
  OpBuilder builder(loop);
  SmallVector<Value> carries(loop.getOperand());
  auto all = [](Operation *) { return true; };
  auto addIteration = [&](int64_t iteration, OpBuilder &at) {
    IRMapping mapping;
    mapping.map(loop.getBody().getArguments(), carries);
    cloner.separate(at, mapping, all);
    cloner.cloneBody(at, mapping, all);
    carries = cloner.getYielded(mapping);
    carries[counted.counter] = cloner.getCount(at, iteration + 1);
  };
  int64_t begin = peeled.peelsFirst ? 1 : 0;
  int64_t end = counted.trips - (peeled.peelsLast ? 1 : 0);
  if (peeled.peelsFirst)
    addIteration(0, builder);
  if (end - begin == 1) {
    addIteration(begin, builder);
  } else if (begin < end) {
    WhileOp rest = cloner.createLoop(builder, carries, end);
    carries.assign(rest.getBody().args_begin(), rest.getBody().args_end());
    IRMapping mapping;
    mapping.map(loop.getBody().getArguments(), carries);
    cloner.cloneBody(builder, mapping, all);
    stablehlo::ReturnOp::create(builder, loop.getLoc(),
                                cloner.getYielded(mapping));
    builder.setInsertionPointAfter(rest);
    carries.assign(rest.result_begin(), rest.result_end());
    carries[counted.counter] = cloner.getCount(builder, end);
  }
  if (peeled.peelsLast)
    addIteration(end, builder);
  cloner.separate(builder, carries);
  loop.replaceAllUsesWith(carries);
  loop.erase();
}
