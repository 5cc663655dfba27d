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

void CHLODialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "amsp/Dialect/StableHLO/IR/CHLOOps.cpp.inc"
      >();
  addInterfaces<CHLOInlinerInterface>();
}
