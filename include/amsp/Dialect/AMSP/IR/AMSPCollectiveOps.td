//===- AMSPCollectiveOps.td - Collectives on tensors -------*- tablegen -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPCOLLECTIVEOPS_TD
#define AMSP_DIALECT_AMSP_IR_AMSPCOLLECTIVEOPS_TD

include "amsp/Dialect/AMSP/IR/AMSPAttributes.td"
include "amsp/Dialect/AMSP/IR/CollectiveOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class AMSP_Op<string mnemonic, list<Trait> traits = []>
    : Op<AMSP_Dialect, mnemonic, traits>;

def AMSP_Tensor : StaticShapeTensorOf<[AnyType]>;

def AMSP_Parts : TypedArrayAttrBase<AMSP_PartAttr, "one #amsp.part for each tensor">;

// In the text, `parts` are lists by field: `dim = 0` holds for every tensor,
// `parameter = [3, none]` says it for each.
class AMSP_CollectiveOp<string mnemonic, string kind, list<Trait> traits = []>
    : AMSP_Op<mnemonic, !listconcat([AMSP_CollectiveOpInterface], traits)> {
  code sharedDeclaration = [{
    ::amsp::CollectiveKind getKind() { return ::amsp::CollectiveKind::}] # kind # [{; }
  }];
}

class AMSP_GatherOp<string mnemonic, string kind, list<Trait> traits>
    : AMSP_CollectiveOp<mnemonic, kind, traits> {
  let arguments = (ins Variadic<AMSP_Tensor>:$operands, AMSP_GroupAttr:$group,
    AMSP_Parts:$parts, OptionalAttr<I64Attr>:$window);
  let assemblyFormat = [{
    $operands `group` `=` $group custom<Parts>($parts, ref($operands))
    (`window` `=` $window^)? attr-dict `:` type($operands) `->` type($results)
  }];
  let extraClassDeclaration = sharedDeclaration # [{
    std::optional<::amsp::Reduction> getCombiner() { return std::nullopt; }
  }];
}

class AMSP_ReducingOp<string mnemonic, string kind, list<Trait> traits>
    : AMSP_CollectiveOp<mnemonic, kind, traits> {
  let arguments = (ins Variadic<AMSP_Tensor>:$operands, AMSP_ReductionAttr:$reduction,
    AMSP_GroupAttr:$group, AMSP_Parts:$parts);
  let extraClassDeclaration = sharedDeclaration # [{
    std::optional<::amsp::Reduction> getCombiner() { return getReduction(); }
  }];
}

class AMSP_ScatteringOp<string mnemonic, string kind, list<Trait> traits>
    : AMSP_ReducingOp<mnemonic, kind, traits> {
  let assemblyFormat = [{
    $reduction $operands `group` `=` $group custom<Parts>($parts, ref($operands))
    attr-dict `:` type($operands) `->` type($results)
  }];
}

def AMSP_AllGatherOp : AMSP_GatherOp<"all_gather", "AllGather", [Pure]> {
  let summary = "joins the pieces of a group's members on each of them";
  let description = [{
    Flat: an operand has the `keep` leading dimensions of its result and one more,
    the elements of a piece. The padding of the last pieces is dropped. Several
    tensors of one element type are one call of the group.

    ```mlir
    // 403 elements in 4 pieces of 101, one element of padding
    %w = amsp.all_gather %piece group = <[1:2, 2:2]>
           : tensor<101xf32> -> tensor<13x31xf32>
    %x:2 = amsp.all_gather %rows, %stack group = <[1:4]> dim = [0, none] keep = [0, 1]
             parameter = [3, none]
             : tensor<6x8xf32>, tensor<2x5xf32> -> tensor<24x8xf32>, tensor<2x20xf32>
    ```

    `window` tells gathers of one piece for different uses apart, so that no
    pass merges them and so keeps the full value from one use to the other.
  }];
  let results = (outs Variadic<AMSP_Tensor>:$results);
}

def AMSP_ReduceScatterOp
    : AMSP_ScatteringOp<"reduce_scatter", "ReduceScatter", [Pure]> {
  let summary = "combines the members' values and gives each member its piece";
  let description = [{
    The reverse of `all_gather`, after a reduction of the full side over the group.
    The content of padding in a result is undefined.

    ```mlir
    %piece = amsp.reduce_scatter sum %g group = <[1:2, 2:2]>
               : tensor<13x31xf32> -> tensor<101xf32>
    ```
  }];
  let results = (outs Variadic<AMSP_Tensor>:$results);
}

def AMSP_AllReduceOp : AMSP_ReducingOp<"all_reduce", "AllReduce", [Pure,
    InferTypeOpAdaptor]> {
  let summary = "combines the members' values on each of them";
  let description = [{
    ```mlir
    %sums:2 = amsp.all_reduce sum %loss, %count group = <[1:4]>
                : tensor<f32>, tensor<f32>
    ```
  }];
  let results = (outs Variadic<AMSP_Tensor>:$results);
  let assemblyFormat = [{
    $reduction $operands `group` `=` $group custom<Parts>($parts, ref($operands))
    attr-dict `:` type($operands)
  }];
}

#endif // AMSP_DIALECT_AMSP_IR_AMSPCOLLECTIVEOPS_TD
