//===- StableHLOIndexingOps.td - Positions known at run time --*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOINDEXINGOPS_TD
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOINDEXINGOPS_TD

include "amsp/Dialect/StableHLO/IR/StableHLOBase.td"

def StableHLO_DynamicSliceOp
    : StableHLO_Op<"dynamic_slice", [Pure, StableHLO_InferredTypes]> {
  let summary = "A part of fixed size at a position given at run time";
  let description = "The position is clamped so that the part lies inside.";
  let arguments = (ins StableHLO_Tensor:$operand,
                       Variadic<StableHLO_ScalarIntTensor>:$start_indices,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<OperandsBeforeKeyword>($start_indices) `sizes` `=`
    $slice_sizes attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicUpdateSliceOp
    : StableHLO_Op<"dynamic_update_slice",
                   [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "A tensor with a part replaced, at a position given at run time";
  let description = "The position is clamped so that the part lies inside.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$update,
                       Variadic<StableHLO_ScalarIntTensor>:$start_indices);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_GatherOp : StableHLO_Op<"gather", [Pure, StableHLO_InferredTypes]> {
  let summary = "Slices of a tensor at the positions in another";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_IntTensor:$start_indices,
      StableHLO_GatherDimensionNumbersAttr:$dimension_numbers,
      DenseI64ArrayAttr:$slice_sizes,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs StableHLO_Tensor:$result);
}

def StableHLO_ScatterOp
    : StableHLO_Op<"scatter", [SameVariadicOperandSize, RecursiveMemoryEffects,
                               RecursivelySpeculatable,
                               SingleBlockImplicitTerminator<"ReturnOp">,
                               StableHLO_InferredTypes]> {
  let summary = "A tensor with windows combined into it at the positions in another";
  let description = [{
    The region combines an element already there with an element of an update.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs,
      StableHLO_IntTensor:$scatter_indices, Variadic<StableHLO_Tensor>:$updates,
      StableHLO_ScatterDimensionNumbersAttr:$scatter_dimension_numbers,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let regions = (region SizedRegion<1>:$update_computation);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOINDEXINGOPS_TD
