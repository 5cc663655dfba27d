//===- ControlFlow.cpp - StableHLO's control flow as scf ------------------===//

#include "amsp/Conversion/Passes.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

namespace amsp {
#define GEN_PASS_DEF_CONVERTSTABLEHLOCONTROLFLOW
#include "amsp/Conversion/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {

/// A while whose carry number `counter` counts up by one to `limit`.
struct CountedLoop {
  unsigned counter;
  Value limit;
};

} // namespace

static Block &getCondition(stablehlo::WhileOp op) {
  return op.getCond().front();
}
static Block &getBody(stablehlo::WhileOp op) { return op.getBody().front(); }

/// Whether the body hands the carry on as it is.
static bool isInvariant(stablehlo::WhileOp op, unsigned carry) {
  Block &body = getBody(op);
  return body.getTerminator()->getOperand(carry) == body.getArgument(carry);
}

/// The value outside the loop that a value of the condition always equals.
static Value findValueOutside(stablehlo::WhileOp op, Value value,
                              OpBuilder &builder) {
  Block &condition = getCondition(op);
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == &condition)
    return isInvariant(op, argument.getArgNumber())
               ? op.getOperand()[argument.getArgNumber()]
               : Value();
  Operation *definition = value.getDefiningOp();
  if (!definition || definition->getBlock() != &condition)
    return value;
  if (isa<stablehlo::ConstantOp>(definition))
    return builder.clone(*definition)->getResult(0);
  return {};
}

static bool isIncrementOf(Value value, Value counter) {
  auto add = value.getDefiningOp<stablehlo::AddOp>();
  if (!add)
    return false;
  Value step;
  if (add.getLhs() == counter)
    step = add.getRhs();
  else if (add.getRhs() == counter)
    step = add.getLhs();
  SplatElementsAttr constant;
  return step && matchPattern(step, m_Constant(&constant)) &&
         constant.getSplatValue<APInt>().isOne();
}

static std::optional<CountedLoop> matchCountedLoop(stablehlo::WhileOp op,
                                                   OpBuilder &builder) {
  auto compare = getCondition(op)
                     .getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare->getBlock() != &getCondition(op) ||
      compare.getComparisonDirection() != stablehlo::ComparisonDirection::LT)
    return std::nullopt;
  auto counter = dyn_cast<BlockArgument>(compare.getLhs());
  if (!counter || counter.getOwner() != &getCondition(op))
    return std::nullopt;
  Type element = getElementTypeOrSelf(counter.getType());
  unsigned number = counter.getArgNumber();
  Block &body = getBody(op);
  if (!element.isSignlessInteger() || element.isInteger(1) ||
      !isIncrementOf(body.getTerminator()->getOperand(number),
                     body.getArgument(number)))
    return std::nullopt;
  Value limit = findValueOutside(op, compare.getRhs(), builder);
  if (!limit)
    return std::nullopt;
  return CountedLoop{number, limit};
}

/// The element of a tensor of rank 0; that of a constant is a constant.
static Value extractElement(ImplicitLocOpBuilder &b, Value tensor) {
  SplatElementsAttr splat;
  if (matchPattern(tensor, m_Constant(&splat)))
    return arith::ConstantOp::create(b, splat.getSplatValue<TypedAttr>());
  return tensor::ExtractOp::create(b, tensor, ValueRange());
}

static Value castToIndex(ImplicitLocOpBuilder &b, Value scalar) {
  return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), scalar);
}

/// Moves the ops of `block` to the end of `target` with `arguments` for its
/// own, and returns the operands of its terminator, which is erased.
static SmallVector<Value> inlineBlock(RewriterBase &rewriter, Block &block,
                                      Block *target, ValueRange arguments) {
  Operation *terminator = block.getTerminator();
  rewriter.mergeBlocks(&block, target, arguments);
  SmallVector<Value> results(terminator->getOperands());
  rewriter.eraseOp(terminator);
  return results;
}

