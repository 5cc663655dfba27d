//===- SdyDialect.td - Shardings that an export may carry -----*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_SDYDIALECT_TD
#define AMSP_DIALECT_STABLEHLO_IR_SDYDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::amsp::sdy";
  let summary = "Just enough to read, and to refuse, an export with shardings";
  let description = [{
    A step is exported for one device, yet JAX writes meshes of one device, and
    constraints and shardings of arguments over them. Attributes are kept as
    text; other ops are errors.
  }];
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    std::optional<ParseOpHook>
    getParseOperationHook(::llvm::StringRef opName) const override;
  }];
}

def Sdy_MeshOp : Op<Sdy_Dialect, "mesh", [Symbol]> {
  let summary = "The devices, in named axes";
  let description = [{
    ```mlir
    sdy.mesh @mesh = <["x"=2, "y"=4]>
    sdy.mesh @host = <[], device_ids=[0]>
    ```

    `device_ids` numbers the devices; without it they are in order. A mesh
    without axes is one device.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$axis_names,
                       DenseI64ArrayAttr:$axis_sizes,
                       OptionalAttr<DenseI64ArrayAttr>:$device_ids);
  let assemblyFormat = [{
    $sym_name `=` custom<Mesh>($axis_names, $axis_sizes, $device_ids) attr-dict
  }];
  let extraClassDeclaration = [{
    int64_t getNumDevices();
  }];
}

def Sdy_ShardingConstraintOp
    : Op<Sdy_Dialect, "sharding_constraint",
         [Pure, SameOperandsAndResultType,
          DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A value, sharded over a mesh of one device: the value itself";
  let description = [{
    JAX writes it on typed keys of random numbers. Over several devices it is
    an error.

    ```mlir
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {} ]> : tensor<4x4xf32>
    ```

    `dimensions` has for each dimension its axes' names, with a unit attribute
    for `?`.
  }];
  let arguments = (ins AnyRankedTensor:$input, FlatSymbolRefAttr:$mesh,
                       ArrayAttr:$dimensions);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input custom<Sharding>($mesh, $dimensions) attr-dict `:` type($result)
  }];
  let hasFolder = 1;
}

#endif // AMSP_DIALECT_STABLEHLO_IR_SDYDIALECT_TD
