//===- AMSPOps.td - Collectives and rank-local ops ---------*- tablegen -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPOPS_TD
#define AMSP_DIALECT_AMSP_IR_AMSPOPS_TD

include "amsp/Dialect/AMSP/IR/AMSPAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

class AMSP_Op<string mnemonic, list<Trait> traits = []>
    : Op<AMSP_Dialect, mnemonic, traits>;

def AMSP_Tensor : StaticShapeTensorOf<[AnyType]>;

// A collective moves data between its *full side*, a tensor of any shape, and
// the *pieces* of the members of a group. `dim`: the full side is cut along that
// dimension; without it, the `keep` leading dimensions are kept and the rest is
// flattened, padded and cut (see #amsp.placement).
class AMSP_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : AMSP_Op<mnemonic, !listconcat(traits, [Pure])> {
  let hasVerifier = 1;
}

def AMSP_AllGatherOp : AMSP_CollectiveOp<"all_gather"> {
  let summary = "joins the pieces of a group's members on each of them";
  let description = [{
    Flat: the operand has the `keep` leading dimensions of the result and one more,
    the elements of a piece. The padding of the last pieces is dropped.

    ```mlir
    // 403 elements in 4 pieces of 101, one element of padding
    %w = amsp.all_gather %piece group = <[1:2, 2:2]>
           : tensor<101xf32> -> tensor<13x31xf32>
    %x = amsp.all_gather %rows group = <[1:4]> dim = 0
           : tensor<6x8xf32> -> tensor<24x8xf32>
    ```

    `window` tells gathers of one piece for different uses apart, so that no
    pass merges them and so keeps the full value from one use to the other.
  }];
  let arguments = (ins AMSP_Tensor:$operand, AMSP_GroupAttr:$group,
    OptionalAttr<I64Attr>:$dim, DefaultValuedAttr<I64Attr, "0">:$keep,
    OptionalAttr<I64Attr>:$parameter, OptionalAttr<StrAttr>:$unit,
    OptionalAttr<I64Attr>:$window);
  let results = (outs AMSP_Tensor:$result);
  let assemblyFormat = [{
    $operand `group` `=` $group (`dim` `=` $dim^)? (`keep` `=` $keep^)?
    (`parameter` `=` $parameter^)? (`unit` `=` $unit^)? (`window` `=` $window^)?
    attr-dict `:` type($operand) `->` type($result)
  }];
}

def AMSP_ReduceScatterOp : AMSP_CollectiveOp<"reduce_scatter"> {
  let summary = "combines the members' values and gives each member its piece";
  let description = [{
    The reverse of `all_gather`, after a reduction of the full side over the group.
    The content of padding in the result is undefined.

    ```mlir
    %piece = amsp.reduce_scatter sum %g group = <[1:2, 2:2]>
               : tensor<13x31xf32> -> tensor<101xf32>
    ```
  }];
  let arguments = (ins AMSP_Tensor:$operand, AMSP_ReductionAttr:$reduction,
    AMSP_GroupAttr:$group,
    OptionalAttr<I64Attr>:$dim, DefaultValuedAttr<I64Attr, "0">:$keep,
    OptionalAttr<I64Attr>:$parameter, OptionalAttr<StrAttr>:$unit);
  let results = (outs AMSP_Tensor:$result);
  let assemblyFormat = [{
    $reduction $operand `group` `=` $group (`dim` `=` $dim^)? (`keep` `=` $keep^)?
    (`parameter` `=` $parameter^)? (`unit` `=` $unit^)? attr-dict
    `:` type($operand) `->` type($result)
  }];
}

def AMSP_AllReduceOp : AMSP_CollectiveOp<"all_reduce", [SameOperandsAndResultType]> {
  let summary = "combines the members' values on each of them";
  let arguments = (ins AMSP_Tensor:$operand, AMSP_ReductionAttr:$reduction,
    AMSP_GroupAttr:$group,
    OptionalAttr<I64Attr>:$parameter, OptionalAttr<StrAttr>:$unit);
  let results = (outs AMSP_Tensor:$result);
  let assemblyFormat = [{
    $reduction $operand `group` `=` $group
    (`parameter` `=` $parameter^)? (`unit` `=` $unit^)? attr-dict `:` type($operand)
  }];
}

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
    group's flat placement. Elements beyond the last one become `value` (a scalar).
  }];
  let arguments = (ins AMSP_Tensor:$operand, AMSP_Tensor:$value,
    AMSP_GroupAttr:$group, I64Attr:$elements);
  let results = (outs AMSP_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $value `group` `=` $group `elements` `=` $elements attr-dict
    `:` type($operand) `,` type($value)
  }];
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
