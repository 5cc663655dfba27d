//===- StableHLOShapeOps.td - Constants and data movement -----*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOSHAPEOPS_TD
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOSHAPEOPS_TD

include "mlir/IR/OpAsmInterface.td"
include "amsp/Dialect/StableHLO/IR/StableHLOBase.td"

class StableHLO_PureOp<string mnemonic, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, [Pure] # traits>;

//===----------------------------------------------------------------------===//
// Made from nothing
//===----------------------------------------------------------------------===//

def StableHLO_ConstantOp
    : StableHLO_PureOp<"constant", [ConstantLike, StableHLO_InferredTypes,
                                    OpAsmOpInterface]> {
  let summary = "A constant tensor";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StableHLO_Tensor:$output);
  let assemblyFormat = "attr-dict $value";
  let extraClassDeclaration = [{
    void getAsmResultNames(::mlir::OpAsmSetValueNameFn setNameFn) {
      bool isInteger = getType().getElementType().isInteger();
      setNameFn(getOutput(), isInteger ? "c" : "cst");
    }
  }];
  let hasFolder = 1;
}

def StableHLO_IotaOp : StableHLO_PureOp<"iota"> {
  let summary = "Each element's index along one dimension";
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$iota_dimension);
  let results = (outs StableHLO_Tensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The same elements in another shape or order
//===----------------------------------------------------------------------===//

def StableHLO_BitcastConvertOp : StableHLO_PureOp<"bitcast_convert"> {
  let summary = "The bits of a tensor as another element type";
  let description = [{
    Between element types of different widths, the wider tensor lacks the last
    dimension of the narrower one.
  }];
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_BroadcastInDimOp
    : StableHLO_PureOp<"broadcast_in_dim", [SameOperandsAndResultElementType]> {
  let summary = "Repetition along new dimensions and along those of size 1";
  let description = [{
    Operand dimension `i` becomes result dimension `broadcast_dimensions[i]`.
  }];
  let arguments = (ins StableHLO_Tensor:$operand,
                       DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict
    `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def StableHLO_ReshapeOp
    : StableHLO_PureOp<"reshape", [SameOperandsAndResultElementType]> {
  let summary = "The same elements, in row-major order, in another shape";
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def StableHLO_TransposeOp
    : StableHLO_PureOp<"transpose", [SameOperandsAndResultElementType,
                                     StableHLO_InferredTypes]> {
  let summary = "Permutation of the dimensions";
  let description = "Result dimension `i` is operand dimension `permutation[i]`.";
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $permutation attr-dict
    `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

def StableHLO_ReverseOp
    : StableHLO_PureOp<"reverse", [SameOperandsAndResultType]> {
  let summary = "Reversal of the order along some dimensions";
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Cutting and joining
//===----------------------------------------------------------------------===//

def StableHLO_SliceOp
    : StableHLO_PureOp<"slice", [SameOperandsAndResultElementType,
                                 StableHLO_InferredTypes]> {
  let summary = "A strided part with fixed bounds";
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$start_indices,
                       DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

def StableHLO_PadOp
    : StableHLO_PureOp<"pad", [SameOperandsAndResultElementType,
                               StableHLO_InferredTypes]> {
  let summary = "Padding around and between the elements";
  let description = "Negative padding at an edge cuts off.";
  let arguments = (ins StableHLO_Tensor:$operand,
                       StableHLO_ScalarTensor:$padding_value,
                       DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high,
                       DenseI64ArrayAttr:$interior_padding);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,`
    `high` `=` $edge_padding_high `,` `interior` `=` $interior_padding
    attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_ConcatenateOp
    : StableHLO_PureOp<"concatenate", [SameOperandsAndResultElementType,
                                       StableHLO_InferredTypes]> {
  let summary = "Tensors joined along one dimension";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    custom<OperandsBeforeKeyword>($inputs) `dim` `=` $dimension attr-dict
    `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOSHAPEOPS_TD
