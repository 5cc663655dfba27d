//===- ContractionsToBlas.cpp - Chooses the contractions for BLAS ---------===//

#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace amsp {
#define GEN_PASS_DEF_CONTRACTIONSTOBLAS
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// True if every loop is a batch, free or contracted dimension: used by at
/// least two of the three operands.
static bool hasOnlyContractionDims(linalg::ContractOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (unsigned dim = 0, e = maps[0].getNumDims(); dim < e; ++dim) {
    unsigned uses = llvm::count_if(
        maps, [&](AffineMap map) { return map.isFunctionOfDim(dim); });
    if (uses < 2)
      return false;
  }
  return true;
}

static bool isForBlas(linalg::ContractOp op) {
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !type.hasStaticShape())
      return false;
    Type element = type.getElementType();
    if (element != getElementTypeOrSelf(op->getOperand(0).getType()) ||
        (!element.isF32() && !element.isF64()))
      return false;
  }
  return llvm::all_of(
             op.getIndexingMapsArray(),
             [](AffineMap map) { return map.isProjectedPermutation(); }) &&
         hasOnlyContractionDims(op);
}

/// The tensor below a fill with zeros; null if `value` is something else.
static Value skipZeroFill(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  if (!fill || !matchPattern(fill.value(), m_AnyZeroFloat()))
    return {};
  return fill.output();
}

static void convertToBlas(linalg::ContractOp op, RewriterBase &rewriter) {
  Value output = op.getDpsInits()[0];
  Value overwritten = skipZeroFill(output);
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<ContractOp>(
      op, op->getResultTypes(), op.getInputs(),
      ValueRange(overwritten ? overwritten : output), op.getIndexingMaps(),
      /*accumulate=*/!overwritten);
}

namespace {
struct ContractionsToBlas
    : amsp::impl::ContractionsToBlasBase<ContractionsToBlas> {
  using ContractionsToBlasBase::ContractionsToBlasBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::ContractOp> contractions;
    getOperation().walk(
        [&](linalg::ContractOp op) { contractions.push_back(op); });
    for (linalg::ContractOp op : contractions) {
      if (isForBlas(op)) {
        convertToBlas(op, rewriter);
        ++numBlas;
        continue;
      }
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(
              rewriter, cast<linalg::LinalgOp>(op.getOperation())))) {
        op.emitOpError("cannot become loops");
        return signalPassFailure();
      }
      ++numLoops;
    }
  }
};
} // namespace
