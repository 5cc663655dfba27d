//===- StableHLOElementwiseOps.td - Elementwise ops -----------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOELEMENTWISEOPS_TD
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOELEMENTWISEOPS_TD

include "amsp/Dialect/StableHLO/IR/StableHLOBase.td"

class StableHLO_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, [Pure, StableHLO_Elementwise] # traits>;

//===----------------------------------------------------------------------===//
// One operand, result of the same type
//===----------------------------------------------------------------------===//

class StableHLO_UnaryOp<string mnemonic, Type type, string meaning>
    : StableHLO_ElementwiseOp<mnemonic, [SameOperandsAndResultType]> {
  let summary = meaning # ", elementwise";
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

// A function whose exactness may be stated.
class StableHLO_FunctionOp<string mnemonic, string meaning>
    : StableHLO_UnaryOp<mnemonic, StableHLO_FloatOrComplexTensor, meaning> {
  let arguments = (ins StableHLO_FloatOrComplexTensor:$operand,
                       StableHLO_OptionalResultAccuracy:$result_accuracy);
}

def StableHLO_CbrtOp : StableHLO_FunctionOp<"cbrt", "Cube root">;
def StableHLO_CosineOp : StableHLO_FunctionOp<"cosine", "Cosine">;
def StableHLO_ExpOp : StableHLO_FunctionOp<"exponential", "e to the operand">;
def StableHLO_Expm1Op
    : StableHLO_FunctionOp<"exponential_minus_one", "e to the operand, less one">;
def StableHLO_LogOp : StableHLO_FunctionOp<"log", "Natural logarithm">;
def StableHLO_Log1pOp
    : StableHLO_FunctionOp<"log_plus_one", "Natural logarithm of one more">;
def StableHLO_LogisticOp
    : StableHLO_FunctionOp<"logistic", "Logistic function 1 / (1 + e^-x)">;
def StableHLO_RsqrtOp
    : StableHLO_FunctionOp<"rsqrt", "Reciprocal of the square root">;
def StableHLO_SineOp : StableHLO_FunctionOp<"sine", "Sine">;
def StableHLO_SqrtOp : StableHLO_FunctionOp<"sqrt", "Square root">;
def StableHLO_TanOp : StableHLO_FunctionOp<"tan", "Tangent">;
def StableHLO_TanhOp : StableHLO_FunctionOp<"tanh", "Hyperbolic tangent">;

def StableHLO_CeilOp
    : StableHLO_UnaryOp<"ceil", StableHLO_FloatTensor, "Round up to an integer">;
def StableHLO_FloorOp
    : StableHLO_UnaryOp<"floor", StableHLO_FloatTensor, "Round down to an integer">;
def StableHLO_RoundNearestAfzOp
    : StableHLO_UnaryOp<"round_nearest_afz", StableHLO_FloatTensor,
                        "Round to the nearest integer, ties away from zero">;
def StableHLO_RoundNearestEvenOp
    : StableHLO_UnaryOp<"round_nearest_even", StableHLO_FloatTensor,
                        "Round to the nearest integer, ties to the even one">;
def StableHLO_NegOp
    : StableHLO_UnaryOp<"negate", StableHLO_NumberTensor, "Negation">;
def StableHLO_SignOp
    : StableHLO_UnaryOp<"sign", StableHLO_SignedNumberTensor, "Sign">;
def StableHLO_NotOp : StableHLO_UnaryOp<"not", StableHLO_PredOrIntTensor,
                                        "Logical or bitwise complement">;
def StableHLO_ClzOp : StableHLO_UnaryOp<"count_leading_zeros",
                                        StableHLO_IntTensor, "Leading zero bits">;
def StableHLO_PopulationCountOp
    : StableHLO_UnaryOp<"popcnt", StableHLO_IntTensor, "Number of bits set">;

//===----------------------------------------------------------------------===//
// Two operands and a result of the same type
//===----------------------------------------------------------------------===//

class StableHLO_BinaryOp<string mnemonic, Type type, string meaning,
                         list<Trait> traits = []>
    : StableHLO_ElementwiseOp<mnemonic, [SameOperandsAndResultType] # traits> {
  let summary = meaning # ", elementwise";
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

class StableHLO_CommutativeOp<string mnemonic, Type type, string meaning>
    : StableHLO_BinaryOp<mnemonic, type, meaning, [Commutative]>;

def StableHLO_AddOp : StableHLO_CommutativeOp<"add", StableHLO_Tensor,
                                              "Sum; logical or of booleans">;
def StableHLO_MulOp : StableHLO_CommutativeOp<"multiply", StableHLO_Tensor,
                                              "Product; logical and of booleans">;
def StableHLO_MaxOp
    : StableHLO_CommutativeOp<"maximum", StableHLO_Tensor, "The larger">;
def StableHLO_MinOp
    : StableHLO_CommutativeOp<"minimum", StableHLO_Tensor, "The smaller">;
def StableHLO_AndOp : StableHLO_CommutativeOp<"and", StableHLO_PredOrIntTensor,
                                              "Logical or bitwise and">;
def StableHLO_OrOp : StableHLO_CommutativeOp<"or", StableHLO_PredOrIntTensor,
                                             "Logical or bitwise or">;
def StableHLO_XorOp : StableHLO_CommutativeOp<"xor", StableHLO_PredOrIntTensor,
                                              "Logical or bitwise exclusive or">;

def StableHLO_SubtractOp
    : StableHLO_BinaryOp<"subtract", StableHLO_NumberTensor, "Difference">;
def StableHLO_DivOp
    : StableHLO_BinaryOp<"divide", StableHLO_NumberTensor, "Quotient">;
def StableHLO_RemOp : StableHLO_BinaryOp<"remainder", StableHLO_NumberTensor,
                                         "Remainder, of the dividend's sign">;
def StableHLO_PowOp
    : StableHLO_BinaryOp<"power", StableHLO_NumberTensor, "lhs to the rhs">;
def StableHLO_Atan2Op : StableHLO_BinaryOp<"atan2", StableHLO_FloatOrComplexTensor,
                                           "Angle of the point (rhs, lhs)">;
def StableHLO_ShiftLeftOp
    : StableHLO_BinaryOp<"shift_left", StableHLO_IntTensor, "lhs shifted left by rhs">;
def StableHLO_ShiftRightArithmeticOp
    : StableHLO_BinaryOp<"shift_right_arithmetic", StableHLO_IntTensor,
                         "lhs shifted right by rhs, filled with its sign">;
def StableHLO_ShiftRightLogicalOp
    : StableHLO_BinaryOp<"shift_right_logical", StableHLO_IntTensor,
                         "lhs shifted right by rhs, filled with zeros">;

//===----------------------------------------------------------------------===//
// Result of the same shape and another element type
//===----------------------------------------------------------------------===//

def StableHLO_AbsOp
    : StableHLO_ElementwiseOp<"abs", [SameOperandsAndResultShape,
                                      StableHLO_InferredTypes]> {
  let summary = "Absolute value, elementwise";
  let arguments = (ins StableHLO_SignedNumberTensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<TypesOrSignature>(type($operand), type($result))
  }];
}

