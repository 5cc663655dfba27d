//===- Windows.cpp - Reductions over windows ------------------------------===//

#include "Patterns.h"
#include "ScalarOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace amsp;
using stablehlo::WindowDimension;

Value amsp::padForWindow(ImplicitLocOpBuilder &b, Value base, Value padding,
                         ArrayRef<WindowDimension> window) {
  SmallVector<int64_t> low, high, interior;
  for (const WindowDimension &each : window) {
    low.push_back(each.low);
    high.push_back(each.high);
    interior.push_back(each.baseDilation - 1);
  }
  auto isZero = [](int64_t value) { return value == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero) &&
      llvm::all_of(interior, isZero))
    return base;
  return stablehlo::PadOp::create(b, base, padding, low, high, interior);
}

namespace {

/// The loops of a reduction over windows: one per dimension of the result, then
/// one per dimension that windows have extent in.
struct WindowLoops {
  SmallVector<utils::IteratorType> iterators;
  AffineMap input, window, output;
  SmallVector<int64_t> windowShape;
};

} // namespace

static WindowLoops getLoops(ArrayRef<WindowDimension> window,
                            MLIRContext *context) {
  WindowLoops loops;
  unsigned rank = window.size(), count = rank;
  SmallVector<AffineExpr> input, windowDims;
  for (auto [dim, each] : llvm::enumerate(window)) {
    AffineExpr index = getAffineDimExpr(dim, context) * each.stride;
    if (each.size != 1) {
      AffineExpr within = getAffineDimExpr(count++, context);
      windowDims.push_back(within);
      loops.windowShape.push_back(each.size);
      index = index + within * each.dilation;
    }
    input.push_back(index);
  }
  loops.iterators.assign(rank, utils::IteratorType::parallel);
  loops.iterators.append(count - rank, utils::IteratorType::reduction);
  loops.input = AffineMap::get(count, 0, input, context);
  loops.window = AffineMap::get(count, 0, windowDims, context);
  loops.output =
      AffineMap::getMultiDimIdentityMap(count, context).getMajorSubMap(rank);
  return loops;
}

namespace {

/// A generic op that reads the padded inputs at `index * stride + within *
/// dilation`; an operand that is not read gives the windows' sizes.
struct ConvertReduceWindow : OpConversionPattern<stablehlo::ReduceWindowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(stablehlo::ReduceWindowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<WindowDimension> window = op.getWindow();
    WindowLoops loops = getLoops(window, b.getContext());
    SmallVector<Value> inputs, outputs;
    SmallVector<Type> types;
    SmallVector<AffineMap> maps;
    for (auto [input, init] :
         llvm::zip_equal(adaptor.getInputs(), adaptor.getInitValues())) {
      inputs.push_back(padForWindow(b, input, init, window));
      maps.push_back(loops.input);
    }
    inputs.push_back(createEmpty(
        b, RankedTensorType::get(loops.windowShape, b.getI8Type())));
    maps.push_back(loops.window);
    for (auto [init, resultType] :
         llvm::zip_equal(adaptor.getInitValues(), op.getResultTypes())) {
      auto type = getTypeConverter()->convertType<RankedTensorType>(resultType);
      types.push_back(type);
      outputs.push_back(createFill(b, type, extractScalar(b, init)));
      maps.push_back(loops.output);
    }
    FailureOr<Operation *> generic =
        createReduction(b, types, inputs, outputs, maps, loops.iterators,
                        op.getBody().front(), rewriter);
    if (failed(generic))
      return failure();
    rewriter.replaceOp(op, *generic);
    return success();
  }
};

/// Selects by a reduction over windows of elements and their positions, and
/// scatters the source to these.
struct ConvertSelectAndScatter
    : OpConversionPattern<stablehlo::SelectAndScatterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(stablehlo::SelectAndScatterOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    auto sourceType = cast<RankedTensorType>(op.getSource().getType());
    auto flatSource = sourceType.clone({sourceType.getNumElements()});
    Value positions = emitPositions(b, op, type, sourceType);
    positions = stablehlo::ReshapeOp::create(
        b,
        RankedTensorType::get({flatSource.getNumElements(), 1}, b.getI64Type()),
        positions);
    Value source = stablehlo::ReshapeOp::create(b, flatSource, op.getSource());
    auto resultType = cast<RankedTensorType>(op.getType());
    auto flat = resultType.clone({resultType.getNumElements()});
    Value init = stablehlo::BroadcastInDimOp::create(b, flat, op.getInitValue(),
                                                     ArrayRef<int64_t>{});
    auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
        b.getContext(), /*update_window_dims=*/{}, /*inserted_window_dims=*/{0},
        /*input_batching_dims=*/{}, /*scatter_indices_batching_dims=*/{},
        /*scatter_dims_to_operand_dims=*/{0}, /*index_vector_dim=*/1);
    auto scatter =
        stablehlo::ScatterOp::create(b, TypeRange(flat), ValueRange(init),
                                     positions, ValueRange(source), numbers);
    // The region's first argument is what is there already.
    rewriter.inlineRegionBefore(op.getScatter(), scatter.getUpdateComputation(),
                                scatter.getUpdateComputation().end());
    rewriter.replaceOpWithNewOp<stablehlo::ReshapeOp>(op, resultType,
                                                      scatter.getResult(0));
    return success();
  }

