//===- GatherScatter.cpp - Indexed reads and writes -----------------------===//

#include "Patterns.h"
#include "ScalarOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace amsp;

/// Reads the index vector at the position `batch` of a tensor of indices, as
/// values of index type.
static SmallVector<Value> readIndexVector(ImplicitLocOpBuilder &b,
                                          Value indices, Type indexElement,
                                          ArrayRef<Value> batch,
                                          int64_t vectorDim, int64_t length) {
  auto type = cast<RankedTensorType>(indices.getType());
  SmallVector<Value> components;
  for (int64_t i = 0; i < length; ++i) {
    SmallVector<Value> position(batch);
    if (vectorDim < type.getRank())
      position.insert(position.begin() + vectorDim,
                      arith::ConstantIndexOp::create(b, i));
    Value component = tensor::ExtractOp::create(b, indices, position);
    Type index = b.getIndexType();
    components.push_back(
        indexElement.isUnsignedInteger()
            ? Value(arith::IndexCastUIOp::create(b, index, component))
            : Value(arith::IndexCastOp::create(b, index, component)));
  }
  return components;
}

/// The position of operand dimension `dim` among `batchingDims`, or -1.
static int64_t findDim(ArrayRef<int64_t> dims, int64_t dim) {
  const auto *it = llvm::find(dims, dim);
  return it == dims.end() ? -1 : it - dims.begin();
}

/// The coordinate in `batch` of a dimension of the indices tensor, whose vector
/// dimension has no coordinate.
static Value getBatchCoordinate(ArrayRef<Value> batch, int64_t indicesDim,
                                int64_t vectorDim) {
  return batch[indicesDim > vectorDim ? indicesDim - 1 : indicesDim];
}

namespace {

/// A generic op over the result, whose body reads the operand at the clamped
/// index.
struct ConvertGather : OpConversionPattern<stablehlo::GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(stablehlo::GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value result = createParallelGeneric(
        b, type, {}, {}, [&](ImplicitLocOpBuilder &builder, ValueRange) {
          return emitElement(builder, op, adaptor, type.getRank());
        });
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static Value emitElement(ImplicitLocOpBuilder &b, stablehlo::GatherOp op,
                           OpAdaptor adaptor, int64_t resultRank) {
    auto numbers = op.getDimensionNumbers();
    auto operandType = cast<RankedTensorType>(adaptor.getOperand().getType());
    SmallVector<Value> batch, offset;
    for (int64_t dim = 0; dim < resultRank; ++dim) {
      bool isOffset = llvm::is_contained(numbers.getOffsetDims(), dim);
      (isOffset ? offset : batch).push_back(linalg::IndexOp::create(b, dim));
    }
    SmallVector<Value> start = readIndexVector(
        b, adaptor.getStartIndices(),
        getElementTypeOrSelf(op.getStartIndices().getType()), batch,
        numbers.getIndexVectorDim(), numbers.getStartIndexMap().size());

    SmallVector<Value> position;
    auto *nextOffset = offset.begin();
    Value zero = arith::ConstantIndexOp::create(b, 0);
    for (int64_t dim = 0; dim < operandType.getRank(); ++dim) {
      int64_t batching = findDim(numbers.getOperandBatchingDims(), dim);
      if (batching >= 0) {
        position.push_back(getBatchCoordinate(
            batch, numbers.getStartIndicesBatchingDims()[batching],
            numbers.getIndexVectorDim()));
        continue;
      }
      Value index;
      int64_t component = findDim(numbers.getStartIndexMap(), dim);
      int64_t last = operandType.getDimSize(dim) - op.getSliceSizes()[dim];
      if (component >= 0 && last > 0) {
        Value limit = arith::ConstantIndexOp::create(b, last);
        index = arith::MaxSIOp::create(b, start[component], zero);
        index = arith::MinSIOp::create(b, index, limit);
      }
      if (!llvm::is_contained(numbers.getCollapsedSliceDims(), dim)) {
        Value within = *nextOffset++;
        index = index ? Value(arith::AddIOp::create(b, index, within)) : within;
      }
      position.push_back(index ? index : zero);
    }
    return tensor::ExtractOp::create(b, adaptor.getOperand(), position);
  }
};

/// Emits a scatter: loops over the windows in order, the region on each.
class ScatterEmitter {
public:
  ScatterEmitter(stablehlo::ScatterOp op, stablehlo::ScatterOp::Adaptor adaptor,
                 ConversionPatternRewriter &rewriter)
      : op(op), adaptor(adaptor), rewriter(rewriter),
        numbers(op.getScatterDimensionNumbers()),
        inputType(cast<RankedTensorType>(adaptor.getInputs()[0].getType())),
        updateType(cast<RankedTensorType>(adaptor.getUpdates()[0].getType())) {
    for (int64_t dim = 0; dim < updateType.getRank(); ++dim)
      if (!isWindowDim(dim))
        batchDims.push_back(dim);
    for (int64_t dim : numbers.getUpdateWindowDims())
      windowShape.push_back(updateType.getDimSize(dim));
    computeWindowSizes();
  }

