//===- LegalizeCHLO.cpp - chlo to StableHLO -------------------------------===//

#include "amsp/Dialect/StableHLO/IR/CHLOOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Dialect/StableHLO/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"

namespace amsp::stablehlo {
#define GEN_PASS_DEF_LEGALIZECHLO
#include "amsp/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace amsp::stablehlo

using namespace mlir;
using namespace amsp;

/// x * x
static LogicalResult expandSquare(chlo::SquareOp op,
                                  PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<stablehlo::MulOp>(op, op.getOperand(),
                                                op.getOperand());
  return success();
}

void stablehlo::populateLegalizeCHLOPatterns(RewritePatternSet &patterns) {
  patterns.add(expandSquare);
}

namespace {
struct LegalizeCHLO : stablehlo::impl::LegalizeCHLOBase<LegalizeCHLO> {
  void runOnOperation() override {
    ConversionTarget target(getContext());
    target.addIllegalDialect<chlo::CHLODialect>();
    target.addLegalDialect<stablehlo::StableHLODialect>();
    // Functions that code generation has as they are.
    target.addLegalOp<chlo::ErfOp, chlo::ErfcOp>();
    RewritePatternSet patterns(&getContext());
    stablehlo::populateLegalizeCHLOPatterns(patterns);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
