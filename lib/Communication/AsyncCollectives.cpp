//===- AsyncCollectives.cpp - Splits collectives in two -------------------===//

#include "amsp/Communication/AsyncCollectives.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace amsp;

int64_t amsp::getPrefetchBytes(func::FuncOp step) {
  auto bound = step->getAttrOfType<IntegerAttr>(kPrefetchBytesAttr);
  return bound ? bound.getInt() : -1;
}

CollectiveOpInterface amsp::createStart(OpBuilder &builder,
                                        CollectiveOpInterface op) {
  Location loc = op->getLoc();
  ValueRange operands = op->getOperands();
  auto types = llvm::map_to_vector(
      llvm::seq(op.getNumTensors()), [&](unsigned i) -> Type {
        return PendingType::get(op.getResultType(i));
      });
  Operation *start =
      TypeSwitch<Operation *, Operation *>(op)
          .Case([&](AllGatherOp gather) {
            return AllGatherStartOp::create(builder, loc, types, operands,
                                            op.getGroup(), op.getParts(),
                                            gather.getWindowAttr());
          })
          .Case([&](ReduceScatterOp scatter) {
            return ReduceScatterStartOp::create(builder, loc, types, operands,
                                                scatter.getReductionAttr(),
                                                op.getGroup(), op.getParts());
          })
          .Case([&](AllReduceOp reduce) {
            return AllReduceStartOp::create(builder, loc, types, operands,
                                            reduce.getReductionAttr(),
                                            op.getGroup(), op.getParts());
          })
          .Case([&](AllToAllOp) {
            return AllToAllStartOp::create(builder, loc, types, operands,
                                           op.getGroup(), op.getParts());
          });
  start->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return cast<CollectiveOpInterface>(start);
}

AwaitOp amsp::createAwait(OpBuilder &builder, CollectiveOpInterface start,
                          CollectiveOpInterface op) {
  auto types = llvm::to_vector(op->getResultTypes());
  auto await =
      AwaitOp::create(builder, op->getLoc(), types, start->getResults());
  op->replaceAllUsesWith(await);
  return await;
}
