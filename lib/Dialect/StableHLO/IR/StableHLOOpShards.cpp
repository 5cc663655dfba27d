//===- StableHLOOpShards.cpp - Generated definitions of the ops -----------===//
//
// Compiled once for each shard, with GET_OP_DEFS_<n> defined.
//
//===----------------------------------------------------------------------===//

#include "AssemblyFormat.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Builders.h"

#include "amsp/Dialect/StableHLO/IR/StableHLOOps.cpp.inc"