static void convertCountedLoop(RewriterBase &rewriter, stablehlo::WhileOp op,
                               const CountedLoop &counted) {
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  SmallVector<unsigned> carried;
  SmallVector<Value> inits;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    if (i == counted.counter || isInvariant(op, i))
      continue;
    carried.push_back(i);
    inits.push_back(op.getOperand()[i]);
  }
  Value first = extractElement(b, op.getOperand()[counted.counter]);
  Value limit = extractElement(b, counted.limit);
  auto counterType =
      cast<RankedTensorType>(op.getOperand()[counted.counter].getType());
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto loop = scf::ForOp::create(b, castToIndex(b, first),
                                 castToIndex(b, limit), one, inits);
  // Without carries the builder makes the terminator.
  if (inits.empty())
    rewriter.eraseOp(loop.getBody()->getTerminator());

  SmallVector<Value> arguments(op.getOperand());
  SmallVector<Value> results(op.getOperand());
  for (auto [i, carry] : llvm::enumerate(carried)) {
    arguments[carry] = loop.getRegionIterArgs()[i];
    results[carry] = loop.getResult(i);
  }
  b.setInsertionPointToStart(loop.getBody());
  Value counter = arith::IndexCastOp::create(b, counterType.getElementType(),
                                             loop.getInductionVar());
  arguments[counted.counter] =
      tensor::FromElementsOp::create(b, counterType, counter);
  SmallVector<Value> yielded =
      inlineBlock(rewriter, getBody(op), loop.getBody(), arguments);
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b, llvm::map_to_vector(carried, [&](unsigned carry) {
                         return yielded[carry];
                       }));
  // The counter stops at the limit, or never starts.
  b.setInsertionPointAfter(loop);
  Value last = b.createOrFold<arith::MaxSIOp>(first, limit);
  results[counted.counter] =
      tensor::FromElementsOp::create(b, counterType, last);
  rewriter.replaceOp(op, results);
}

static void convertWhile(RewriterBase &rewriter, stablehlo::WhileOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  auto loop = scf::WhileOp::create(b, op.getResultTypes(), op.getOperand());
  SmallVector<Location> locations(op->getNumOperands(), op.getLoc());
  Block *before = rewriter.createBlock(&loop.getBefore(), {},
                                       op->getOperandTypes(), locations);
  SmallVector<Value> predicate =
      inlineBlock(rewriter, getCondition(op), before, before->getArguments());
  b.setInsertionPointToEnd(before);
  scf::ConditionOp::create(b, extractElement(b, predicate[0]),
                           before->getArguments());
  Block *after = rewriter.createBlock(&loop.getAfter(), {},
                                      op->getOperandTypes(), locations);
  SmallVector<Value> yielded =
      inlineBlock(rewriter, getBody(op), after, after->getArguments());
  b.setInsertionPointToEnd(after);
  scf::YieldOp::create(b, yielded);
  rewriter.replaceOp(op, loop.getResults());
}

/// Moves the block of a branch into an empty region of scf.
static void moveBranch(RewriterBase &rewriter, Region &from, Region &to) {
  Block *block = rewriter.createBlock(&to);
  SmallVector<Value> yielded = inlineBlock(rewriter, from.front(), block, {});
  rewriter.setInsertionPointToEnd(block);
  scf::YieldOp::create(rewriter, from.getLoc(), yielded);
}

static void convertIf(RewriterBase &rewriter, stablehlo::IfOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  auto branch =
      scf::IfOp::create(b, op.getResultTypes(), extractElement(b, op.getPred()),
                        /*addThenBlock=*/false, /*addElseBlock=*/false);
  moveBranch(rewriter, op.getTrueBranch(), branch.getThenRegion());
  moveBranch(rewriter, op.getFalseBranch(), branch.getElseRegion());
  rewriter.replaceOp(op, branch.getResults());
}

static void convertCase(RewriterBase &rewriter, stablehlo::CaseOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  Value index = castToIndex(b, extractElement(b, op.getIndex()));
  unsigned count = op.getBranches().size();
  // What is out of range selects the last branch.
  auto cases = llvm::to_vector(llvm::seq<int64_t>(0, count - 1));
  auto branch = scf::IndexSwitchOp::create(b, op.getResultTypes(), index, cases,
                                           cases.size());
  for (unsigned i = 0; i + 1 < count; ++i)
    moveBranch(rewriter, op.getBranches()[i], branch.getCaseRegions()[i]);
  moveBranch(rewriter, op.getBranches()[count - 1], branch.getDefaultRegion());
  rewriter.replaceOp(op, branch.getResults());
}

namespace {

struct ConvertStableHLOControlFlowPass
    : amsp::impl::ConvertStableHLOControlFlowBase<
          ConvertStableHLOControlFlowPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      TypeSwitch<Operation *>(op)
          .Case([&](stablehlo::WhileOp loop) {
            if (auto counted = matchCountedLoop(loop, rewriter)) {
              convertCountedLoop(rewriter, loop, *counted);
              ++numCountedLoops;
            } else {
              convertWhile(rewriter, loop);
              ++numOtherLoops;
            }
          })
          .Case([&](stablehlo::IfOp branch) { convertIf(rewriter, branch); })
          .Case(
              [&](stablehlo::CaseOp branch) { convertCase(rewriter, branch); });
    }
  }
};

} // namespace
