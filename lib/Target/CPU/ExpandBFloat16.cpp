//===- ExpandBFloat16.cpp - bf16 on CPUs without it -----------------------===//

#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace amsp {
#define GEN_PASS_DEF_EXPANDBFLOAT16
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;

namespace {
struct ExpandBFloat16 : amsp::impl::ExpandBFloat16Base<ExpandBFloat16> {
  void runOnOperation() override {
    if (failed(computeInFloat32()))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }

  LogicalResult computeInFloat32() {
    Type narrow = BFloat16Type::get(&getContext());
    Type wide = Float32Type::get(&getContext());
    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(converter, narrow, wide);
    RewritePatternSet patterns(&getContext());
    arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
    ConversionTarget target(getContext());
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }
};
} // namespace