  FailureOr<SmallVector<Value>> emit(ImplicitLocOpBuilder &b) {
    if (updateType.getNumElements() == 0)
      return SmallVector<Value>(adaptor.getInputs());
    SmallVector<Value> batch;
    SmallVector<Value> results = emitLoops(b, batch, adaptor.getInputs());
    if (failed(emitted))
      return failure();
    return results;
  }

private:
  bool isWindowDim(int64_t dim) const {
    return llvm::is_contained(numbers.getUpdateWindowDims(), dim);
  }

  /// Size of a window along each dimension of the input.
  void computeWindowSizes() {
    const auto *nextWindow = windowShape.begin();
    for (int64_t dim = 0; dim < inputType.getRank(); ++dim) {
      bool isPoint = llvm::is_contained(numbers.getInsertedWindowDims(), dim) ||
                     llvm::is_contained(numbers.getInputBatchingDims(), dim);
      windowSizes.push_back(isPoint ? 1 : *nextWindow++);
    }
  }

  SmallVector<Value> emitLoops(ImplicitLocOpBuilder &b,
                               SmallVectorImpl<Value> &batch,
                               ValueRange tensors) {
    if (batch.size() == batchDims.size())
      return emitGuardedUpdate(b, batch, tensors);
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value end = arith::ConstantIndexOp::create(
        b, updateType.getDimSize(batchDims[batch.size()]));
    auto loop = scf::ForOp::create(
        b, zero, end, one, tensors,
        [&](OpBuilder &nested, Location loc, Value index, ValueRange carried) {
          ImplicitLocOpBuilder builder(loc, nested);
          batch.push_back(index);
          scf::YieldOp::create(builder, emitLoops(builder, batch, carried));
          batch.pop_back();
        });
    return loop.getResults();
  }

  /// A window that does not lie inside the input is left out as a whole, as XLA
  /// does.
  SmallVector<Value> emitGuardedUpdate(ImplicitLocOpBuilder &b,
                                       ArrayRef<Value> batch,
                                       ValueRange tensors) {
    Value inside;
    SmallVector<Value> start = emitStart(b, batch, inside);
    if (!inside)
      return emitUpdate(b, batch, start, tensors);
    auto guard = scf::IfOp::create(
        b, inside,
        [&](OpBuilder &nested, Location loc) {
          ImplicitLocOpBuilder builder(loc, nested);
          scf::YieldOp::create(builder,
                               emitUpdate(builder, batch, start, tensors));
        },
        [&](OpBuilder &nested, Location loc) {
          scf::YieldOp::create(nested, loc, tensors);
        });
    return guard.getResults();
  }

  /// The first position of a window in the input; `inside` becomes the test
  /// that the window lies in it, if one is needed.
  SmallVector<Value> emitStart(ImplicitLocOpBuilder &b, ArrayRef<Value> batch,
                               Value &inside) {
    SmallVector<Value> components =
        readIndexVector(b, adaptor.getScatterIndices(),
                        getElementTypeOrSelf(op.getScatterIndices().getType()),
                        batch, numbers.getIndexVectorDim(),
                        numbers.getScatterDimsToOperandDims().size());
    SmallVector<Value> start;
    for (int64_t dim = 0; dim < inputType.getRank(); ++dim) {
      int64_t batching = findDim(numbers.getInputBatchingDims(), dim);
      int64_t component = findDim(numbers.getScatterDimsToOperandDims(), dim);
      if (batching >= 0) {
        start.push_back(getBatchCoordinate(
            batch, numbers.getScatterIndicesBatchingDims()[batching],
            numbers.getIndexVectorDim()));
      } else if (component >= 0) {
        start.push_back(components[component]);
        // Unsigned, so that negative ones are outside too.
        Value end = arith::ConstantIndexOp::create(
            b, inputType.getDimSize(dim) - windowSizes[dim] + 1);
        Value test = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                           start.back(), end);
        inside = inside ? Value(arith::AndIOp::create(b, inside, test)) : test;
      } else {
        start.push_back(arith::ConstantIndexOp::create(b, 0));
      }
    }
    return start;
  }

  SmallVector<Value> emitUpdate(ImplicitLocOpBuilder &b, ArrayRef<Value> batch,
                                ArrayRef<Value> start, ValueRange tensors) {
    if (llvm::all_of(windowShape, [](int64_t size) { return size == 1; }))
      return emitElementUpdate(b, batch, start, tensors);
    return emitWindowUpdate(b, batch, start, tensors);
  }

