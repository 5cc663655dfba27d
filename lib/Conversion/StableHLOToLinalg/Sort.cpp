//===- Sort.cpp - stablehlo.sort as loops ---------------------------------===//

#include "Patterns.h"
#include "ScalarOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace amsp;

namespace {

/// Sorts each row along the dimension by merging runs of doubling length: a
/// stable sort for any comparator, whose loops have fixed bounds. A row goes
/// into a scratch of one row and back in each pass.
class SortEmitter {
public:
  SortEmitter(stablehlo::SortOp op, ValueRange inputs,
              ConversionPatternRewriter &rewriter)
      : op(op), inputs(inputs), rewriter(rewriter),
        type(cast<RankedTensorType>(inputs.front().getType())),
        dimension(static_cast<int64_t>(op.getDimension())),
        count(inputs.size()) {
    if (dimension < 0)
      dimension += type.getRank();
    length = type.getDimSize(dimension);
  }

  FailureOr<SmallVector<Value>> emit(ImplicitLocOpBuilder &b) {
    if (length <= 1 || type.getNumElements() == 0)
      return SmallVector<Value>(inputs);
    SmallVector<Value> tensors(inputs);
    for (Value input : inputs)
      tensors.push_back(createEmpty(
          b, cast<RankedTensorType>(input.getType()).clone({length})));
    SmallVector<Value> position;
    tensors = emitRows(b, position, tensors);
    if (failed(emitted))
      return failure();
    tensors.resize(count);
    return tensors;
  }

private:
  static Value emitIndex(ImplicitLocOpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  static Value emitSelect(ImplicitLocOpBuilder &b, Value predicate, Value yes,
                          Value no) {
    return arith::SelectOp::create(b, predicate, yes, no);
  }
  static Value emitLess(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, lhs, rhs);
  }

  using Body = function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value,
                                               ValueRange)>;
  static SmallVector<Value> emitLoop(ImplicitLocOpBuilder &b, int64_t end,
                                     ValueRange carried, Body body) {
    auto loop = scf::ForOp::create(
        b, emitIndex(b, 0), emitIndex(b, end), emitIndex(b, 1), carried,
        [&](OpBuilder &nested, Location loc, Value index, ValueRange carries) {
          ImplicitLocOpBuilder builder(loc, nested);
          scf::YieldOp::create(builder, body(builder, index, carries));
        });
    return loop.getResults();
  }

  /// Loops over all dimensions but the sorted one. `tensors`: the data, then
  /// the scratch.
  SmallVector<Value> emitRows(ImplicitLocOpBuilder &b,
                              SmallVectorImpl<Value> &position,
                              ValueRange tensors) {
    auto dim = static_cast<int64_t>(position.size());
    if (dim == type.getRank())
      return emitPasses(b, position, tensors);
    if (dim == dimension) {
      position.push_back({});
      return emitRows(b, position, tensors);
    }
    SmallVector<Value> results = emitLoop(
        b, type.getDimSize(dim), tensors,
        [&](ImplicitLocOpBuilder &builder, Value index, ValueRange carries) {
          position.resize(dim);
          position.push_back(index);
          return emitRows(builder, position, carries);
        });
    return results;
  }

  SmallVector<Value> emitPasses(ImplicitLocOpBuilder &b,
                                ArrayRef<Value> position, ValueRange tensors) {
    return emitLoop(
        b, llvm::Log2_64_Ceil(length), tensors,
        [&](ImplicitLocOpBuilder &builder, Value pass, ValueRange carries) {
          SmallVector<Value> results =
              emitMerge(builder, pass, position, carries.take_front(count),
                        carries.drop_front(count));
          // The scratch goes back.
          SmallVector<Value> data = emitLoop(
              builder, length, carries.take_front(count),
              [&](ImplicitLocOpBuilder &nested, Value index, ValueRange rows) {
                SmallVector<Value> written;
                for (auto [row, merged] : llvm::zip_equal(rows, results)) {
                  Value element =
                      tensor::ExtractOp::create(nested, merged, index);
                  written.push_back(tensor::InsertOp::create(
                      nested, element, row, at(position, index)));
                }
                return written;
              });
          llvm::append_range(data, results);
          return data;
        });
  }

