//===- CHLODialect.cpp - The dialect of composite ops ---------------------===//

#include "amsp/Dialect/StableHLO/IR/CHLOOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace amsp::chlo;

#include "amsp/Dialect/StableHLO/IR/CHLODialect.cpp.inc"

#define GET_OP_CLASSES
#include "amsp/Dialect/StableHLO/IR/CHLOOps.cpp.inc"

namespace {
struct CHLOInlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

LogicalResult TopKOp::verify() {
  auto type = cast<RankedTensorType>(getOperand().getType());
  auto k = static_cast<int64_t>(getK());
  if (type.getRank() == 0 || k > type.getShape().back())
    return emitOpError("has no ") << k << " elements along the last dimension "
                                  << "of " << type;
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = k;
  RankedTensorType values = type.clone(shape);
  RankedTensorType indices = values.clone(IntegerType::get(getContext(), 32));
  if (getValues().getType() != values || getIndices().getType() != indices)
    return emitOpError("requires results of types ")
           << values << " and " << indices << ", but they are "
           << getValues().getType() << " and " << getIndices().getType();
  return success();
}

void CHLODialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "amsp/Dialect/StableHLO/IR/CHLOOps.cpp.inc"
      >();
  addInterfaces<CHLOInlinerInterface>();
}
