//===- StableHLOOps.td - All ops ------------------------------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD

include "amsp/Dialect/StableHLO/IR/StableHLOCallOps.td"
include "amsp/Dialect/StableHLO/IR/StableHLOCollectiveOps.td"
include "amsp/Dialect/StableHLO/IR/StableHLOContractionOps.td"
include "amsp/Dialect/StableHLO/IR/StableHLOControlFlowOps.td"
include "amsp/Dialect/StableHLO/IR/StableHLOElementwiseOps.td"
include "amsp/Dialect/StableHLO/IR/StableHLOIndexingOps.td"
include "amsp/Dialect/StableHLO/IR/StableHLOShapeOps.td"
include "amsp/Dialect/StableHLO/IR/StableHLOWindowOps.td"

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD
