//===- SdyDialect.td - Shardings that an export may carry -----*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_SDYDIALECT_TD
#define AMSP_DIALECT_STABLEHLO_IR_SDYDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::amsp::sdy";
  let summary = "Just enough to read, and to refuse, an export with shardings";
  let description = [{
    A step is exported for one device, yet JAX writes the mesh and shardings of
    its arguments even for a mesh of one device. Attributes are kept as text;
    an op other than `sdy.mesh` is an error.
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
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$axis_names,
                       DenseI64ArrayAttr:$axis_sizes);
  let assemblyFormat = [{
    $sym_name `=` custom<Axes>($axis_names, $axis_sizes) attr-dict
  }];
  let extraClassDeclaration = [{
    int64_t getNumDevices();
  }];
}

#endif // AMSP_DIALECT_STABLEHLO_IR_SDYDIALECT_TD
