//===- StableHLOContractionOps.td - Contractions, reductions --*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOCONTRACTIONOPS_TD
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOCONTRACTIONOPS_TD

include "mlir/IR/OpAsmInterface.td"
include "amsp/Dialect/StableHLO/IR/StableHLOBase.td"

def StableHLO_DotGeneralOp : StableHLO_Op<"dot_general", [Pure]> {
  let summary = "Contraction of two tensors";
  let description = [{
    The result's dimensions are the batching ones, then the free ones of `lhs`,
    then those of `rhs`. Its element type is the one sums are returned in.
  }];
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
      StableHLO_DotDimensionNumbersAttr:$dot_dimension_numbers,
      OptionalAttr<StableHLO_PrecisionArrayAttr>:$precision_config,
      OptionalAttr<StableHLO_DotAlgorithmAttr>:$algorithm);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,`
    custom<DotOptions>($dot_dimension_numbers, $precision_config, $algorithm)
    attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    // Infers the result's shape; its element type defaults to that of lhs.
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
        "::amsp::stablehlo::DotDimensionNumbersAttr":$dimensionNumbers,
        CArg<"::mlir::ArrayAttr", "{}">:$precisionConfig,
        CArg<"::mlir::Type", "{}">:$elementType)>
  ];
  let hasVerifier = 1;
}

def StableHLO_ReduceOp
    : StableHLO_Op<"reduce", [RecursiveMemoryEffects, RecursivelySpeculatable,
                              SameVariadicOperandSize,
                              SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Combination of the elements along some dimensions";
  let description = [{
    The region combines as many running values as there are inputs (its first
    arguments) with as many elements. A region of one commutative op prints
    short:

    ```mlir
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add
        across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs,
                       Variadic<StableHLO_ScalarTensor>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs Variadic<StableHLO_Tensor>);
  let regions = (region SizedRegion<1>:$body);
  let builders = [
    // Infers the result types; the caller fills the body's block.
    OpBuilder<(ins "::mlir::ValueRange":$inputs, "::mlir::ValueRange":$initValues,
                   "::llvm::ArrayRef<int64_t>":$dimensions)>
  ];
  let extraClassDeclaration = [{
    /// The op that combines two elements, if the region is that one op on its
    /// arguments in order; else null.
    ::mlir::Operation *getSingleCombiner();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_SortOp
    : StableHLO_Op<"sort", [RecursiveMemoryEffects, RecursivelySpeculatable,
                            SingleBlockImplicitTerminator<"ReturnOp">,
                            StableHLO_InferredTypes]> {
  let summary = "Tensors sorted together along one dimension";
  let description = [{
    The region tells whether a first element comes before a second; its
    arguments are such a pair for each input.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs,
                       DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let results = (outs Variadic<StableHLO_Tensor>);
  let regions = (region SizedRegion<1>:$comparator);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_RngBitGeneratorOp : StableHLO_Op<"rng_bit_generator", [
    Pure, OpAsmOpInterface, AllTypesMatch<["initial_state", "output_state"]>]> {
  let summary = "Random bits, and the state to make the next";
  let arguments = (ins StableHLO_RngAlgorithmAttr:$rng_algorithm,
                       StableHLO_Tensor:$initial_state);
  let results = (outs StableHLO_Tensor:$output_state, StableHLO_Tensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` `` $rng_algorithm attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    void getAsmResultNames(::mlir::OpAsmSetValueNameFn setNameFn) {
      setNameFn(getOutputState(), "output_state");
      setNameFn(getOutput(), "output");
    }
  }];
  let hasVerifier = 1;
}

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOCONTRACTIONOPS_TD
