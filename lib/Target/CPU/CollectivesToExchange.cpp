//===- CollectivesToExchange.cpp - Numbered collectives with destinations -===//

#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Target/CPU/Passes.h"
#include "amsp/Target/Manifest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace amsp {
#define GEN_PASS_DEF_COLLECTIVESTOEXCHANGE
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

static void replaceCollective(const CollectiveRecord &record) {
  CollectiveOpInterface op = record.op;
  OpBuilder builder(op);
  SmallVector<int64_t> rows, full, piece;
  for (const CollectiveTensor &tensor : record.tensors) {
    rows.push_back(tensor.rows);
    full.push_back(tensor.full);
    piece.push_back(tensor.piece);
  }
  auto info =
      CollectiveInfoAttr::get(op->getContext(), record.id, record.kind,
                              record.reduction.value_or(Reduction::Sum),
                              record.group, rows, full, piece, record.name);
  SmallVector<Value> destinations;
  for (unsigned i = 0, e = op.getNumTensors(); i < e; ++i) {
    RankedTensorType type = op.getResultType(i);
    destinations.push_back(tensor::EmptyOp::create(
        builder, op->getLoc(), type.getShape(), type.getElementType()));
  }
  auto start =
      ExchangeStartOp::create(builder, op->getLoc(), TypeRange(destinations),
                              info, op->getOperands(), destinations);
  // A collective that is not split is awaited at once.
  Operation *awaited = op;
  if (op.isStart())
    builder.setInsertionPoint(awaited = op.getAwait());
  auto await = ExchangeAwaitOp::create(builder, awaited->getLoc(),
                                       start.getResultTypes(),
                                       op->getOperands(), start.getResults());
  awaited->replaceAllUsesWith(await);
  awaited->erase();
  if (awaited != op)
    op->erase();
}

/// The index is the mixed-radix number of the digits, most significant first.
static void replaceGroupIndex(GroupIndexOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value rank = RankNumberOp::create(builder, loc, builder.getIndexType());
  Value index = constant(0);
  for (const Digit &digit : op.getGroup().getDigits()) {
    Value size = constant(digit.size);
    Value shifted =
        arith::DivUIOp::create(builder, loc, rank, constant(digit.stride));
    Value coordinate = arith::RemUIOp::create(builder, loc, shifted, size);
    Value scaled = arith::MulIOp::create(builder, loc, index, size);
    index = arith::AddIOp::create(builder, loc, scaled, coordinate);
  }
  Value narrow = arith::IndexCastOp::create(
      builder, loc, op.getType().getElementType(), index);
  Value tensor =
      tensor::FromElementsOp::create(builder, loc, op.getType(), narrow);
  op.replaceAllUsesWith(tensor);
  op.erase();
}

/// Starts whose awaits went with their last uses.
static void eraseUnawaited(ModuleOp module) {
  module.walk([](CollectiveOpInterface op) {
    if (op.isStart() && op->use_empty())
      op->erase();
  });
}

namespace {
struct CollectivesToExchange
    : amsp::impl::CollectivesToExchangeBase<CollectivesToExchange> {
  using CollectivesToExchangeBase::CollectivesToExchangeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    eraseUnawaited(module);
    FailureOr<llvm::json::Object> manifest = buildManifest(module);
    if (failed(manifest))
      return signalPassFailure();
    module->setAttr(
        kManifestAttr,
        StringAttr::get(&getContext(), printManifest(std::move(*manifest))));

    auto step = module.lookupSymbol<func::FuncOp>(kMainFunction);
    SmallVector<CollectiveRecord> records = collectCollectives(step);
    numCollectives = records.size();
    for (const CollectiveRecord &record : records)
      replaceCollective(record);
    step.walk([](GroupIndexOp op) { replaceGroupIndex(op); });
  }
};
} // namespace
