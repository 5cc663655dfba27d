//===- Reduction.cpp - stablehlo.reduce as linalg.generic -----------------===//

#include "Patterns.h"
#include "ScalarOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace amsp;

/// Float sums may be reassociated: StableHLO leaves their order open, and
/// without it LLVM may not use vectors. The order is still fixed when the
/// program is compiled, so two runs give the same bits.
static void allowReassociation(Value result) {
  if (auto add = result.getDefiningOp<arith::AddFOp>())
    add.setFastmath(arith::FastMathFlags::reassoc);
}

FailureOr<Operation *>
amsp::createReduction(ImplicitLocOpBuilder &b, ArrayRef<Type> types,
                      ValueRange inputs, ValueRange outputs,
                      ArrayRef<AffineMap> maps,
                      ArrayRef<utils::IteratorType> iterators, Block &combiner,
                      ConversionPatternRewriter &rewriter) {
  LogicalResult emitted = success();
  size_t count = outputs.size();
  auto generic = linalg::GenericOp::create(
      b, types, inputs, outputs, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange blockArguments) {
        ImplicitLocOpBuilder builder(loc, nested);
        // The region takes the running values first.
        SmallVector<Value> arguments(blockArguments.take_back(count));
        llvm::append_range(arguments, blockArguments.take_front(count));
        SmallVector<Value> results;
        emitted = emitScalarRegion(
            builder, combiner, arguments,
            [&](Value value) { return rewriter.getRemappedValue(value); },
            results);
        if (failed(emitted))
          for (Type type : types)
            results.push_back(
                ub::PoisonOp::create(builder, getElementTypeOrSelf(type)));
        if (count == 1)
          allowReassociation(results.front());
        linalg::YieldOp::create(builder, results);
      });
  if (failed(emitted))
    return failure();
  return generic.getOperation();
}

namespace {

/// Loops keep the order of the operand's dimensions: what is contiguous stays
/// innermost, whether it is reduced or not.
struct ConvertReduce : OpConversionPattern<stablehlo::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(stablehlo::ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto inputType =
        cast<RankedTensorType>(adaptor.getInputs().front().getType());
    int64_t rank = inputType.getRank();
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    for (int64_t dim : op.getDimensions())
      iterators[dim] = utils::IteratorType::reduction;
    SmallVector<AffineExpr> kept;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (iterators[dim] == utils::IteratorType::parallel)
        kept.push_back(b.getAffineDimExpr(dim));
    AffineMap outputMap = AffineMap::get(rank, 0, kept, b.getContext());

    SmallVector<Value> outputs;
    SmallVector<Type> types;
    for (auto [init, resultType] :
         llvm::zip_equal(adaptor.getInitValues(), op.getResultTypes())) {
      auto type = getTypeConverter()->convertType<RankedTensorType>(resultType);
      types.push_back(type);
      outputs.push_back(createFill(b, type, extractScalar(b, init)));
    }
    size_t count = outputs.size();
    SmallVector<AffineMap> maps(count, b.getMultiDimIdentityMap(rank));
    maps.append(count, outputMap);

    FailureOr<Operation *> generic =
        createReduction(b, types, adaptor.getInputs(), outputs, maps, iterators,
                        op.getBody().front(), rewriter);
    if (failed(generic))
      return failure();
    rewriter.replaceOp(op, *generic);
    return success();
  }
};

} // namespace

void amsp::populateReductionPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns) {
  patterns.add<ConvertReduce>(converter, patterns.getContext());
}
