//===- CollectiveBuilder.cpp - Builds a collective of any kind ------------===//

#include "CollectiveBuilder.h"

using namespace mlir;
using namespace amsp;

CollectiveTraits CollectiveTraits::get(CollectiveOpInterface op) {
  CollectiveTraits traits = {op.getKind(), op.getCombiner(), op.getGroup(), {}};
  if (auto gather = dyn_cast<AllGatherOp>(*op))
    traits.window = gather.getWindowAttr();
  return traits;
}

CollectiveOpInterface amsp::createCollective(OpBuilder &builder, Location loc,
                                             const CollectiveTraits &traits,
                                             ValueRange operands,
                                             TypeRange results,
                                             ArrayRef<Attribute> parts) {
  ArrayAttr list = builder.getArrayAttr(parts);
  if (traits.kind == CollectiveKind::AllGather)
    return cast<CollectiveOpInterface>(*AllGatherOp::create(
        builder, loc, results, operands, traits.group, list, traits.window));
  if (traits.kind == CollectiveKind::AllToAll)
    return cast<CollectiveOpInterface>(*AllToAllOp::create(
        builder, loc, results, operands, traits.group, list));
  auto reduction = ReductionAttr::get(builder.getContext(), *traits.reduction);
  if (traits.kind == CollectiveKind::ReduceScatter)
    return cast<CollectiveOpInterface>(*ReduceScatterOp::create(
        builder, loc, results, operands, reduction, traits.group, list));
  return cast<CollectiveOpInterface>(*AllReduceOp::create(
      builder, loc, results, operands, reduction, traits.group, list));
}