private:
  /// The row-major position in the operand that each window selects; -1 if it
  /// holds padding only.
  static Value emitPositions(ImplicitLocOpBuilder &b,
                             stablehlo::SelectAndScatterOp op,
                             RankedTensorType type,
                             RankedTensorType sourceType) {
    auto scalarPosition = RankedTensorType::get({}, b.getI64Type());
    auto iotaType =
        RankedTensorType::get({type.getNumElements()}, b.getI64Type());
    Value positions = stablehlo::IotaOp::create(b, iotaType, 0);
    positions =
        stablehlo::ReshapeOp::create(b, type.clone(b.getI64Type()), positions);
    Value none = stablehlo::ConstantOp::create(
        b, DenseElementsAttr::get(scalarPosition, int64_t(-1)));
    Value zero = stablehlo::ConstantOp::create(
        b, cast<ElementsAttr>(b.getZeroAttr(type.clone(ArrayRef<int64_t>{}))));
    SmallVector<int64_t> sizes, strides, padding;
    for (const WindowDimension &each : op.getWindow()) {
      sizes.push_back(each.size);
      strides.push_back(each.stride);
      padding.append({each.low, each.high});
    }
    auto reduce = stablehlo::ReduceWindowOp::create(
        b, TypeRange({sourceType, sourceType.clone(b.getI64Type())}),
        ValueRange{op.getOperand(), positions}, ValueRange{zero, none},
        b.getDenseI64ArrayAttr(sizes), b.getDenseI64ArrayAttr(strides),
        /*base_dilations=*/nullptr, /*window_dilations=*/nullptr,
        DenseIntElementsAttr::get(
            RankedTensorType::get({type.getRank(), 2}, b.getI64Type()),
            padding));
    emitSelection(b, op, reduce.getBody());
    return reduce.getResult(1);
  }

  /// Of two elements and their positions: the one that op's region selects,
  /// given the one at the lower position first, in whatever order loops bring
  /// them.
  static void emitSelection(ImplicitLocOpBuilder &b,
                            stablehlo::SelectAndScatterOp op, Region &region) {
    OpBuilder::InsertionGuard guard(b);
    Type element = op.getSelect().getArgument(0).getType();
    Type position = RankedTensorType::get({}, b.getI64Type());
    Block *block =
        b.createBlock(&region, {}, {element, position, element, position},
                      SmallVector<Location>(4, op.getLoc()));
    Value value = block->getArgument(0), index = block->getArgument(1);
    Value otherValue = block->getArgument(2), other = block->getArgument(3);
    auto compare = [&](stablehlo::ComparisonDirection direction, Value lhs,
                       Value rhs) -> Value {
      return stablehlo::CompareOp::create(
          b, RankedTensorType::get({}, b.getI1Type()), lhs, rhs, direction,
          stablehlo::ComparisonTypeAttr());
    };
    Value zero = stablehlo::ConstantOp::create(
        b, cast<ElementsAttr>(b.getZeroAttr(position)));
    Value isLater = compare(stablehlo::ComparisonDirection::GT, index, other);
    auto choose = [&](Value predicate, Value yes, Value no) -> Value {
      return stablehlo::SelectOp::create(b, predicate, yes, no);
    };
    IRMapping mapping;
    Block &select = op.getSelect().front();
    mapping.map(select.getArgument(0), choose(isLater, otherValue, value));
    mapping.map(select.getArgument(1), choose(isLater, value, otherValue));
    for (Operation &nested : select.without_terminator())
      b.clone(nested, mapping);
    // Whether the one at the lower position stays; from there, whether the
    // running one does.
    Value staysFirst =
        mapping.lookupOrDefault(select.getTerminator()->getOperand(0));
    Value stays = stablehlo::XorOp::create(b, staysFirst, isLater);
    Value isNone = compare(stablehlo::ComparisonDirection::LT, index, zero);
    Value otherIsNone =
        compare(stablehlo::ComparisonDirection::LT, other, zero);
    stays = stablehlo::OrOp::create(b, stays, otherIsNone);
    stays =
        stablehlo::AndOp::create(b, stays, stablehlo::NotOp::create(b, isNone));
    stablehlo::ReturnOp::create(b, ValueRange{choose(stays, value, otherValue),
                                              choose(stays, index, other)});
  }
};

} // namespace

void amsp::populateWindowPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns) {
  patterns.add<ConvertReduceWindow, ConvertSelectAndScatter>(
      converter, patterns.getContext());
}
