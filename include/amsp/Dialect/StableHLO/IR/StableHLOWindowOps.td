//===- StableHLOWindowOps.td - Ops on sliding windows ---------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOWINDOWOPS_TD
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOWINDOWOPS_TD

include "amsp/Dialect/StableHLO/IR/StableHLOBase.td"

def StableHLO_ConvolutionOp : StableHLO_Op<"convolution", [Pure]> {
  let summary = "Contraction of a kernel with each window of a tensor";
  let description = [{
    Element `o` of the result sums, along each spatial dimension, `kernel[k]`
    times `lhs[o * stride + k * rhs_dilate - low]`, where `lhs` has
    `lhs_dilate - 1` zeros between its elements and zeros around them. Groups
    cut the features of both sides, or the batch of `lhs`, in parts that do not
    meet.

    ```mlir
    %0 = stablehlo.convolution(%lhs, %rhs)
        dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {stride = [2, 2], pad = [[0, 1], [0, 1]]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x4x4x4xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
      OptionalAttr<DenseI64ArrayAttr>:$window_strides,
      OptionalAttr<I64ElementsAttr>:$padding,
      OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
      OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
      OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
      StableHLO_ConvDimensionNumbersAttr:$dimension_numbers,
      ConfinedAttr<I64Attr, [IntPositive]>:$feature_group_count,
      ConfinedAttr<I64Attr, [IntPositive]>:$batch_group_count,
      OptionalAttr<StableHLO_PrecisionArrayAttr>:$precision_config);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=`
    custom<ConvolutionDimensions>($dimension_numbers) `,`
    `window` `=` `{`
    custom<WindowAttributes>($window_strides, $padding, $lhs_dilation,
                             $rhs_dilation, $window_reversal)
    `}` attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The window along each spatial dimension.
    ::llvm::SmallVector<::amsp::stablehlo::WindowDimension> getWindow();
  }];
  let hasVerifier = 1;
}

def StableHLO_ReduceWindowOp
    : StableHLO_Op<"reduce_window", [RecursiveMemoryEffects,
                                     RecursivelySpeculatable,
                                     SameVariadicOperandSize,
                                     SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Combination of the elements in each window";
  let description = [{
    Padding, and what a base dilation puts between elements, has the initial
    value. The region combines as many running values as there are inputs with
    as many elements.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs,
      Variadic<StableHLO_ScalarTensor>:$init_values,
      DenseI64ArrayAttr:$window_dimensions,
      OptionalAttr<DenseI64ArrayAttr>:$window_strides,
      OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
      OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
      OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs Variadic<StableHLO_Tensor>);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// The window along each dimension.
    ::llvm::SmallVector<::amsp::stablehlo::WindowDimension> getWindow();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_SelectAndScatterOp
    : StableHLO_Op<"select_and_scatter", [RecursiveMemoryEffects,
                                          RecursivelySpeculatable]> {
  let summary = "Elements added at the selected place of each window";
  let description = [{
    The gradient of a maximum over windows. The first region tells whether the
    place selected so far stays selected before another one of the window;
    padding is never selected. The second combines elements of `source` whose
    windows select the same place, beginning with the initial value.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$source,
      StableHLO_ScalarTensor:$init_value,
      OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
      OptionalAttr<DenseI64ArrayAttr>:$window_strides,
      OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs StableHLO_Tensor:$result);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let extraClassDeclaration = [{
    /// The window along each dimension.
    ::llvm::SmallVector<::amsp::stablehlo::WindowDimension> getWindow();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOWINDOWOPS_TD
