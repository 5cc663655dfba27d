//===- SeparateReads.cpp - Tensors that many ops read ---------------------===//

#include "amsp/Target/CPU/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace amsp {
#define GEN_PASS_DEF_SEPARATEREADS
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

/// True if no op but those that make `value` has to do with its buffer.
static bool hasOwnBuffer(OpResult value) {
  auto op = dyn_cast<linalg::LinalgOp>(value.getOwner());
  if (!op)
    return false;
  Value destination = op.getTiedOpOperand(value)->get();
  if (!destination.hasOneUse())
    return false;
  auto result = dyn_cast<OpResult>(destination);
  return result &&
         (isa<tensor::EmptyOp>(result.getOwner()) || hasOwnBuffer(result));
}

static bool isOnlyRead(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return op && op.isDpsInput(&use);
  });
}

static void separateReads(Value value) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  Value buffer = bufferization::ToBufferOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      value, /*read_only=*/true);
  for (OpOperand *use : uses) {
    builder.setInsertionPoint(use->getOwner());
    use->set(bufferization::ToTensorOp::create(builder, loc, type, buffer,
                                               /*restrict=*/true));
  }
}

namespace {
struct SeparateReads : amsp::impl::SeparateReadsBase<SeparateReads> {
  using SeparateReadsBase::SeparateReadsBase;

  void runOnOperation() override {
    SmallVector<Value> values;
    getOperation().walk([&](linalg::LinalgOp op) {
      for (OpResult result : op->getResults())
        if (result.hasNUsesOrMore(minReads) && hasOwnBuffer(result) &&
            isOnlyRead(result))
          values.push_back(result);
    });
    for (Value value : values)
      separateReads(value);
    numSeparated = values.size();
  }
};
} // namespace
