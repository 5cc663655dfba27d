//===- StableHLOToLinalg.cpp - StableHLO to linalg on tensors -------------===//

#include "Patterns.h"
#include "ScalarOps.h"
#include "amsp/Conversion/Passes.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Dialect/StableHLO/IR/CHLOOps.h"
#include "amsp/Dialect/StableHLO/IR/IterationBoundary.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace amsp {
#define GEN_PASS_DEF_CONVERTSTABLEHLOTOLINALG
#include "amsp/Conversion/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {

/// Tensors of unsigned integers become signless.
struct SignlessTypeConverter : TypeConverter {
  SignlessTypeConverter() {
    addConversion([](Type type) { return type; });
    addConversion([](RankedTensorType type) {
      return type.clone(getSignlessType(type.getElementType()));
    });
    addConversion([this](PendingType type) -> Type {
      return PendingType::get(
          cast<RankedTensorType>(convertType(type.getTensor())));
    });
  }
};

/// Ops of other dialects stay; only their types follow.
struct ConvertTypesOfOtherOp : ConversionPattern {
  ConvertTypesOfOtherOp(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<AMSPDialect, tensor::TensorDialect>(op->getDialect()) ||
        op->getNumRegions() != 0)
      return failure();
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    OperationState state(op->getLoc(), op->getName(), operands, types,
                         op->getAttrs());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

struct ConvertStableHLOToLinalgPass
    : amsp::impl::ConvertStableHLOToLinalgBase<ConvertStableHLOToLinalgPass> {
  void runOnOperation() override {
    WalkResult walk = getOperation()->walk([](stablehlo::CustomCallOp call) {
      call.emitOpError("calls '@")
          << call.getCallTargetName() << "', which no target has";
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    SignlessTypeConverter converter;
    RewritePatternSet patterns(&getContext());
    ConversionTarget target(getContext());
    configureTarget(target, converter);
    populateElementwisePatterns(converter, patterns);
    populateDataMovementPatterns(converter, patterns);
    populateSlicePatterns(converter, patterns);
    populateNarrowSumPatterns(converter, patterns);
    populateReductionPatterns(converter, patterns);
    populateDotGeneralPatterns(converter, patterns);
    populateGatherScatterPatterns(converter, patterns);
    populateWindowPatterns(converter, patterns);
    populateScanPatterns(converter, patterns);
    populateConvolutionPatterns(converter, patterns);
    populateSortPatterns(converter, patterns);
    populateRandomPatterns(converter, patterns);
    patterns.add<ConvertTypesOfOtherOp>(converter, &getContext());
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                   converter);
    populateReturnOpTypeConversionPattern(patterns, converter);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }

private:
  static void configureTarget(ConversionTarget &target,
                              SignlessTypeConverter &converter) {
    target.addIllegalDialect<chlo::CHLODialect, stablehlo::StableHLODialect>();
    target.addLegalDialect<arith::ArithDialect, linalg::LinalgDialect,
                           math::MathDialect, ub::UBDialect>();
    target.addDynamicallyLegalDialect<AMSPDialect, tensor::TensorDialect>(
        [&](Operation *op) { return converter.isLegal(op); });
    // Until elementwise ops are fused.
    target.addDynamicallyLegalOp<stablehlo::OptimizationBarrierOp>(
        [&](Operation *op) {
          return isIterationBoundary(op) && converter.isLegal(op);
        });
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp func) {
      return converter.isSignatureLegal(func.getFunctionType()) &&
             converter.isLegal(&func.getBody());
    });
    target.addDynamicallyLegalOp<func::ReturnOp>(
        [&](func::ReturnOp op) { return converter.isLegal(op); });
  }
};

} // namespace
