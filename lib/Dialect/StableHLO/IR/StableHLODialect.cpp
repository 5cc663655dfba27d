//===- StableHLODialect.cpp - The dialect ---------------------------------===//

#include "amsp/Dialect/StableHLO/IR/StableHLODialect.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace amsp::stablehlo;

#include "amsp/Dialect/StableHLO/IR/StableHLODialect.cpp.inc"

namespace {
struct StableHLOInlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void StableHLODialect::initialize() {
  registerAttributes();
  registerStableHLODialectOperations(this);
  addInterfaces<StableHLOInlinerInterface>();
}

Operation *StableHLODialect::materializeConstant(OpBuilder &builder,
                                                 Attribute value, Type type,
                                                 Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}
