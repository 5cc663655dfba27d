//===- StableHLOAttributes.td - Attributes of the ops ---------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOATTRIBUTES_TD
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "amsp/Dialect/StableHLO/IR/StableHLODialect.td"

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class StableHLO_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::amsp::stablehlo";
}

// Prints a space before its value: in the text of an op, write `` before it.
class StableHLO_EnumAttr<EnumInfo info, string mnemonic>
    : EnumAttr<StableHLO_Dialect, info, mnemonic>;

def StableHLO_ComparisonDirection
    : StableHLO_Enum<"ComparisonDirection", "Which comparison to make",
                     [I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>,
                      I32EnumAttrCase<"GE", 2>, I32EnumAttrCase<"GT", 3>,
                      I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def StableHLO_ComparisonDirectionAttr
    : StableHLO_EnumAttr<StableHLO_ComparisonDirection, "comparison_direction">;

def StableHLO_ComparisonType
    : StableHLO_Enum<"ComparisonType", "How to order the elements compared",
                     [I32EnumAttrCase<"NOTYPE", 0>,
                      I32EnumAttrCase<"FLOAT", 1>,
                      I32EnumAttrCase<"TOTALORDER", 2>,
                      I32EnumAttrCase<"SIGNED", 3>,
                      I32EnumAttrCase<"UNSIGNED", 4>]>;
def StableHLO_ComparisonTypeAttr
    : StableHLO_EnumAttr<StableHLO_ComparisonType, "comparison_type">;

def StableHLO_Precision
    : StableHLO_Enum<"Precision", "How exactly to multiply",
                     [I32EnumAttrCase<"DEFAULT", 0>,
                      I32EnumAttrCase<"HIGH", 1>,
                      I32EnumAttrCase<"HIGHEST", 2>]>;
def StableHLO_PrecisionAttr
    : StableHLO_EnumAttr<StableHLO_Precision, "precision">;
def StableHLO_PrecisionArrayAttr
    : TypedArrayAttrBase<StableHLO_PrecisionAttr, "array of precisions">;

def StableHLO_RngAlgorithm
    : StableHLO_Enum<"RngAlgorithm", "How to make random bits",
                     [I32EnumAttrCase<"DEFAULT", 0>,
                      I32EnumAttrCase<"THREE_FRY", 1>,
                      I32EnumAttrCase<"PHILOX", 2>]>;
def StableHLO_RngAlgorithmAttr
    : StableHLO_EnumAttr<StableHLO_RngAlgorithm, "rng_algorithm">;

def StableHLO_ResultAccuracyMode
    : StableHLO_Enum<"ResultAccuracyMode", "How exact a function must be",
                     [I32EnumAttrCase<"DEFAULT", 0>,
                      I32EnumAttrCase<"HIGHEST", 1>,
                      I32EnumAttrCase<"TOLERANCE", 2>]>;
def StableHLO_ResultAccuracyModeAttr
    : StableHLO_EnumAttr<StableHLO_ResultAccuracyMode, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

// Written as an integer.
def StableHLO_CustomCallApiVersionAttr
    : I32EnumAttr<"CustomCallApiVersion", "How the runtime calls a function",
                  [I32EnumAttrCase<"API_VERSION_UNSPECIFIED", 0>,
                   I32EnumAttrCase<"API_VERSION_ORIGINAL", 1>,
                   I32EnumAttrCase<"API_VERSION_STATUS_RETURNING", 2>,
                   I32EnumAttrCase<"API_VERSION_STATUS_RETURNING_UNIFIED", 3>,
                   I32EnumAttrCase<"API_VERSION_TYPED_FFI", 4>]> {
  let cppNamespace = "::amsp::stablehlo";
}

//===----------------------------------------------------------------------===//
// Structures. Fields that are empty or zero are not printed.
//===----------------------------------------------------------------------===//

class StableHLO_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<StableHLO_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
}

// A list of dimension numbers in brackets.
class StableHLO_Dims<string desc = ""> : OptionalArrayRefParameter<"int64_t", desc> {
  let parser = "::amsp::stablehlo::parseDimensionList($_parser)";
  let printer = "::amsp::stablehlo::printDimensionList($_printer, $_self)";
}

// The same, printed also where it is empty.
def StableHLO_RequiredDims : ArrayRefParameter<"int64_t"> {
  let parser = "::amsp::stablehlo::parseDimensionList($_parser)";
  let printer = "::amsp::stablehlo::printDimensionList($_printer, $_self)";
}

