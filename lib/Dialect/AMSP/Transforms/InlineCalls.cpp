//===- InlineCalls.cpp - Bodies in place of calls -------------------------===//

#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace amsp {
#define GEN_PASS_DEF_INLINECALLS
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {
/// Inlines callees before their callers, so that each body is cloned once for
/// each call that is left.
class CallInliner {
public:
  void inlineInto(func::FuncOp function);
  int64_t getNumInlined() const { return numInlined; }

private:
  /// The function that `call` is replaced by; null if it stays.
  func::FuncOp getCallee(CallOpInterface call);
  void replace(CallOpInterface call, func::FuncOp callee);

  SymbolTableCollection symbols;
  llvm::DenseSet<Operation *> done, active;
  int64_t numInlined = 0;
};
} // namespace

func::FuncOp CallInliner::getCallee(CallOpInterface call) {
  auto callee =
      dyn_cast_or_null<func::FuncOp>(call.resolveCallableInTable(&symbols));
  if (!callee || !callee.getBody().hasOneBlock() || active.contains(callee) ||
      TypeRange(callee.getResultTypes()) != call->getResultTypes() ||
      TypeRange(callee.getArgumentTypes()) != call.getArgOperands().getTypes())
    return {};
  return callee;
}

void CallInliner::replace(CallOpInterface call, func::FuncOp callee) {
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getArgOperands());
  Block &body = callee.getBody().front();
  // Locations tell both places, as upstream's inliner makes them.
  DenseMap<Location, Location> locations;
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping)->walk([&](Operation *cloned) {
      auto [entry, isNew] =
          locations.try_emplace(cloned->getLoc(), cloned->getLoc());
      if (isNew)
        entry->second = CallSiteLoc::get(cloned->getLoc(), call.getLoc());
      cloned->setLoc(entry->second);
    });
  for (auto [result, returned] :
       llvm::zip_equal(call->getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(returned));
  call->erase();
  ++numInlined;
}

void CallInliner::inlineInto(func::FuncOp function) {
  if (!done.insert(function).second)
    return;
  active.insert(function);
  SmallVector<CallOpInterface> calls;
  function.walk([&](CallOpInterface call) { calls.push_back(call); });
  for (CallOpInterface call : calls)
    if (func::FuncOp callee = getCallee(call)) {
      inlineInto(callee);
      replace(call, callee);
    }
  active.erase(function);
}

namespace {
struct InlineCalls : amsp::impl::InlineCallsBase<InlineCalls> {
  using InlineCallsBase::InlineCallsBase;

  void runOnOperation() override {
    CallInliner inliner;
    for (auto function : getOperation().getOps<func::FuncOp>())
      inliner.inlineInto(function);
    numInlined = inliner.getNumInlined();
  }
};
} // namespace
