//===- CHLOOps.td - Ops that StableHLO ops can express --------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_CHLOOPS_TD
#define AMSP_DIALECT_STABLEHLO_IR_CHLOOPS_TD

include "mlir/IR/OpAsmInterface.td"
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

def CHLO_AcosOp
    : CHLO_UnaryOp<"acos", StableHLO_FloatTensor, "Inverse cosine">;
def CHLO_AcoshOp
    : CHLO_UnaryOp<"acosh", StableHLO_FloatTensor, "Inverse hyperbolic cosine">;
def CHLO_AsinOp
    : CHLO_UnaryOp<"asin", StableHLO_FloatTensor, "Inverse sine">;
def CHLO_AsinhOp
    : CHLO_UnaryOp<"asinh", StableHLO_FloatTensor, "Inverse hyperbolic sine">;
def CHLO_AtanOp
    : CHLO_UnaryOp<"atan", StableHLO_FloatTensor, "Inverse tangent">;
def CHLO_AtanhOp
    : CHLO_UnaryOp<"atanh", StableHLO_FloatTensor, "Inverse hyperbolic tangent">;
def CHLO_BesselI1eOp
    : CHLO_UnaryOp<"bessel_i1e", StableHLO_FloatTensor, "Bessel function of order 1, scaled by exp(-|x|)">;
def CHLO_CoshOp
    : CHLO_UnaryOp<"cosh", StableHLO_FloatTensor, "Hyperbolic cosine">;
def CHLO_DigammaOp
    : CHLO_UnaryOp<"digamma", StableHLO_FloatTensor, "Derivative of the logarithm of the gamma function">;
def CHLO_ErfOp
    : CHLO_UnaryOp<"erf", StableHLO_FloatTensor, "Error function">;
def CHLO_ErfInvOp
    : CHLO_UnaryOp<"erf_inv", StableHLO_FloatTensor, "Inverse of the error function">;
def CHLO_ErfcOp
    : CHLO_UnaryOp<"erfc", StableHLO_FloatTensor, "Complement of the error function">;
def CHLO_LgammaOp
    : CHLO_UnaryOp<"lgamma", StableHLO_FloatTensor, "Logarithm of the absolute value of the gamma function">;
def CHLO_SinhOp
    : CHLO_UnaryOp<"sinh", StableHLO_FloatTensor, "Hyperbolic sine">;
def CHLO_SquareOp : CHLO_UnaryOp<"square", StableHLO_NumberTensor, "Square">;

class CHLO_BinaryOp<string mnemonic, string meaning>
    : Op<CHLO_Dialect, mnemonic, [Pure, StableHLO_Elementwise,
                                  SameOperandsAndResultType]> {
  let summary = meaning # ", elementwise";
  let arguments = (ins StableHLO_FloatTensor:$lhs, StableHLO_FloatTensor:$rhs);
  let results = (outs StableHLO_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
}

def CHLO_NextAfterOp
    : CHLO_BinaryOp<"next_after", "The next number in the direction of another">;
def CHLO_PolygammaOp
    : CHLO_BinaryOp<"polygamma", "Derivatives of digamma, by their number">;
def CHLO_ZetaOp : CHLO_BinaryOp<"zeta", "Hurwitz's zeta function">;

def CHLO_TopKOp : Op<CHLO_Dialect, "top_k", [Pure, OpAsmOpInterface]> {
  let summary = "The largest elements along the last dimension, in order";
  let description = [{
    With their positions. Of equal elements, the one at the lower position comes
    first; NaN is larger than all numbers.
  }];
  let arguments = (ins StableHLO_Tensor:$operand,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$k);
  let results = (outs StableHLO_Tensor:$values, StableHLO_Tensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k `)` attr-dict `:`
    type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
  let extraClassDeclaration = [{
    void getAsmResultNames(::mlir::OpAsmSetValueNameFn setNameFn) {
      setNameFn(getValues(), "values");
      setNameFn(getIndices(), "indices");
    }
  }];
  let hasVerifier = 1;
}

#endif // AMSP_DIALECT_STABLEHLO_IR_CHLOOPS_TD
