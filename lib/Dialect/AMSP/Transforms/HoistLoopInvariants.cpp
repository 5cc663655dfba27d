//===- HoistLoopInvariants.cpp - Carries that never change ----------------===//

#include "LoopInvariants.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"

namespace amsp {
#define GEN_PASS_DEF_HOISTLOOPINVARIANTS
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

unsigned amsp::hoistInvariants(stablehlo::WhileOp loop) {
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  Operation *yield = body.getTerminator();
  llvm::BitVector invariant(loop.getNumOperands());
  for (unsigned i = 0, e = loop.getNumOperands(); i < e; ++i) {
    Value initial = loop.getOperand()[i];
    Value yielded = yield->getOperand(i);
    if (yielded != body.getArgument(i) && yielded != initial)
      continue;
    invariant.set(i);
    for (Value stand : {Value(cond.getArgument(i)), Value(body.getArgument(i)),
                        Value(loop.getResult(i))})
      stand.replaceAllUsesWith(initial);
  }
  if (invariant.none())
    return 0;
  cond.eraseArguments(invariant);
  body.eraseArguments(invariant);
  yield->eraseOperands(invariant);
  loop->eraseOperands(invariant);

  SmallVector<Type> types;
  SmallVector<Value> kept;
  for (OpResult result : loop.getResults()) {
    if (invariant.test(result.getResultNumber()))
      continue;
    types.push_back(result.getType());
    kept.push_back(result);
  }
  OpBuilder builder(loop);
  auto smaller = stablehlo::WhileOp::create(builder, loop.getLoc(), types,
                                            loop->getOperands());
  smaller.getCond().takeBody(loop.getCond());
  smaller.getBody().takeBody(loop.getBody());
  for (auto [before, after] : llvm::zip_equal(kept, smaller.getResults()))
    before.replaceAllUsesWith(after);
  loop.erase();
  return invariant.count();
}

namespace {
struct HoistLoopInvariants
    : amsp::impl::HoistLoopInvariantsBase<HoistLoopInvariants> {
  void runOnOperation() override {
    // Outer loops first: what they hand on unchanged may then be seen to be
    // unchanged by the inner ones.
    SmallVector<stablehlo::WhileOp> loops;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](stablehlo::WhileOp loop) { loops.push_back(loop); });
    // Innermost first when rewriting, since an outer loop is replaced by a new
    // op that takes its regions.
    for (stablehlo::WhileOp loop : llvm::reverse(loops))
      numHoisted += hoistInvariants(loop);
  }
};
} // namespace
