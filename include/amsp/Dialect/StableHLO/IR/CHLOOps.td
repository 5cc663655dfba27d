//===- CHLOOps.td - Ops that StableHLO ops can express --------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_CHLOOPS_TD
#define AMSP_DIALECT_STABLEHLO_IR_CHLOOPS_TD

include "amsp/Dialect/StableHLO/IR/CHLODialect.td"
include "amsp/Dialect/StableHLO/IR/StableHLOBase.td"

class CHLO_UnaryOp<string mnemonic, Type type, string meaning>
    : Op<CHLO_Dialect, mnemonic, [Pure, StableHLO_Elementwise,
                                  SameOperandsAndResultType]> {
  let summary = meaning # ", elementwise";
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

def CHLO_ErfOp : CHLO_UnaryOp<"erf", StableHLO_FloatTensor, "Error function">;
def CHLO_ErfcOp : CHLO_UnaryOp<"erfc", StableHLO_FloatTensor,
                               "Complement of the error function">;
def CHLO_SquareOp : CHLO_UnaryOp<"square", StableHLO_NumberTensor, "Square">;

#endif // AMSP_DIALECT_STABLEHLO_IR_CHLOOPS_TD
