//===- AMSPOps.td - Ops of a rank's program ----------------*- tablegen -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPOPS_TD
#define AMSP_DIALECT_AMSP_IR_AMSPOPS_TD

include "amsp/Dialect/AMSP/IR/AMSPAttentionOps.td"

def AMSP_GroupIndexOp : AMSP_Op<"group_index", [Pure]> {
  let summary = "the index of this rank in its group";
  let description = [{
    ```mlir
    %i = amsp.group_index group = <[1:2, 2:2]> : tensor<i32>
    ```
  }];
  let arguments = (ins AMSP_GroupAttr:$group);
  let results = (outs TensorOf<[I32]>:$result);
  let assemblyFormat = "`group` `=` $group attr-dict `:` type($result)";
}

def AMSP_LocalSliceOp : AMSP_Op<"local_slice", [Pure]> {
  let summary = "this rank's piece of a value that every member holds";
  let description = [{
    `all_gather` of the result gives the operand again. No communication; lowered to
    StableHLO by `amsp-lower-local-ops`.
  }];
  let arguments = (ins AMSP_Tensor:$operand, AMSP_GroupAttr:$group,
    OptionalAttr<I64Attr>:$dim, DefaultValuedAttr<I64Attr, "0">:$keep);
  let results = (outs AMSP_Tensor:$result);
  let assemblyFormat = [{
    $operand `group` `=` $group (`dim` `=` $dim^)? (`keep` `=` $keep^)? attr-dict
    `:` type($operand) `->` type($result)
  }];
  let hasVerifier = 1;
}

def AMSP_MaskPaddingOp : AMSP_Op<"mask_padding", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "replaces the padding of a piece by a value";
  let description = [{
    The operand is a piece of a value with `elements` elements per kept row, in a
    group's flat placement; or, with `dim`, one that is cut along a dimension of as
    many elements. Elements beyond the last one become `value` (a scalar).
  }];
  let arguments = (ins AMSP_Tensor:$operand, AMSP_Tensor:$value,
    AMSP_GroupAttr:$group, I64Attr:$elements, OptionalAttr<I64Attr>:$dim);
  let results = (outs AMSP_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $value `group` `=` $group `elements` `=` $elements
    (`dim` `=` $dim^)? attr-dict
    `:` type($operand) `,` type($value)
  }];
  let hasVerifier = 1;
}

def AMSP_KeepOnFirstOp : AMSP_Op<"keep_on_first", [Pure, SameOperandsAndResultType]> {
  let summary = "the operand on the group's member 0, zero on the others";
  let description = [{
    Lets a replicated value join a partial sum: the sum over the group is the operand.
  }];
  let arguments = (ins AMSP_Tensor:$operand, AMSP_GroupAttr:$group);
  let results = (outs AMSP_Tensor:$result);
  let assemblyFormat = "$operand `group` `=` $group attr-dict `:` type($operand)";
}

#endif // AMSP_DIALECT_AMSP_IR_AMSPOPS_TD
