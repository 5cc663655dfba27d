//===- AssemblyFormat.cpp - Custom directives of the ops' text ------------===//

#include "AssemblyFormat.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// `types` are the operands' and, last, the result's.
static ParseResult parseTypes(OpAsmParser &parser, ArrayRef<Type *> types) {
  SMLoc location = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto signature = dyn_cast<FunctionType>(type);
  if (!signature) {
    for (Type *each : types)
      *each = type;
    return success();
  }
  if (signature.getNumInputs() != types.size() - 1 ||
      signature.getNumResults() != 1)
    return parser.emitError(location)
           << "expected " << types.size() - 1
           << " operand types and 1 result type, but got " << signature;
  for (auto [each, input] : llvm::zip(types, signature.getInputs()))
    *each = input;
  *types.back() = signature.getResult(0);
  return success();
}

static void printTypes(OpAsmPrinter &printer, ArrayRef<Type> types) {
  if (llvm::all_equal(types))
    printer << types.front();
  else
    printer.printFunctionalType(types.drop_back(), types.take_back());
}

ParseResult amsp::stablehlo::parseTypesOrSignature(OpAsmParser &parser,
                                                   Type &operand,
                                                   Type &result) {
  return parseTypes(parser, {&operand, &result});
}

void amsp::stablehlo::printTypesOrSignature(OpAsmPrinter &printer, Operation *,
                                            Type operand, Type result) {
  printTypes(printer, {operand, result});
}

ParseResult amsp::stablehlo::parseTypesOrSignature(OpAsmParser &parser,
                                                   Type &first, Type &second,
                                                   Type &third, Type &result) {
  return parseTypes(parser, {&first, &second, &third, &result});
}

void amsp::stablehlo::printTypesOrSignature(OpAsmPrinter &printer, Operation *,
                                            Type first, Type second, Type third,
                                            Type result) {
  printTypes(printer, {first, second, third, result});
}

ParseResult amsp::stablehlo::parseComplexType(OpAsmParser &parser, Type &lhs,
                                              Type &rhs, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(result);
  auto complex =
      tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : nullptr;
  if (!complex)
    return parser.emitError(location)
           << "expected a tensor of complex numbers, but got " << result;
  lhs = rhs = tensor.clone(complex.getElementType());
  return success();
}

void amsp::stablehlo::printComplexType(OpAsmPrinter &printer, Operation *, Type,
                                       Type, Type result) {
  printer << result;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

ParseResult amsp::stablehlo::parseNumberFormat(OpAsmParser &parser,
                                               IntegerAttr &exponentBits,
                                               IntegerAttr &mantissaBits) {
  SMLoc location = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  StringRef rest = keyword;
  unsigned exponent, mantissa;
  if (!rest.consume_front("e") || rest.consumeInteger(10, exponent) ||
      !rest.consume_front("m") || rest.getAsInteger(10, mantissa))
    return parser.emitError(location)
           << "expected a number format such as e8m7, but got " << keyword;
  exponentBits = parser.getBuilder().getI32IntegerAttr(exponent);
  mantissaBits = parser.getBuilder().getI32IntegerAttr(mantissa);
  return success();
}

void amsp::stablehlo::printNumberFormat(OpAsmPrinter &printer, Operation *,
                                        IntegerAttr exponentBits,
                                        IntegerAttr mantissaBits) {
  printer << 'e' << exponentBits.getInt() << 'm' << mantissaBits.getInt();
}

ParseResult amsp::stablehlo::parseSliceRanges(OpAsmParser &parser,
                                              DenseI64ArrayAttr &starts,
                                              DenseI64ArrayAttr &limits,
                                              DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> start, limit, stride;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseInteger(start.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limit.emplace_back()))
      return failure();
    if (failed(parser.parseOptionalColon())) {
      stride.push_back(1);
      return success();
    }
    return parser.parseInteger(stride.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange,
                                     " in slice ranges"))
    return failure();
  starts = parser.getBuilder().getDenseI64ArrayAttr(start);
  limits = parser.getBuilder().getDenseI64ArrayAttr(limit);
  strides = parser.getBuilder().getDenseI64ArrayAttr(stride);
  return success();
}