  SmallVector<Value> emitElementUpdate(ImplicitLocOpBuilder &b,
                                       ArrayRef<Value> batch,
                                       ArrayRef<Value> start,
                                       ValueRange tensors) {
    SmallVector<Value> position = getUpdatePosition(b, batch);
    SmallVector<Value> arguments;
    for (Value tensor : tensors)
      arguments.push_back(tensor::ExtractOp::create(b, tensor, start));
    for (Value update : adaptor.getUpdates())
      arguments.push_back(tensor::ExtractOp::create(b, update, position));
    SmallVector<Value> results;
    for (auto [value, tensor] :
         llvm::zip_equal(emitRegion(b, arguments), tensors))
      results.push_back(tensor::InsertOp::create(b, value, tensor, start));
    return results;
  }

  /// The whole window at once, as a generic op on slices: its loop over a
  /// contiguous row is vectorised.
  SmallVector<Value> emitWindowUpdate(ImplicitLocOpBuilder &b,
                                      ArrayRef<Value> batch,
                                      ArrayRef<Value> start,
                                      ValueRange tensors) {
    SmallVector<OpFoldResult> offsets = getAsOpFoldResult(start);
    SmallVector<OpFoldResult> sizes =
        getAsIndexOpFoldResult(b.getContext(), windowSizes);
    SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
    SmallVector<OpFoldResult> updateOffsets =
        getAsOpFoldResult(getUpdatePosition(b, batch));
    SmallVector<OpFoldResult> updateSizes;
    for (int64_t dim = 0; dim < updateType.getRank(); ++dim)
      updateSizes.push_back(
          b.getIndexAttr(isWindowDim(dim) ? updateType.getDimSize(dim) : 1));
    SmallVector<OpFoldResult> updateStrides(updateSizes.size(),
                                            b.getIndexAttr(1));

    SmallVector<Value> windows, updates;
    for (Value tensor : tensors)
      windows.push_back(tensor::ExtractSliceOp::create(
          b, getWindowType(tensor), tensor, offsets, sizes, strides));
    for (Value update : adaptor.getUpdates())
      updates.push_back(tensor::ExtractSliceOp::create(
          b, getWindowType(update), update, updateOffsets, updateSizes,
          updateStrides));

    int64_t rank = windowShape.size();
    SmallVector<AffineMap> maps(windows.size() + updates.size(),
                                b.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        b, TypeRange(windows), updates, windows, maps, iterators,
        [&](OpBuilder &nested, Location loc, ValueRange blockArguments) {
          ImplicitLocOpBuilder builder(loc, nested);
          SmallVector<Value> arguments(
              blockArguments.drop_front(updates.size()));
          llvm::append_range(arguments,
                             blockArguments.take_front(updates.size()));
          linalg::YieldOp::create(builder, emitRegion(builder, arguments));
        });
    SmallVector<Value> results;
    for (auto [window, tensor] : llvm::zip_equal(generic.getResults(), tensors))
      results.push_back(tensor::InsertSliceOp::create(b, window, tensor,
                                                      offsets, sizes, strides));
    return results;
  }

  RankedTensorType getWindowType(Value tensor) {
    return RankedTensorType::get(windowShape,
                                 getElementTypeOrSelf(tensor.getType()));
  }

  /// The first position of a window in the updates.
  SmallVector<Value> getUpdatePosition(ImplicitLocOpBuilder &b,
                                       ArrayRef<Value> batch) {
    Value zero = arith::ConstantIndexOp::create(b, 0);
    SmallVector<Value> position(updateType.getRank(), zero);
    for (auto [dim, index] : llvm::zip_equal(batchDims, batch))
      position[dim] = index;
    return position;
  }

  SmallVector<Value> emitRegion(ImplicitLocOpBuilder &b, ValueRange arguments) {
    SmallVector<Value> results;
    if (succeeded(emitted))
      emitted = emitScalarRegion(
          b, op.getUpdateComputation().front(), arguments,
          [&](Value value) { return rewriter.getRemappedValue(value); },
          results);
    if (failed(emitted))
      for (Value argument : arguments.take_front(op.getInputs().size()))
        results.push_back(ub::PoisonOp::create(b, argument.getType()));
    return results;
  }

  stablehlo::ScatterOp op;
  stablehlo::ScatterOp::Adaptor adaptor;
  ConversionPatternRewriter &rewriter;
  stablehlo::ScatterDimensionNumbersAttr numbers;
  RankedTensorType inputType, updateType;
  SmallVector<int64_t> batchDims, windowShape, windowSizes;
  LogicalResult emitted = success();
};

struct ConvertScatter : OpConversionPattern<stablehlo::ScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ScatterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    FailureOr<SmallVector<Value>> results =
        ScatterEmitter(op, adaptor, rewriter).emit(b);
    if (failed(results))
      return failure();
    rewriter.replaceOp(op, *results);
    return success();
  }
};

} // namespace

void amsp::populateGatherScatterPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<ConvertGather, ConvertScatter>(converter, patterns.getContext());
}