class StableHLO_ComplexPartOp<string mnemonic, string meaning>
    : StableHLO_ElementwiseOp<mnemonic, [SameOperandsAndResultShape,
                                         StableHLO_InferredTypes]> {
  let summary = meaning # ", elementwise";
  let arguments = (ins StableHLO_FloatOrComplexTensor:$operand);
  let results = (outs StableHLO_FloatTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<TypesOrSignature>(type($operand), type($result))
  }];
}
def StableHLO_RealOp : StableHLO_ComplexPartOp<"real", "Real part">;
def StableHLO_ImagOp : StableHLO_ComplexPartOp<"imag", "Imaginary part">;

def StableHLO_ComplexOp
    : StableHLO_ElementwiseOp<"complex", [SameTypeOperands,
                                          SameOperandsAndResultShape,
                                          StableHLO_InferredTypes]> {
  let summary = "Complex number of a real and an imaginary part, elementwise";
  let arguments = (ins StableHLO_FloatTensor:$lhs, StableHLO_FloatTensor:$rhs);
  let results = (outs StableHLO_ComplexTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:`
    custom<ComplexType>(type($lhs), type($rhs), type($result))
  }];
}

def StableHLO_IsFiniteOp
    : StableHLO_ElementwiseOp<"is_finite", [SameOperandsAndResultShape,
                                            StableHLO_InferredTypes]> {
  let summary = "Neither infinite nor NaN, elementwise";
  let arguments = (ins StableHLO_FloatTensor:$operand);
  let results = (outs StableHLO_PredTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

def StableHLO_CompareOp
    : StableHLO_ElementwiseOp<"compare", [SameTypeOperands,
                                          SameOperandsAndResultShape,
                                          StableHLO_InferredTypes]> {
  let summary = "Comparison, elementwise";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
    StableHLO_ComparisonDirectionAttr:$comparison_direction,
    OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs StableHLO_PredTensor:$result);
  let assemblyFormat = [{
    `` $comparison_direction `,` $lhs `,` $rhs (`,` `` $compare_type^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_ConvertOp
    : StableHLO_ElementwiseOp<"convert", [SameOperandsAndResultShape]> {
  let summary = "Conversion to another element type, elementwise";
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<TypesOrSignature>(type($operand), type($result))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::mlir::Type":$elementType)>];
  let hasFolder = 1;
}

def StableHLO_ReducePrecisionOp
    : StableHLO_ElementwiseOp<"reduce_precision", [SameOperandsAndResultType]> {
  let summary = "Rounding to a smaller number format, elementwise";
  let arguments = (ins StableHLO_FloatTensor:$operand,
                       ConfinedAttr<I32Attr, [IntMinValue<1>]>:$exponent_bits,
                       ConfinedAttr<I32Attr, [IntNonNegative]>:$mantissa_bits);
  let results = (outs StableHLO_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<NumberFormat>($exponent_bits, $mantissa_bits)
    attr-dict `:` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Three operands
//===----------------------------------------------------------------------===//

def StableHLO_SelectOp
    : StableHLO_ElementwiseOp<"select", [
        AllTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "One of two values, elementwise";
  let description = "The predicate may be a scalar.";
  let arguments = (ins StableHLO_PredTensor:$pred, StableHLO_Tensor:$on_true,
                       StableHLO_Tensor:$on_false);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` type($pred) `,` type($result)
  }];
}

def StableHLO_ClampOp
    : StableHLO_ElementwiseOp<"clamp", [
        AllTypesMatch<["operand", "result"]>,
        SameOperandsAndResultElementType]> {
  let summary = "A value limited from below and above, elementwise";
  let description = "Each limit may be a scalar.";
  let arguments = (ins StableHLO_Tensor:$min, StableHLO_Tensor:$operand,
                       StableHLO_Tensor:$max);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:`
    custom<TypesOrSignature>(type($min), type($operand), type($max), type($result))
  }];
}

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOELEMENTWISEOPS_TD