def StableHLO_GatherDimensionNumbersAttr
    : StableHLO_Attr<"GatherDimensionNumbers", "gather"> {
  let summary = "Which dimensions a gather reads, and where they go";
  let parameters = (ins
    StableHLO_Dims<"result dimensions that index into a slice">:$offset_dims,
    StableHLO_Dims<"slice dimensions of size 1 left out of the result">:$collapsed_slice_dims,
    StableHLO_Dims<>:$operand_batching_dims,
    StableHLO_Dims<>:$start_indices_batching_dims,
    StableHLO_Dims<"the operand dimension that each component of an index addresses">:$start_index_map,
    DefaultValuedParameter<"int64_t", "0">:$index_vector_dim);
}

def StableHLO_ScatterDimensionNumbersAttr
    : StableHLO_Attr<"ScatterDimensionNumbers", "scatter"> {
  let summary = "Which dimensions a scatter writes, and where they come from";
  let parameters = (ins
    StableHLO_Dims<"update dimensions that index into a window">:$update_window_dims,
    StableHLO_Dims<"window dimensions of size 1 left out of the updates">:$inserted_window_dims,
    StableHLO_Dims<>:$input_batching_dims,
    StableHLO_Dims<>:$scatter_indices_batching_dims,
    StableHLO_Dims<"the operand dimension that each component of an index addresses">:$scatter_dims_to_operand_dims,
    DefaultValuedParameter<"int64_t", "0">:$index_vector_dim);
}

def StableHLO_DotDimensionNumbersAttr
    : StableHLO_Attr<"DotDimensionNumbers", "dot"> {
  let summary = "Which dimensions a contraction pairs and sums";
  let parameters = (ins
    StableHLO_Dims<>:$lhs_batching_dimensions,
    StableHLO_Dims<>:$rhs_batching_dimensions,
    StableHLO_Dims<>:$lhs_contracting_dimensions,
    StableHLO_Dims<>:$rhs_contracting_dimensions);
}

def StableHLO_ConvDimensionNumbersAttr
    : AttrDef<StableHLO_Dialect, "ConvDimensionNumbers"> {
  let mnemonic = "conv";
  let summary = "What each dimension of a convolution is";
  let description = [{
    Written as a letter or the number of a spatial dimension in the place of
    each dimension: `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`.
  }];
  let parameters = (ins
    "int64_t":$input_batch_dimension,
    "int64_t":$input_feature_dimension,
    StableHLO_Dims<>:$input_spatial_dimensions,
    "int64_t":$kernel_input_feature_dimension,
    "int64_t":$kernel_output_feature_dimension,
    StableHLO_Dims<>:$kernel_spatial_dimensions,
    "int64_t":$output_batch_dimension,
    "int64_t":$output_feature_dimension,
    StableHLO_Dims<>:$output_spatial_dimensions);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_OutputOperandAliasAttr
    : StableHLO_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "A result of a custom call that is written over an operand";
  let parameters = (ins
    StableHLO_RequiredDims:$output_tuple_indices,
    "int64_t":$operand_index,
    StableHLO_RequiredDims:$operand_tuple_indices);
}

def StableHLO_DotAlgorithmAttr
    : StableHLO_Attr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "The number formats inside a contraction";
  let parameters = (ins
    "::mlir::Type":$lhs_precision_type,
    "::mlir::Type":$rhs_precision_type,
    "::mlir::Type":$accumulation_type,
    "int64_t":$lhs_component_count,
    "int64_t":$rhs_component_count,
    "int64_t":$num_primitive_operations,
    "bool":$allow_imprecise_accumulation);
}

def StableHLO_ChannelHandleAttr
    : StableHLO_Attr<"ChannelHandle", "channel_handle"> {
  let summary = "The channel of a collective";
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
}

def StableHLO_Tolerance
    : DefaultValuedParameter<"::llvm::APFloat", "::llvm::APFloat(0.0)"> {
  let parser = "::amsp::stablehlo::parseTolerance($_parser)";
  let printer = "$_printer << $_self";
}

// Printed in full, `#stablehlo.result_accuracy_mode<HIGHEST>`.
def StableHLO_ResultAccuracyModeParameter
    : AttrParameter<"::amsp::stablehlo::ResultAccuracyModeAttr", "what counts"> {
  let printer = "$_printer.printAttribute($_self)";
}

def StableHLO_ResultAccuracyAttr
    : StableHLO_Attr<"ResultAccuracy", "result_accuracy"> {
  let summary = "How far the result of a function may be off";
  let parameters = (ins
    StableHLO_Tolerance:$atol,
    StableHLO_Tolerance:$rtol,
    DefaultValuedParameter<"int64_t", "0">:$ulps,
    StableHLO_ResultAccuracyModeParameter:$mode);
}

// Printed only where it asks for something.
def StableHLO_OptionalResultAccuracy
    : DefaultValuedOptionalAttr<
          StableHLO_ResultAccuracyAttr,
          "::amsp::stablehlo::ResultAccuracyMode::DEFAULT"> {
  let constBuilderCall =
      "::amsp::stablehlo::getResultAccuracy($_builder.getContext(), $0)";
}

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOATTRIBUTES_TD
