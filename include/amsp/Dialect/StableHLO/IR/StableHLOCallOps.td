//===- StableHLOCallOps.td - Ops defined elsewhere ------------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOCALLOPS_TD
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOCALLOPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "amsp/Dialect/StableHLO/IR/StableHLOBase.td"

def StableHLO_CompositeOp
    : StableHLO_Op<"composite", [DeclareOpInterfaceMethods<CallOpInterface>,
                                 DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "An op of another library, with its decomposition";
  let description = [{
    A call of the function that decomposes it; the inliner treats it as one.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, StrAttr:$name,
      DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$composite_attributes,
      FlatSymbolRefAttr:$decomposition,
      DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let results = (outs Variadic<StableHLO_Tensor>);
  let assemblyFormat = [{
    $name $inputs attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::mlir::Attribute removeArgAttrsAttr() { return nullptr; }
    ::mlir::Attribute removeResAttrsAttr() { return nullptr; }
    ::mlir::ArrayAttr getArgAttrsAttr() { return nullptr; }
    ::mlir::ArrayAttr getResAttrsAttr() { return nullptr; }
    void setArgAttrsAttr(::mlir::ArrayAttr) {}
    void setResAttrsAttr(::mlir::ArrayAttr) {}
  }];
}

def StableHLO_CustomCallOp
    : StableHLO_Op<"custom_call", [MemoryEffects<[MemWrite]>]> {
  let summary = "A function of the runtime that the program was exported for";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs,
      StrAttr:$call_target_name,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
      OptionalAttr<AnyAttrOf<[StrAttr, DictionaryAttr]>>:$backend_config,
      DefaultValuedOptionalAttr<
          StableHLO_CustomCallApiVersionAttr,
          "::amsp::stablehlo::CustomCallApiVersion::API_VERSION_ORIGINAL">:$api_version,
      DefaultValuedOptionalAttr<
          TypedArrayAttrBase<FlatSymbolRefAttr, "functions">, "{}">:$called_computations,
      OptionalAttr<ArrayAttr>:$operand_layouts,
      OptionalAttr<ArrayAttr>:$result_layouts,
      DefaultValuedOptionalAttr<
          TypedArrayAttrBase<StableHLO_OutputOperandAliasAttr, "aliases">,
          "{}">:$output_operand_aliases);
  let results = (outs Variadic<StableHLO_Tensor>);
  let assemblyFormat = [{
    custom<CallTarget>($call_target_name) `(` $inputs `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOCALLOPS_TD
