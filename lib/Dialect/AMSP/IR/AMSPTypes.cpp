//===- AMSPTypes.cpp - Types of the amsp dialect --------------------------===//

#include "amsp/Dialect/AMSP/IR/AMSPTypes.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace amsp;

#define GET_TYPEDEF_CLASSES
#include "amsp/Dialect/AMSP/IR/AMSPTypes.cpp.inc"

void AMSPDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "amsp/Dialect/AMSP/IR/AMSPTypes.cpp.inc"
      >();
}
