//===- RowProgram.cpp - What a step does with rows of its batch -----------===//

#include "RowProgram.h"
#include "StepArguments.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace amsp;

/// The batch is cut; states are flat, so that sums are completed before they
/// meet them, but whole: no stack's slices are completed one by one.
static PlacementAnalysis analyzeRows(func::FuncOp step, int64_t count) {
  SmallVector<Placement> arguments = getArgumentPlacements(step, {});
  SmallVector<std::optional<Placement>> results(step.getNumResults());
  for (auto [argument, placement] : llvm::enumerate(arguments)) {
    placement.keep = 0;
    if (std::optional<unsigned> result = getStateResult(step, argument))
      results[*result] = placement;
  }
  PlacementContext context;
  context.batchPieces = count;
  context.padsRows = false;
  return PlacementAnalysis(step, arguments, results, context);
}

RowProgram amsp::partitionRows(func::FuncOp step, int64_t count,
                               ArrayRef<int64_t> rows) {
  Strategy replicas = {{1}, {1}, {1}};
  std::vector<Grid> grids = {Grid(count, replicas)};
  // What has no local rule shows as a collective.
  ScopedDiagnosticHandler quiet(step.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
  });
  // Interleaved rows of a rank's block are of one block each; but ops may join
  // rows that are neighbours.
  for (RowOrder order : {RowOrder::Interleaved, RowOrder::Blocks}) {
    if (order == RowOrder::Interleaved && !llvm::all_equal(rows))
      continue;
    RowProgram program;
    program.order = order;
    program.function = step.clone();
    PlacementAnalysis analysis = analyzeRows(*program.function, count);
    for (OpOperand &operand :
         program.function->getBody().front().getTerminator()->getOpOperands()) {
      Placement placement = analysis.getYielded(operand);
      program.splitResults.push_back(
          placement.isSplit() ? std::optional(placement.dim) : std::nullopt);
    }
    Partitioner partitioner(*program.function, analysis, grids,
                            ReduceType::F32);
    if (order == RowOrder::Interleaved)
      partitioner.interleaveRows(rows.front());
    partitioner.run();
    if (!partitioner.joinsRows())
      return program;
  }
  llvm_unreachable("blocks are right for any step");
}

/// Where an op is, for text.
static std::string describeLocation(Location location) {
  std::string text;
  location->walk([&](Location nested) {
    if (auto file = dyn_cast<FileLineColLoc>(nested))
      text =
          (" at " + file.getFilename().getValue() + ":" + Twine(file.getLine()))
              .str();
    return text.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return text;
}

bool RowAnalysis::isBatch(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &program.getBody().front() &&
         getRole(program, argument.getArgNumber()) == Role::Batch;
}

/// What makes the value, through what only changes its type.
static Operation *getMaker(Value value) {
  Operation *op = value.getDefiningOp();
  while (auto convert = dyn_cast_or_null<stablehlo::ConvertOp>(op)) {
    if (!convert.getOperand().getDefiningOp())
      break;
    op = convert.getOperand().getDefiningOp();
  }
  return op;
}

/// The op to name for a collective: what makes its operand, or, where that is
/// an argument, the collective itself.
static Operation *getNamed(Operation *collective, Value operand) {
  Operation *maker = getMaker(operand);
  return maker ? maker : collective;
}

/// The op of the step for which the partitioner made this one.
static Operation *getAsker(Operation *op) {
  while (isa<LocalSliceOp, KeepOnFirstOp, AllGatherOp>(op) && !op->use_empty())
    op = *op->user_begin();
  return op;
}

LogicalResult RowAnalysis::verifyCollectives() {
  WalkResult walk = program.walk([&](CollectiveOpInterface collective) {
    Operation *op = collective;
    auto sum = dyn_cast<AllReduceOp>(op);
    if (sum && sum.getReduction() == Reduction::Sum &&
        op->getParentOp() == program)
      return WalkResult::advance();
    Operation *named = getNamed(op, op->getOperand(0));
    if (!sum) {
      Operation *user = op->use_empty() ? named : getAsker(op);
      user->emitError(kCannotSplit)
          << "'" << user->getName() << "' needs rows of other microbatches";
    } else if (sum.getReduction() != Reduction::Sum) {
      named->emitError(kCannotSplit)
          << "'" << named->getName()
          << "' makes no sum over the rows of the batch";
    } else {
      named->emitError(kCannotSplit)
          << "the sum over all rows that '" << named->getName()
          << "' makes is needed in a loop or a branch";
    }
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult RowAnalysis::visit(Operation &op) {
  bool needsRows = false;
  AllReduceOp sum;
  auto visitOperand = [&](Value value) {
    needsRows |= isOfRows(value);
    if (Operation *definition = value.getDefiningOp(); !sum && definition) {
      auto reduce = dyn_cast<AllReduceOp>(definition);
      sum = reduce ? reduce : sumOf.lookup(definition);
    }
  };
  for (Value operand : op.getOperands())
    visitOperand(operand);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  for (Value value : captured)
    visitOperand(value);
  op.walk([&](Operation *inner) {
    if (auto slice = dyn_cast<LocalSliceOp>(inner))
      needsRows |= slice.getGroup().getSize() > 1;
    needsRows |= isa<GroupIndexOp, KeepOnFirstOp>(inner);
  });
  auto reduce = dyn_cast<AllReduceOp>(op);
  if ((needsRows || reduce) && sum) {
    Operation *named = getNamed(sum, sum.getOperands().front());
    Operation *user =
        reduce ? getNamed(reduce, reduce.getOperands().front()) : getAsker(&op);
    return user->emitError(kCannotSplit)
           << "'" << user->getName()
           << "' takes rows of the batch and what follows from a sum over all "
              "of them, which '"
           << named->getName() << "'" << describeLocation(named->getLoc())
           << " makes";
  }
  if (reduce)
    sums.push_back(reduce);
  if (needsRows || reduce)
    ofRows.insert(&op);
  else if (sum)
    sumOf[&op] = sum;
  return success();
}

LogicalResult RowAnalysis::run() {
  if (failed(verifyCollectives()))
    return failure();
  for (Operation &op : program.getBody().front().without_terminator())
    if (failed(visit(op)))
      return failure();
  return success();
}
