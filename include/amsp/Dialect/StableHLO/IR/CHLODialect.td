//===- CHLODialect.td - The dialect of composite ops ----------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_CHLODIALECT_TD
#define AMSP_DIALECT_STABLEHLO_IR_CHLODIALECT_TD

include "mlir/IR/OpBase.td"

def CHLO_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::amsp::chlo";
  let summary = "Ops of exports that StableHLO ops can express";
  let description = "`amsp-legalize-chlo` turns them into StableHLO ops.";
  let dependentDialects = ["::amsp::stablehlo::StableHLODialect"];
}

#endif // AMSP_DIALECT_STABLEHLO_IR_CHLODIALECT_TD
