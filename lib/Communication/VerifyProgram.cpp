//===- VerifyProgram.cpp - The contract of a rank's program ---------------===//

#include "RankVariation.h"
#include "amsp/Communication/AsyncCollectives.h"
#include "amsp/Communication/GroupCheck.h"
#include "amsp/Communication/ParameterCheck.h"
#include "amsp/Communication/Passes.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Target/Manifest.h"

namespace amsp {
#define GEN_PASS_DEF_VERIFYPROGRAM
#include "amsp/Communication/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {
class Checker {
public:
  Checker(func::FuncOp step, ArrayRef<int64_t> levels, int64_t bound)
      : step(step), levels(levels), bound(bound), variation(step, levels) {}

  LogicalResult check() {
    return success(succeeded(check(step.getBody().front(), 0)) &&
                   succeeded(checkResults()));
  }

  int64_t numCollectives = 0;
  int64_t peakBytes = 0;

private:
  LogicalResult check(Block &block, int64_t bytesAround);
  LogicalResult checkCollective(CollectiveOpInterface op);
  LogicalResult checkControl(CollectiveOpInterface op);
  LogicalResult checkResults();

  func::FuncOp step;
  ArrayRef<int64_t> levels;
  int64_t bound;
  RankVariation variation;
};
} // namespace

/// All ranks must run the collective equally often.
LogicalResult Checker::checkControl(CollectiveOpInterface op) {
  for (Operation *parent = op->getParentOp(); parent != step;
       parent = parent->getParentOp()) {
    if (!RankVariation::isControl(parent))
      return op->emitOpError("is in the body of '")
             << parent->getName() << "', which is no loop or branch";
    RankVariation::Set control = variation.getControl(parent);
    if (!control)
      continue;
    InFlightDiagnostic diagnostic =
        op->emitOpError("runs only on some ranks: what decides may differ "
                        "along ")
        << variation.describe(control);
    diagnostic.attachNote(parent->getLoc()) << "decided here";
    return diagnostic;
  }
  return success();
}

LogicalResult Checker::checkCollective(CollectiveOpInterface op) {
  ++numCollectives;
  std::string problem = checkGroup(op.getGroup().getDigits(), levels);
  if (!problem.empty())
    return op->emitOpError() << problem;
  problem = checkParameters(op, step.getNumArguments());
  if (!problem.empty())
    return op->emitOpError() << problem;
  if (op.isStart() && !op.getAwait())
    return op->emitOpError("is never awaited");
  return checkControl(op);
}

/// `bytesAround`: in flight around the block.
LogicalResult Checker::check(Block &block, int64_t bytesAround) {
  int64_t bytes = bytesAround;
  for (Operation &op : block) {
    if (auto await = dyn_cast<AwaitOp>(op)) {
      bytes -= describeCollective(await.getStart()).getPaddedBytes();
      continue;
    }
    if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      if (failed(checkCollective(collective)))
        return failure();
      int64_t own = describeCollective(collective).getPaddedBytes();
      peakBytes = std::max(peakBytes, bytes + own);
      // One that is not split is in flight by itself, for as long as it runs.
      if (bound >= 0 && bytes + own > bound)
        return op.emitOpError("puts ")
               << bytes + own << " bytes in flight, the bound is " << bound;
      if (collective.isStart())
        bytes += own;
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        if (failed(check(nested, bytes)))
          return failure();
  }
  return success();
}

/// A result may differ between ranks only as its placement says.
LogicalResult Checker::checkResults() {
  Operation *end = step.getBody().front().getTerminator();
  for (OpOperand &result : end->getOpOperands()) {
    unsigned index = result.getOperandNumber();
    auto placement =
        step.getResultAttrOfType<PlacementAttr>(index, kPlacementAttr);
    if (!placement)
      continue;
    RankVariation::Set extra = variation.get(result.get()) &
                               ~variation.getDigits(placement.getDigits());
    if (!extra)
      continue;
    Operation *made = result.get().getDefiningOp();
    return emitError(made ? made->getLoc() : end->getLoc())
           << "result " << index << " is "
           << stringifyPlacementKind(placement.getKind())
           << ", but may differ between ranks along "
           << variation.describe(extra);
  }
  return success();
}

namespace {
struct VerifyProgram : amsp::impl::VerifyProgramBase<VerifyProgram> {
  using VerifyProgramBase::VerifyProgramBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto levels = module->getAttrOfType<DenseI64ArrayAttr>("amsp.levels");
    func::FuncOp step;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic())
        step = function;
    if (!step || !levels || !step.getBody().hasOneBlock()) {
      module.emitError("no program of one rank: no public function of one "
                       "block, or no amsp.levels");
      return signalPassFailure();
    }
    if (prefetchBytes < -1) {
      module.emitError() << "prefetch-bytes " << prefetchBytes.getValue()
                         << ": expected a number of bytes, or -1 for none";
      return signalPassFailure();
    }
    // The bound that the schedule was made for, unless another one is asked
    // for.
    int64_t bound = prefetchBytes;
    if (bound < 0)
      bound = getPrefetchBytes(step);
    Checker checker(step, levels, bound);
    if (failed(checker.check()))
      return signalPassFailure();
    numChecked = checker.numCollectives;
    bytesInFlight = checker.peakBytes;
  }
};
} // namespace
