//===- AMSPDialect.cpp - The amsp dialect ---------------------------------===//

#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"

using namespace mlir;
using namespace amsp;

#include "amsp/Dialect/AMSP/IR/AMSPDialect.cpp.inc"

void AMSPDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "amsp/Dialect/AMSP/IR/AMSPOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "amsp/Dialect/AMSP/IR/AMSPBufferOps.cpp.inc"
      >();
}
