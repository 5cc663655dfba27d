//===- AMSPAttributes.td - Groups, placements, roles -------*- tablegen -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPATTRIBUTES_TD
#define AMSP_DIALECT_AMSP_IR_AMSPATTRIBUTES_TD

include "amsp/Dialect/AMSP/IR/AMSPDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class AMSP_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<AMSP_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def AMSP_Digits : ArrayRefParameter<"::amsp::Digit", "digits, most significant first"> {
  let parser = "::amsp::parseDigits($_parser)";
  let printer = "::amsp::printDigits($_printer, $_self)";
}

def AMSP_GroupAttr : AMSP_Attr<"Group", "group"> {
  let summary = "a group of ranks, as digits of the rank number";
  let description = [{
    A digit `stride:size` stands for the ranks `r, r + stride, ...,
    r + (size - 1) * stride`. The digits are listed most significant first: they
    make the index of a rank in its group, and so order the pieces of a gathered
    buffer. `#amsp.group<[1:2, 4:3]>` has 6 members; index = (rank / 1 % 2) * 3 +
    rank / 4 % 3.
  }];
  let parameters = (ins AMSP_Digits:$digits);
  let assemblyFormat = "`<` $digits `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Number of members: the product of the digits' sizes.
    int64_t getSize() const;
  }];
}

def AMSP_PlacementKind : I32EnumAttr<"PlacementKind", "how local pieces relate to the global value", [
    I32EnumAttrCase<"Replicated", 0, "replicated">,
    I32EnumAttrCase<"Split", 1, "split">,
    I32EnumAttrCase<"Flat", 2, "flat">
  ]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::amsp";
}

def AMSP_PlacementAttr : AMSP_Attr<"Placement", "placement"> {
  let summary = "how the local value of an argument or result relates to its global value";
  let description = [{
    `#amsp.placement<replicated>`: each rank holds the whole value.
    `#amsp.placement<split, 0, [..]>`: cut along a dimension, piece i of the group on
    its member i. `#amsp.placement<flat, k, [..]>`: the k leading dimensions kept
    whole, the rest flattened row-major, padded, and cut in equal pieces.
  }];
  let parameters = (ins
    EnumParameter<AMSP_PlacementKind>:$kind,
    DefaultValuedParameter<"int64_t", "0">:$dimension,
    OptionalArrayRefParameter<"::amsp::Digit">:$digits);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static PlacementAttr getReplicated(::mlir::MLIRContext *context);
  }];
}

def AMSP_Role : I32EnumAttr<"Role", "what an argument of a training step is for", [
    I32EnumAttrCase<"Param", 0, "param">,
    I32EnumAttrCase<"OptState", 1, "opt_state">,
    I32EnumAttrCase<"State", 2, "state">,
    I32EnumAttrCase<"Batch", 3, "batch">,
    I32EnumAttrCase<"Constant", 4, "constant">,
    I32EnumAttrCase<"Output", 5, "output">
  ]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::amsp";
}
def AMSP_RoleAttr : EnumAttr<AMSP_Dialect, AMSP_Role, "role"> {
  let assemblyFormat = "`<` $value `>`";
}

def AMSP_Reduction : I32EnumAttr<"Reduction", "how a reduction combines two values", [
    I32EnumAttrCase<"Sum", 0, "sum">,
    I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">
  ]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::amsp";
}
def AMSP_ReductionAttr : EnumAttr<AMSP_Dialect, AMSP_Reduction, "reduction">;

def AMSP_CollectiveKind : I32EnumAttr<"CollectiveKind", "kind of a collective, numbered as in Step.h", [
    I32EnumAttrCase<"AllGather", 0, "all_gather">,
    I32EnumAttrCase<"ReduceScatter", 1, "reduce_scatter">,
    I32EnumAttrCase<"AllReduce", 2, "all_reduce">,
    I32EnumAttrCase<"AllToAll", 3, "all_to_all">
  ]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::amsp";
}
def AMSP_CollectiveKindAttr : EnumAttr<AMSP_Dialect, AMSP_CollectiveKind, "collective_kind">;

def AMSP_PartAttr : AMSP_Attr<"Part", "part"> {
  let summary = "how one tensor takes part in a collective";
  let description = [{
    A collective moves data between the *full side* of a tensor and the *pieces* of
    a group's members. `dim`: the full side is cut along that dimension; without it,
    the `keep` leading dimensions are kept and the rest is flattened, padded and cut
    (see `#amsp.placement`). `parameter` (an argument's number) and `unit` say for
    whose sake the tensor is moved; no meaning depends on them.
  }];
  let parameters = (ins
    OptionalParameter<"std::optional<int64_t>">:$dim,
    DefaultValuedParameter<"int64_t", "0">:$keep,
    OptionalParameter<"std::optional<int64_t>">:$parameter,
    OptionalParameter<"::mlir::StringAttr">:$unit);
  let assemblyFormat = "`<` struct(params) `>`";
}

def AMSP_CollectiveInfoAttr : AMSP_Attr<"CollectiveInfo", "collective"> {
  let summary = "what a collective does, as the runtime sees it";
  let description = [{
    The static part of an `amsp_collective` of Step.h. Per operand, the full side
    is `rows` rows of `full` elements and a piece `rows` rows of `piece`. `id` is
    the position in the manifest's list. The reduction of an `all_gather` or
    `all_to_all` has no meaning.
  }];
  let parameters = (ins
    "int64_t":$id,
    EnumParameter<AMSP_CollectiveKind>:$kind,
    EnumParameter<AMSP_Reduction>:$reduction,
    "::amsp::GroupAttr":$group,
    ArrayRefParameter<"int64_t">:$rows,
    ArrayRefParameter<"int64_t">:$full,
    ArrayRefParameter<"int64_t">:$piece,
    StringRefParameter<>:$name);
  let assemblyFormat = [{
    `<` $id `,` $kind `,` $reduction `,` $group `,` `rows` `=` `[` $rows `]` `,`
    `full` `=` `[` $full `]` `,` `piece` `=` `[` $piece `]` `,` $name `>`
  }];
}

#endif // AMSP_DIALECT_AMSP_IR_AMSPATTRIBUTES_TD
