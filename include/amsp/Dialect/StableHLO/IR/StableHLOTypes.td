//===- StableHLOTypes.td - Constraints on types ---------------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOTYPES_TD
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOTYPES_TD

include "mlir/IR/OpBase.td"

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

def StableHLO_Pred : AnyTypeOf<[I1], "boolean">;
def StableHLO_SignedInt
    : AnyTypeOf<[I<2>, I<4>, I8, I16, I32, I64], "signed integer">;
def StableHLO_UnsignedInt
    : AnyTypeOf<[UI<2>, UI<4>, UI8, UI16, UI32, UI64], "unsigned integer">;
def StableHLO_Int
    : AnyTypeOf<[StableHLO_SignedInt, StableHLO_UnsignedInt], "integer">;
def StableHLO_Float
    : AnyTypeOf<[F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3FN,
                 F8E4M3FNUZ, F8E4M3B11FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F16,
                 BF16, F32, F64],
                "floating-point">;
def StableHLO_Complex
    : AnyTypeOf<[Complex<F32>, Complex<F64>], "complex">;

def StableHLO_PredOrInt
    : AnyTypeOf<[StableHLO_Pred, StableHLO_Int], "boolean or integer">;
def StableHLO_FloatOrComplex
    : AnyTypeOf<[StableHLO_Float, StableHLO_Complex], "floating-point or complex">;
def StableHLO_Number
    : AnyTypeOf<[StableHLO_Int, StableHLO_Float, StableHLO_Complex], "number">;
def StableHLO_SignedNumber
    : AnyTypeOf<[StableHLO_SignedInt, StableHLO_Float, StableHLO_Complex],
                "signed number">;
def StableHLO_Element
    : AnyTypeOf<[StableHLO_Pred, StableHLO_Number], "boolean or number">;

//===----------------------------------------------------------------------===//
// Tensors. Every shape is static.
//===----------------------------------------------------------------------===//

def StableHLO_Tensor : StaticShapeTensorOf<[StableHLO_Element]>;
def StableHLO_PredTensor : StaticShapeTensorOf<[StableHLO_Pred]>;
def StableHLO_IntTensor : StaticShapeTensorOf<[StableHLO_Int]>;
def StableHLO_FloatTensor : StaticShapeTensorOf<[StableHLO_Float]>;
def StableHLO_ComplexTensor : StaticShapeTensorOf<[StableHLO_Complex]>;
def StableHLO_PredOrIntTensor : StaticShapeTensorOf<[StableHLO_PredOrInt]>;
def StableHLO_FloatOrComplexTensor
    : StaticShapeTensorOf<[StableHLO_FloatOrComplex]>;
def StableHLO_NumberTensor : StaticShapeTensorOf<[StableHLO_Number]>;
def StableHLO_SignedNumberTensor : StaticShapeTensorOf<[StableHLO_SignedNumber]>;

class StableHLO_ScalarOf<Type element>
    : RankedTensorOf<[element], [HasAnyRankOfPred<[0]>], "0-dimensional tensor">;
def StableHLO_ScalarTensor : StableHLO_ScalarOf<StableHLO_Element>;
def StableHLO_ScalarPredTensor : StableHLO_ScalarOf<StableHLO_Pred>;
def StableHLO_ScalarIntTensor : StableHLO_ScalarOf<StableHLO_Int>;
def StableHLO_ScalarI32Tensor : StableHLO_ScalarOf<I32>;
def StableHLO_ScalarUI32Tensor : StableHLO_ScalarOf<UI32>;

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOTYPES_TD