void amsp::stablehlo::printSliceRanges(OpAsmPrinter &printer, Operation *,
                                       DenseI64ArrayAttr starts,
                                       DenseI64ArrayAttr limits,
                                       DenseI64ArrayAttr strides) {
  printer << '[';
  llvm::interleaveComma(llvm::zip_equal(starts.asArrayRef(),
                                        limits.asArrayRef(),
                                        strides.asArrayRef()),
                        printer, [&](auto range) {
                          auto [start, limit, stride] = range;
                          printer << start << ':' << limit;
                          if (stride != 1)
                            printer << ':' << stride;
                        });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

ParseResult amsp::stablehlo::parseOperandsBeforeKeyword(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult parsed = parser.parseOptionalOperand(operand);
    if (!parsed.has_value())
      return operands.empty() ? parser.parseComma() : ParseResult::success();
    if (failed(*parsed) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

void amsp::stablehlo::printOperandsBeforeKeyword(OpAsmPrinter &printer,
                                                 Operation *,
                                                 OperandRange operands) {
  printer << operands << ',';
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

static ParseResult parseDimensions(OpAsmParser &parser,
                                   SmallVectorImpl<int64_t> &dimensions) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(dimensions.emplace_back());
  });
}

/// `= [lhs] x [rhs]`
static ParseResult parseDimensionPair(OpAsmParser &parser,
                                      SmallVectorImpl<int64_t> &lhs,
                                      SmallVectorImpl<int64_t> &rhs) {
  return failure(parser.parseEqual() || parseDimensions(parser, lhs) ||
                 parser.parseKeyword("x") || parseDimensions(parser, rhs));
}

static ParseResult parsePrecisionConfig(OpAsmParser &parser,
                                        ArrayAttr &precisionConfig) {
  using amsp::stablehlo::PrecisionAttr;
  SmallVector<Attribute> precisions;
  auto parsePrecision = [&]() -> ParseResult {
    auto precision = dyn_cast_if_present<PrecisionAttr>(
        PrecisionAttr::parse(parser, Type()));
    precisions.push_back(precision);
    return failure(!precision);
  };
  if (parser.parseEqual() || parser.parseCommaSeparatedList(
                                 AsmParser::Delimiter::Square, parsePrecision))
    return failure();
  precisionConfig = parser.getBuilder().getArrayAttr(precisions);
  return success();
}

static ParseResult
parseAlgorithm(OpAsmParser &parser,
               amsp::stablehlo::DotAlgorithmAttr &algorithm) {
  if (parser.parseEqual())
    return failure();
  algorithm = dyn_cast_if_present<amsp::stablehlo::DotAlgorithmAttr>(
      amsp::stablehlo::DotAlgorithmAttr::parse(parser, Type()));
  return failure(!algorithm);
}

ParseResult amsp::stablehlo::parseDotOptions(
    OpAsmParser &parser, DotDimensionNumbersAttr &dimensionNumbers,
    ArrayAttr &precisionConfig, DotAlgorithmAttr &algorithm) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parseDimensionPair(parser, lhsBatching, rhsBatching) ||
       parser.parseComma()))
    return failure();
  if (parser.parseKeyword("contracting_dims") ||
      parseDimensionPair(parser, lhsContracting, rhsContracting))
    return failure();
  dimensionNumbers =
      DotDimensionNumbersAttr::get(parser.getContext(), lhsBatching,
                                   rhsBatching, lhsContracting, rhsContracting);

  while (succeeded(parser.parseOptionalComma())) {
    if (!precisionConfig && !algorithm &&
        succeeded(parser.parseOptionalKeyword("precision"))) {
      if (parsePrecisionConfig(parser, precisionConfig))
        return failure();
      continue;
    }
    if (algorithm)
      return parser.emitError(parser.getCurrentLocation(), "unexpected option");
    if (parser.parseKeyword("algorithm") || parseAlgorithm(parser, algorithm))
      return failure();
  }
  return success();
}

void amsp::stablehlo::printDotOptions(OpAsmPrinter &printer, Operation *,
                                      DotDimensionNumbersAttr dimensionNumbers,
                                      ArrayAttr precisionConfig,
                                      DotAlgorithmAttr algorithm) {
  auto printPair = [&](StringRef name, ArrayRef<int64_t> lhs,
                       ArrayRef<int64_t> rhs) {
    printer << name << " = [" << lhs << "] x [" << rhs << ']';
  };
  ArrayRef<int64_t> lhsBatching = dimensionNumbers.getLhsBatchingDimensions();
  ArrayRef<int64_t> rhsBatching = dimensionNumbers.getRhsBatchingDimensions();
  if (!lhsBatching.empty() || !rhsBatching.empty()) {
    printPair("batching_dims", lhsBatching, rhsBatching);
    printer << ", ";
  }
  printPair("contracting_dims", dimensionNumbers.getLhsContractingDimensions(),
            dimensionNumbers.getRhsContractingDimensions());
  if (precisionConfig) {
    printer << ", precision = [";
    llvm::interleaveComma(precisionConfig.getAsRange<PrecisionAttr>(), printer,
                          [&](PrecisionAttr precision) {
                            printer << stringifyPrecision(precision.getValue());
                          });
    printer << ']';
  }
  if (algorithm) {
    printer << ", algorithm = ";
    printer.printStrippedAttrOrType(algorithm);
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

ParseResult amsp::stablehlo::parseCallTarget(OpAsmParser &parser,
                                             StringAttr &target) {
  return parser.parseSymbolName(target);
}

void amsp::stablehlo::printCallTarget(OpAsmPrinter &printer, Operation *,
                                      StringAttr target) {
  printer.printSymbolName(target);
}
