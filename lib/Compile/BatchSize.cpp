//===- BatchSize.cpp - Rows and tokens of the global batch ----------------===//

#include "amsp/Compile/BatchSize.h"
#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"

using namespace mlir;
using namespace amsp;

BatchSize amsp::countBatch(func::FuncOp step) {
  BatchSize size;
  for (BlockArgument argument : step.getArguments()) {
    auto role =
        step.getArgAttrOfType<RoleAttr>(argument.getArgNumber(), kRoleAttr);
    auto type = cast<RankedTensorType>(argument.getType());
    if (!role || role.getValue() != Role::Batch || type.getRank() == 0)
      continue;
    if (size.rows == 0)
      size.rows = type.getDimSize(0);
    // Masks are no tokens.
    bool areIntegers = isa<IntegerType>(type.getElementType()) &&
                       !type.getElementType().isInteger(1);
    if (size.tokens == 0 && areIntegers && type.getRank() == 2)
      size.tokens = type.getNumElements();
  }
  return size;
}
