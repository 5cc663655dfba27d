//===- Scans.cpp - Windows that reach to the end of a dimension -----------===//
//
// Cumulative sums are exported as reductions over windows of n elements at each
// of n positions. Each window is the one before it and one more element: n
// steps do, in place of n * n. Padding holds the initial value, so that has to
// be one that adds nothing.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "ScalarOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace amsp;
using stablehlo::WindowDimension;

namespace {

struct Scan {
  int64_t dim;
  /// Windows begin at their element and end with the dimension.
  bool isReversed;
};

} // namespace

/// The scan that windows over `shape` are: all elements of one dimension up to
/// the window's own, each by itself in the other dimensions.
static std::optional<Scan> findScan(ArrayRef<WindowDimension> window,
                                    ArrayRef<int64_t> shape) {
  std::optional<Scan> scan;
  for (auto [dim, each] : llvm::enumerate(window)) {
    if (each.isTrivial())
      continue;
    bool coversAll = each.size > 1 && each.size >= shape[dim] &&
                     each.stride == 1 && each.dilation == 1 &&
                     each.baseDilation == 1;
    bool isForward = each.low == each.size - 1 && each.high == 0;
    bool isReversed = each.high == each.size - 1 && each.low == 0;
    if (scan || !coversAll || (!isForward && !isReversed))
      return std::nullopt;
    scan = Scan{static_cast<int64_t>(dim), isReversed};
  }
  return scan;
}

static bool isSplatOf(Value value, int64_t number) {
  while (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = broadcast.getOperand();
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)))
    return false;
  auto element = splat.getSplatValue<Attribute>();
  if (auto floating = dyn_cast<FloatAttr>(element))
    return floating.getValue().convertToDouble() == number;
  return cast<IntegerAttr>(element).getValue() == number;
}

/// Whether an initial value counts the same however often it is in a window:
/// once for the window itself, and once for each element of padding.
static bool countsOnce(stablehlo::ReduceWindowOp op) {
  Block &combiner = op.getBody().front();
  if (op.getInputs().size() != 1 || !llvm::hasNItems(combiner, 2))
    return false;
  Operation &operation = combiner.front();
  if (operation.getOperands() != combiner.getArguments() ||
      combiner.getTerminator()->getOperands() != operation.getResults())
    return false;
  Value init = op.getInitValues().front();
  bool isBool = getElementTypeOrSelf(init.getType()).isInteger(1);
  if (isa<stablehlo::AddOp>(operation))
    return isBool || isSplatOf(init, 0);
  if (isa<stablehlo::MulOp>(operation))
    return isBool || isSplatOf(init, 1);
  return isa<stablehlo::MaxOp, stablehlo::MinOp, stablehlo::AndOp,
             stablehlo::OrOp>(operation);
}

/// The combiner over `count` running values and elements; each of its results
/// is the next running value, and the result at this position. Sums are not
/// reassociated: every one of them is a result.
static LogicalResult emitStep(ImplicitLocOpBuilder &b, Block &combiner,
                              ValueRange arguments, size_t count,
                              ConversionPatternRewriter &rewriter) {
  SmallVector<Value> operands(arguments.drop_back(count).take_back(count));
  llvm::append_range(operands, arguments.take_front(count));
  SmallVector<Value> results;
  LogicalResult emitted = emitScalarRegion(
      b, combiner, operands,
      [&](Value value) { return rewriter.getRemappedValue(value); }, results);
  if (failed(emitted)) {
    results.clear();
    for (Value argument : arguments.take_front(count))
      results.push_back(ub::PoisonOp::create(b, argument.getType()));
  }
  llvm::append_range(results, SmallVector<Value>(results));
  linalg::YieldOp::create(b, results);
  return emitted;
}

namespace {

/// One generic op whose outputs are the running values, reduced along the
/// scan's loop, and the results, which are written at every step of it. The
/// loops of a generic op run in their order.
struct ConvertScan : OpConversionPattern<stablehlo::ReduceWindowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(stablehlo::ReduceWindowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto inputType =
        cast<RankedTensorType>(adaptor.getInputs().front().getType());
    std::optional<Scan> scan = findScan(op.getWindow(), inputType.getShape());
    if (!scan || !countsOnce(op))
      return rewriter.notifyMatchFailure(op, "is not a scan");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t rank = inputType.getRank();
    int64_t size = inputType.getDimSize(scan->dim);
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    iterators[scan->dim] = utils::IteratorType::reduction;
    AffineMap element = b.getMultiDimIdentityMap(rank);
    AffineMap others = element.dropResult(scan->dim);
    AffineExpr step = element.getResult(scan->dim);
    SmallVector<Value> inputs(adaptor.getInputs());
    if (scan->isReversed)
      element = element.replace(step, size - 1 - step, rank, 0);
    SmallVector<AffineMap> maps(inputs.size(), element);
    // No operand has the loop of a reversed scan as its index: one that is not
    // read gives its bounds.
    if (scan->isReversed) {
      inputs.push_back(
          createEmpty(b, RankedTensorType::get(size, b.getI8Type())));
      maps.push_back(AffineMap::get(rank, 0, step));
    }

    SmallVector<int64_t> runningShape(inputType.getShape());
    runningShape.erase(runningShape.begin() + scan->dim);
    SmallVector<Value> running, results;
    for (auto [init, resultType] :
         llvm::zip_equal(adaptor.getInitValues(), op.getResultTypes())) {
      auto type = getTypeConverter()->convertType<RankedTensorType>(resultType);
      running.push_back(
          createFill(b, type.clone(runningShape), extractScalar(b, init)));
      results.push_back(createEmpty(b, type));
    }
    size_t count = results.size();
    maps.append(count, others);
    maps.append(count, element);
    SmallVector<Value> outputs(running);
    llvm::append_range(outputs, results);

    LogicalResult emitted = success();
    auto generic = linalg::GenericOp::create(
        b, TypeRange(ValueRange(outputs)), inputs, outputs, maps, iterators,
        [&](OpBuilder &nested, Location loc, ValueRange arguments) {
          ImplicitLocOpBuilder builder(loc, nested);
          emitted = emitStep(builder, op.getBody().front(), arguments, count,
                             rewriter);
        });
    if (failed(emitted))
      return failure();
    rewriter.replaceOp(op, generic.getResults().take_back(count));
    return success();
  }
};

} // namespace

void amsp::populateScanPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns) {
  patterns.add<ConvertScan>(converter, patterns.getContext(), /*benefit=*/2);
}
