//===- AMSPCollectiveOps.td - Collectives on tensors -------*- tablegen -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPCOLLECTIVEOPS_TD
#define AMSP_DIALECT_AMSP_IR_AMSPCOLLECTIVEOPS_TD

include "amsp/Dialect/AMSP/IR/AMSPAttributes.td"
include "amsp/Dialect/AMSP/IR/AMSPTypes.td"
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

class AMSP_AllReducingOp<string mnemonic, list<Trait> traits>
    : AMSP_ReducingOp<mnemonic, "AllReduce", !listconcat([InferTypeOpAdaptor], traits)> {
  let assemblyFormat = [{
    $reduction $operands `group` `=` $group custom<Parts>($parts, ref($operands))
    attr-dict `:` type($operands)
  }];
}

def AMSP_AllReduceOp : AMSP_AllReducingOp<"all_reduce", [Pure]> {
  let summary = "combines the members' values on each of them";
  let description = [{
    ```mlir
    %sums:2 = amsp.all_reduce sum %loss, %count group = <[1:4]>
                : tensor<f32>, tensor<f32>
    ```
  }];
  let results = (outs Variadic<AMSP_Tensor>:$results);
}

class AMSP_ExchangingOp<string mnemonic, list<Trait> traits>
    : AMSP_CollectiveOp<mnemonic, "AllToAll", !listconcat([InferTypeOpAdaptor], traits)> {
  let arguments = (ins Variadic<AMSP_Tensor>:$operands, AMSP_GroupAttr:$group,
    AMSP_Parts:$parts);
  let assemblyFormat = [{
    $operands `group` `=` $group custom<Parts>($parts, ref($operands))
    attr-dict `:` type($operands)
  }];
  let extraClassDeclaration = sharedDeclaration # [{
    std::optional<::amsp::Reduction> getCombiner() { return std::nullopt; }
  }];
}

def AMSP_AllToAllOp : AMSP_ExchangingOp<"all_to_all", [Pure]> {
  let summary = "gives each member of a group its piece of the others' values";
  let description = [{
    A tensor is cut in as many equal pieces as the group has members, along `dim`
    or, flat, behind the `keep` leading dimensions; there is no padding. Piece i of
    a member's result is its own piece of member i's operand.

    ```mlir
    // row i goes to member i; then row i is what member i had for this one
    %x = amsp.all_to_all %rows group = <[1:4]> dim = 0 : tensor<4x96xi8>
    ```
  }];
  let results = (outs Variadic<AMSP_Tensor>:$results);
}

// Starts. Their results count as allocated, so that no pass makes one of two
// starts or moves one out of a loop, away from its await; a dead one still goes.
defvar startResults = (outs Res<Variadic<AMSP_PendingType>, "", [MemAlloc]>:$results);
defvar startDescription = [{
    The first half of the op without `_start`: one pending tensor for each result.
    They have one use, an `amsp.await` of all of them in the same block.
}];

def AMSP_AllGatherStartOp : AMSP_GatherOp<"all_gather_start", "AllGather", []> {
  let summary = "starts an all_gather";
  let description = startDescription # [{
    ```mlir
    %p = amsp.all_gather_start %piece group = <[1:4]>
           : tensor<101xf32> -> !amsp.pending<tensor<13x31xf32>>
    %w = amsp.await %p : !amsp.pending<tensor<13x31xf32>>
    ```
  }];
  let results = startResults;
}

def AMSP_ReduceScatterStartOp
    : AMSP_ScatteringOp<"reduce_scatter_start", "ReduceScatter", []> {
  let summary = "starts a reduce_scatter";
  let description = startDescription;
  let results = startResults;
}

def AMSP_AllReduceStartOp : AMSP_AllReducingOp<"all_reduce_start", []> {
  let summary = "starts an all_reduce";
  let description = startDescription;
  let results = startResults;
}

def AMSP_AllToAllStartOp : AMSP_ExchangingOp<"all_to_all_start", []> {
  let summary = "starts an all_to_all";
  let description = startDescription;
  let results = startResults;
}

def AMSP_AwaitOp : AMSP_Op<"await", [Pure, InferTypeOpAdaptor]> {
  let summary = "waits for a started collective";
  let description = [{
    The operands are all the results of one start, in order, which stands before it
    in the same block: a pending tensor is not carried through loops or branches.

    ```mlir
    %sums:2 = amsp.await %p#0, %p#1
                : !amsp.pending<tensor<f32>>, !amsp.pending<tensor<f32>>
    ```
  }];
  let arguments = (ins Variadic<AMSP_PendingType>:$pending);
  let results = (outs Variadic<AMSP_Tensor>:$results);
  let assemblyFormat = "$pending attr-dict `:` type($pending)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::amsp::CollectiveOpInterface getStart() {
      return getPending()[0].getDefiningOp<::amsp::CollectiveOpInterface>();
    }
  }];
}

#endif // AMSP_DIALECT_AMSP_IR_AMSPCOLLECTIVEOPS_TD
