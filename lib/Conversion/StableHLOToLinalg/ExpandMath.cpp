//===- ExpandMath.cpp - Functions that no vector library offers -----------===//

#include "amsp/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace amsp {
#define GEN_PASS_DEF_EXPANDMATH
#include "amsp/Conversion/Passes.h.inc"
} // namespace amsp

using namespace mlir;

namespace {

struct ExpandMathPass : amsp::impl::ExpandMathBase<ExpandMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return llvm::is_contained(
          {math::TanhOp::getOperationName(), math::ErfOp::getOperationName(),
           math::ErfcOp::getOperationName(), math::ExpM1Op::getOperationName(),
           math::Log1pOp::getOperationName()},
          name);
    });
    math::populateExpansionPatterns(patterns, {"rsqrt"});
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
