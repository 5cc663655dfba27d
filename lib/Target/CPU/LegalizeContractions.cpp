//===- LegalizeContractions.cpp - Packs what BLAS cannot read -------------===//

#include "BufferAliases.h"
#include "GemmShape.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace amsp {
#define GEN_PASS_DEF_LEGALIZECONTRACTIONS
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// The dimensions of an operand, ordered by kind: a packed operand in this
/// order always fits a call.
static SmallVector<unsigned> getPackedOrder(ContractOp op, unsigned operand) {
  SmallVector<ContractionDim> kinds;
  switch (operand) {
  case 0:
    kinds = {ContractionDim::Batch, ContractionDim::M, ContractionDim::K};
    break;
  case 1:
    kinds = {ContractionDim::Batch, ContractionDim::K, ContractionDim::N};
    break;
  default:
    kinds = {ContractionDim::Batch, ContractionDim::M, ContractionDim::N};
  }
  SmallVector<unsigned> order;
  AffineMap map = op.getMap(operand);
  for (ContractionDim kind : kinds)
    for (unsigned dim = 0, e = map.getNumDims(); dim < e; ++dim)
      if (map.isFunctionOfDim(dim) && classifyDim(op, dim) == kind)
        order.push_back(dim);
  return order;
}

namespace {
/// An operand of a contraction in packed form.
struct PackedOperand {
  memref::AllocOp buffer;
  AffineMap map;                    // from the contraction's loops
  SmallVector<int64_t> permutation; // from the operand's dimensions
};
} // namespace

static PackedOperand allocatePacked(ContractOp op, unsigned operand,
                                    OpBuilder &builder) {
  auto type = cast<MemRefType>(op->getOperand(operand).getType());
  AffineMap map = op.getMap(operand);
  PackedOperand packed;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> results;
  for (unsigned dim : getPackedOrder(op, operand)) {
    AffineExpr expr = builder.getAffineDimExpr(dim);
    unsigned position = *map.getResultPosition(expr);
    packed.permutation.push_back(position);
    shape.push_back(type.getDimSize(position));
    results.push_back(expr);
  }
  packed.map =
      AffineMap::get(map.getNumDims(), 0, results, builder.getContext());
  packed.buffer = memref::AllocOp::create(
      builder, op.getLoc(), MemRefType::get(shape, type.getElementType()));
  return packed;
}

/// Rewrites the contraction on a packed copy of one operand.
static void packOperand(ContractOp op, unsigned operand) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value original = op->getOperand(operand);
  PackedOperand packed = allocatePacked(op, operand, builder);
  bool isOutput = operand == 2;
  if (!isOutput || op.getAccumulate())
    linalg::TransposeOp::create(builder, loc, original, packed.buffer,
                                packed.permutation);
  op->setOperand(operand, packed.buffer);
  SmallVector<Attribute> maps(op.getMaps().begin(), op.getMaps().end());
  maps[operand] = AffineMapAttr::get(packed.map);
  op.setMapsAttr(builder.getArrayAttr(maps));
  if (isOutput) {
    builder.setInsertionPointAfter(op);
    linalg::TransposeOp::create(builder, loc, packed.buffer, original,
                                invertPermutationVector(packed.permutation));
  }
}

namespace {
struct LegalizeContractions
    : amsp::impl::LegalizeContractionsBase<LegalizeContractions> {
  using LegalizeContractionsBase::LegalizeContractionsBase;

  void runOnOperation() override {
    SmallVector<ContractOp> contractions;
    getOperation().walk([&](ContractOp op) { contractions.push_back(op); });
    for (ContractOp op : contractions) {
      // B first, then A; the output, written back by another copy, comes last.
      for (unsigned operand : {1u, 0u, 2u}) {
        if (matchGemm(op))
          break;
        packOperand(op, operand);
        ++numPacked;
        bytesPacked +=
            getBufferBytes(cast<MemRefType>(op->getOperand(operand).getType()));
      }
      if (!matchGemm(op)) {
        op.emitOpError("does not fit a BLAS call even when packed");
        return signalPassFailure();
      }
    }
  }
};
} // namespace