  /// Merges neighbouring runs of `1 << pass` elements of `data` into `scratch`.
  SmallVector<Value> emitMerge(ImplicitLocOpBuilder &b, Value pass,
                               ArrayRef<Value> position, ValueRange data,
                               ValueRange scratch) {
    Value run = arith::ShLIOp::create(b, emitIndex(b, 1), pass);
    Value both = arith::AddIOp::create(b, run, run);
    Value mask = arith::SubIOp::create(b, both, emitIndex(b, 1));
    Value end = emitIndex(b, length);
    // The next element of each run, then the scratch.
    SmallVector<Value> carried(2, emitIndex(b, 0));
    llvm::append_range(carried, scratch);
    SmallVector<Value> results = emitLoop(
        b, length, carried,
        [&](ImplicitLocOpBuilder &builder, Value index, ValueRange carries) {
          Value offset = arith::AndIOp::create(builder, index, mask);
          Value begins = arith::CmpIOp::create(
              builder, arith::CmpIPredicate::eq, offset, emitIndex(builder, 0));
          Value first = arith::SubIOp::create(builder, index, offset);
          Value middle = arith::MinUIOp::create(
              builder, arith::AddIOp::create(builder, first, run), end);
          Value last = arith::MinUIOp::create(
              builder, arith::AddIOp::create(builder, first, both), end);
          Value left = emitSelect(builder, begins, first, carries[0]);
          Value right = emitSelect(builder, begins, middle, carries[1]);
          return emitStep(builder, position, data, index, left, middle, right,
                          last, carries.drop_front(2));
        });
    return SmallVector<Value>(ArrayRef(results).drop_front(2));
  }

  /// Writes the smaller of the next elements of two runs.
  SmallVector<Value> emitStep(ImplicitLocOpBuilder &b, ArrayRef<Value> position,
                              ValueRange data, Value index, Value left,
                              Value middle, Value right, Value last,
                              ValueRange scratch) {
    Value leftRemains = emitLess(b, left, middle);
    Value rightRemains = emitLess(b, right, last);
    Value limit = emitIndex(b, length - 1);
    SmallVector<Value> leftElements, rightElements, arguments;
    for (Value tensor : data) {
      leftElements.push_back(tensor::ExtractOp::create(
          b, tensor, at(position, arith::MinUIOp::create(b, left, limit))));
      rightElements.push_back(tensor::ExtractOp::create(
          b, tensor, at(position, arith::MinUIOp::create(b, right, limit))));
      arguments.append({rightElements.back(), leftElements.back()});
    }
    // Of equal elements, the left one comes first.
    Value takesRight = arith::AndIOp::create(
        b, rightRemains,
        arith::OrIOp::create(b,
                             arith::XOrIOp::create(b, leftRemains,
                                                   arith::ConstantOp::create(
                                                       b, b.getBoolAttr(true))),
                             emitComparison(b, arguments)));
    Value one = emitIndex(b, 1);
    SmallVector<Value> results = {
        emitSelect(b, takesRight, left, arith::AddIOp::create(b, left, one)),
        emitSelect(b, takesRight, arith::AddIOp::create(b, right, one), right)};
    for (auto [tensor, fromLeft, fromRight] :
         llvm::zip_equal(scratch, leftElements, rightElements)) {
      Value element = emitSelect(b, takesRight, fromRight, fromLeft);
      results.push_back(tensor::InsertOp::create(b, element, tensor, index));
    }
    return results;
  }

  Value emitComparison(ImplicitLocOpBuilder &b, ValueRange arguments) {
    SmallVector<Value> results;
    if (succeeded(emitted))
      emitted = emitScalarRegion(
          b, op.getComparator().front(), arguments,
          [&](Value value) { return rewriter.getRemappedValue(value); },
          results);
    if (failed(emitted))
      return ub::PoisonOp::create(b, b.getI1Type());
    return results.front();
  }

  SmallVector<Value> at(ArrayRef<Value> position, Value index) const {
    SmallVector<Value> indices(position);
    indices[dimension] = index;
    return indices;
  }

  stablehlo::SortOp op;
  ValueRange inputs;
  ConversionPatternRewriter &rewriter;
  RankedTensorType type;
  int64_t dimension, length = 0;
  size_t count;
  LogicalResult emitted = success();
};

struct ConvertSort : OpConversionPattern<stablehlo::SortOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::SortOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    FailureOr<SmallVector<Value>> results =
        SortEmitter(op, adaptor.getInputs(), rewriter).emit(b);
    if (failed(results))
      return failure();
    rewriter.replaceOp(op, *results);
    return success();
  }
};

} // namespace

void amsp::populateSortPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns) {
  patterns.add<ConvertSort>(converter, patterns.getContext());
}
