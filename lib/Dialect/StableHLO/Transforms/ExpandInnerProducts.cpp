//===- ExpandInnerProducts.cpp - Contractions that are sums of products ---===//

#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Dialect/StableHLO/Transforms/Passes.h"
#include "amsp/Support/TensorType.h"

namespace amsp::stablehlo {
#define GEN_PASS_DEF_EXPANDINNERPRODUCTS
#include "amsp/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace amsp::stablehlo

using namespace mlir;
using namespace amsp;
using namespace amsp::stablehlo;

/// True if each element of one operand meets one element of the other, at the
/// same place, and the result has the dimensions that are left in order.
static bool isInnerProduct(DotGeneralOp dot) {
  DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  ArrayRef<int64_t> batching = numbers.getLhsBatchingDimensions();
  ArrayRef<int64_t> contracting = numbers.getLhsContractingDimensions();
  size_t rank = batching.size() + contracting.size();
  return batching == numbers.getRhsBatchingDimensions() &&
         contracting == numbers.getRhsContractingDimensions() &&
         llvm::is_sorted(batching) && !contracting.empty() &&
         static_cast<size_t>(getTensorType(dot.getLhs()).getRank()) == rank &&
         static_cast<size_t>(getTensorType(dot.getRhs()).getRank()) == rank;
}

static Value convert(ImplicitLocOpBuilder &b, Value value, Type element) {
  RankedTensorType type = getTensorType(value);
  if (type.getElementType() == element)
    return value;
  return ConvertOp::create(b, type.clone(element), value);
}

/// The sum of the products over the contracted dimensions; of narrow numbers in
/// f32, as contractions add them.
static Value expand(ImplicitLocOpBuilder &b, DotGeneralOp dot) {
  Type result = getTensorType(dot).getElementType(), element = result;
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    element = b.getF32Type();
  Value product = MulOp::create(b, convert(b, dot.getLhs(), element),
                                convert(b, dot.getRhs(), element));
  auto scalar = RankedTensorType::get({}, element);
  Value zero = ConstantOp::create(
      b, DenseElementsAttr::get(scalar, b.getZeroAttr(element)));
  SmallVector<int64_t> dims(
      dot.getDotDimensionNumbers().getLhsContractingDimensions());
  llvm::sort(dims);
  auto sum = ReduceOp::create(b, ValueRange(product), ValueRange(zero), dims);
  {
    OpBuilder::InsertionGuard guard(b);
    Location loc = b.getLoc();
    Block *body =
        b.createBlock(&sum.getBody(), {}, {scalar, scalar}, {loc, loc});
    Value added = AddOp::create(b, body->getArgument(0), body->getArgument(1));
    ReturnOp::create(b, added);
  }
  return convert(b, sum->getResult(0), result);
}

namespace {
struct ExpandInnerProducts
    : stablehlo::impl::ExpandInnerProductsBase<ExpandInnerProducts> {
  void runOnOperation() override {
    getOperation()->walk([](DotGeneralOp dot) {
      if (!isInnerProduct(dot))
        return;
      ImplicitLocOpBuilder b(dot.getLoc(), dot);
      dot.replaceAllUsesWith(expand(b, dot));
      dot.erase();
    });
  }
};
} // namespace
