//===- SharedSums.cpp - Sums of what several attentions give --------------===//

#include "SharedSums.h"
#include "amsp/Dialect/AMSP/Transforms/HloBuilder.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace amsp;

static bool isSum(stablehlo::ReduceOp op) {
  Operation *combiner = op.getSingleCombiner();
  return op.getInputs().size() == 1 &&
         isa_and_present<stablehlo::AddOp>(combiner) &&
         matchPattern(op.getInitValues().front(), m_AnyZeroFloat());
}

/// True if what reads a value only adds or sums it.
static bool isOnlySummed(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    auto reduce = dyn_cast<stablehlo::ReduceOp>(user);
    return isa<stablehlo::AddOp>(user) || (reduce && isSum(reduce));
  });
}

/// Appends what additions that nothing else reads add up.
static void appendSummands(Value value, SmallVectorImpl<Value> &summands) {
  auto add = value.getDefiningOp<stablehlo::AddOp>();
  if (!add || !isOnlySummed(add)) {
    summands.push_back(value);
    return;
  }
  appendSummands(add.getLhs(), summands);
  appendSummands(add.getRhs(), summands);
}

/// True if a contraction reads a value, which may be moved and scaled between.
static bool isContracted(Value value) {
  constexpr unsigned kMostSteps = 8;
  SmallVector<Value> reached = {value};
  for (unsigned next = 0; next < reached.size() && next < kMostSteps; ++next) {
    for (Operation *user : reached[next].getUsers()) {
      if (isa<stablehlo::DotGeneralOp>(user))
        return true;
      if (isa<stablehlo::ConvertOp, stablehlo::TransposeOp,
              stablehlo::ReshapeOp, stablehlo::MulOp, stablehlo::DivOp>(user))
        reached.push_back(user->getResult(0));
    }
  }
  return false;
}

static void split(stablehlo::ReduceOp reduce, ArrayRef<Value> summands) {
  OpBuilder builder(reduce);
  Value total;
  for (Value summand : summands) {
    IRMapping mapping;
    mapping.map(reduce.getInputs().front(), summand);
    Value sum = builder.clone(*reduce, mapping)->getResult(0);
    total = total
                ? stablehlo::AddOp::create(builder, reduce.getLoc(), total, sum)
                : sum;
  }
  Value added = reduce.getInputs().front();
  reduce->getResult(0).replaceAllUsesWith(total);
  reduce->erase();
  SmallVector<Value> unread = {added};
  while (!unread.empty()) {
    auto add = unread.pop_back_val().getDefiningOp<stablehlo::AddOp>();
    if (!add || !add->use_empty())
      continue;
    unread.append({add.getLhs(), add.getRhs()});
    add->erase();
  }
}

void amsp::splitSharedSums(Operation *root) {
  SmallVector<stablehlo::ReduceOp> sums;
  root->walk([&](stablehlo::ReduceOp reduce) {
    if (isSum(reduce))
      sums.push_back(reduce);
  });
  for (stablehlo::ReduceOp reduce : sums) {
    SmallVector<Value> summands;
    appendSummands(reduce.getInputs().front(), summands);
    if (summands.size() > 1 && llvm::all_of(summands, isContracted))
      split(reduce, summands);
  }
}
