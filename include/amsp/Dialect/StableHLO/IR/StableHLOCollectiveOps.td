//===- StableHLOCollectiveOps.td - Collectives ----------------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOCOLLECTIVEOPS_TD
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOCOLLECTIVEOPS_TD

include "amsp/Dialect/StableHLO/IR/StableHLOBase.td"

// Free of memory effects, yet not speculatable: all ranks have to join.
class StableHLO_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, traits>;

class StableHLO_ReducingCollectiveOp<string mnemonic, list<Trait> traits = []>
    : StableHLO_CollectiveOp<mnemonic, [RecursiveMemoryEffects,
                                        SingleBlockImplicitTerminator<"ReturnOp">]
                                       # traits> {
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_AllGatherOp : StableHLO_CollectiveOp<"all_gather", [NoMemoryEffect]> {
  let summary = "The pieces of a group, joined along one dimension";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands,
      ConfinedAttr<I64Attr, [IntNonNegative]>:$all_gather_dim,
      I64ElementsAttr:$replica_groups,
      OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
      UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<StableHLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_AllReduceOp
    : StableHLO_ReducingCollectiveOp<"all_reduce", [StableHLO_InferredTypes]> {
  let summary = "The values of a group, combined";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands,
      I64ElementsAttr:$replica_groups,
      OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
      UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<StableHLO_Tensor>);
  let regions = (region SizedRegion<1>:$computation);
}

def StableHLO_ReduceScatterOp
    : StableHLO_ReducingCollectiveOp<"reduce_scatter"> {
  let summary = "A piece of the combined values of a group";
  let arguments = (ins StableHLO_Tensor:$operand,
      ConfinedAttr<I64Attr, [IntNonNegative]>:$scatter_dimension,
      I64ElementsAttr:$replica_groups,
      OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle,
      UnitAttr:$use_global_device_ids);
  let results = (outs StableHLO_Tensor:$result);
  let regions = (region SizedRegion<1>:$computation);
}

def StableHLO_AllToAllOp
    : StableHLO_CollectiveOp<"all_to_all", [NoMemoryEffect, StableHLO_InferredTypes]> {
  let summary = "Pieces exchanged: cut along one dimension, joined along another";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands,
      ConfinedAttr<I64Attr, [IntNonNegative]>:$split_dimension,
      ConfinedAttr<I64Attr, [IntNonNegative]>:$concat_dimension,
      ConfinedAttr<I64Attr, [IntPositive]>:$split_count,
      I64ElementsAttr:$replica_groups,
      OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle);
  let results = (outs Variadic<StableHLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_CollectivePermuteOp
    : StableHLO_CollectiveOp<"collective_permute", [NoMemoryEffect,
                                                    SameOperandsAndResultType]> {
  let summary = "A value sent from one rank to another; zeros where none arrives";
  let arguments = (ins StableHLO_Tensor:$operand,
      I64ElementsAttr:$source_target_pairs,
      OptionalAttr<StableHLO_ChannelHandleAttr>:$channel_handle);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

class StableHLO_IdOp<string mnemonic, string meaning>
    : StableHLO_Op<mnemonic, [Pure, StableHLO_InferredTypes]> {
  let summary = meaning;
  let results = (outs StableHLO_ScalarUI32Tensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def StableHLO_ReplicaIdOp
    : StableHLO_IdOp<"replica_id", "The number of this replica">;
def StableHLO_PartitionIdOp
    : StableHLO_IdOp<"partition_id", "The number of this partition">;

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOCOLLECTIVEOPS_TD
