//===- ConvolutionAssembly.cpp - Text of convolutions ---------------------===//

#include "AssemblyFormat.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace amsp::stablehlo;

//===----------------------------------------------------------------------===//
// Dimension numbers: [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
//===----------------------------------------------------------------------===//

namespace {
/// What the dimensions of one tensor are: two named ones, the others spatial.
struct DimensionNames {
  int64_t first = -1, second = -1;
  SmallVector<int64_t> spatial;
};
} // namespace

static void printDimensions(AsmPrinter &printer, StringRef names, int64_t first,
                            int64_t second, ArrayRef<int64_t> spatial) {
  SmallVector<std::string> texts(spatial.size() + 2);
  auto name = [&](int64_t dim, const Twine &text) {
    if (dim >= 0 && dim < static_cast<int64_t>(texts.size()))
      texts[dim] = text.str();
  };
  name(first, names.take_front());
  name(second, names.drop_front());
  for (auto [number, dim] : llvm::enumerate(spatial))
    name(dim, Twine(number));
  printer << '[';
  llvm::interleaveComma(texts, printer);
  printer << ']';
}

static ParseResult parseDimensions(AsmParser &parser, StringRef names,
                                   DimensionNames &dims) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<std::pair<int64_t, int64_t>> spatial;
  int64_t dim = 0;
  auto parseName = [&]() -> ParseResult {
    int64_t number;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value()) {
      spatial.push_back({number, dim++});
      return *isNumber;
    }
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    int64_t *named = name == names.take_front()   ? &dims.first
                     : name == names.drop_front() ? &dims.second
                                                  : nullptr;
    if (!named || *named != -1)
      return parser.emitError(at)
             << "expected one each of '" << names.take_front() << "' and '"
             << names.drop_front() << "', but got '" << name << "'";
    *named = dim++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseName))
    return failure();
  llvm::sort(spatial);
  for (auto [number, entry] : llvm::enumerate(spatial)) {
    if (entry.first != static_cast<int64_t>(number))
      return parser.emitError(location)
             << "expected the spatial dimensions 0 to " << spatial.size() - 1;
    dims.spatial.push_back(entry.second);
  }
  if (dims.first == -1 || dims.second == -1)
    return parser.emitError(location)
           << "expected dimensions '" << names.take_front() << "' and '"
           << names.drop_front() << "'";
  return success();
}

static ConvDimensionNumbersAttr parseNumbers(AsmParser &parser) {
  DimensionNames input, kernel, output;
  if (parseDimensions(parser, "bf", input) || parser.parseKeyword("x") ||
      parseDimensions(parser, "io", kernel) || parser.parseArrow() ||
      parseDimensions(parser, "bf", output))
    return {};
  return ConvDimensionNumbersAttr::get(
      parser.getContext(), input.first, input.second, input.spatial,
      kernel.first, kernel.second, kernel.spatial, output.first, output.second,
      output.spatial);
}

static void printNumbers(AsmPrinter &printer,
                         ConvDimensionNumbersAttr numbers) {
  printDimensions(printer, "bf", numbers.getInputBatchDimension(),
                  numbers.getInputFeatureDimension(),
                  numbers.getInputSpatialDimensions());
  printer << 'x';
  printDimensions(printer, "io", numbers.getKernelInputFeatureDimension(),
                  numbers.getKernelOutputFeatureDimension(),
                  numbers.getKernelSpatialDimensions());
  printer << "->";
  printDimensions(printer, "bf", numbers.getOutputBatchDimension(),
                  numbers.getOutputFeatureDimension(),
                  numbers.getOutputSpatialDimensions());
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  ConvDimensionNumbersAttr numbers = parseNumbers(parser);
  if (!numbers || parser.parseGreater())
    return {};
  return numbers;
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printNumbers(printer, *this);
  printer << '>';
}

ParseResult
amsp::stablehlo::parseConvolutionDimensions(OpAsmParser &parser,
                                            ConvDimensionNumbersAttr &numbers) {
  numbers = parseNumbers(parser);
  return failure(!numbers);
}

void amsp::stablehlo::printConvolutionDimensions(
    OpAsmPrinter &printer, Operation *, ConvDimensionNumbersAttr numbers) {
  printNumbers(printer, numbers);
}

//===----------------------------------------------------------------------===//
// Windows: stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], ...
//===----------------------------------------------------------------------===//

static ParseResult parsePadding(OpAsmParser &parser,
                                DenseIntElementsAttr &padding) {
  SmallVector<int64_t> values;
  auto parsePair = [&]() -> ParseResult {
    return failure(
        parser.parseLSquare() || parser.parseInteger(values.emplace_back()) ||
        parser.parseComma() || parser.parseInteger(values.emplace_back()) ||
        parser.parseRSquare());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair))
    return failure();
  int64_t rows = values.size() / 2;
  padding = DenseIntElementsAttr::get(
      RankedTensorType::get({rows, 2}, parser.getBuilder().getI64Type()),
      values);
  return success();
}

static ParseResult parseReversal(OpAsmParser &parser,
                                 DenseBoolArrayAttr &reversal) {
  SmallVector<bool> values;
  auto parseValue = [&]() -> ParseResult {
    int64_t number;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value()) {
      values.push_back(number != 0);
      return *isNumber;
    }
    SMLoc location = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    if (keyword != "true" && keyword != "false")
      return parser.emitError(location) << "expected true or false";
    values.push_back(keyword == "true");
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseValue))
    return failure();
  reversal = parser.getBuilder().getDenseBoolArrayAttr(values);
  return success();
}

static ParseResult parseNumberList(OpAsmParser &parser,
                                   DenseI64ArrayAttr &list) {
  SmallVector<int64_t> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(values.emplace_back());
      }))
    return failure();
  list = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

ParseResult amsp::stablehlo::parseWindowAttributes(
    OpAsmParser &parser, DenseI64ArrayAttr &strides,
    DenseIntElementsAttr &padding, DenseI64ArrayAttr &lhsDilation,
    DenseI64ArrayAttr &rhsDilation, DenseBoolArrayAttr &reversal) {
  auto parseField = [&](StringRef name) -> ParseResult {
    if (name == "stride")
      return parseNumberList(parser, strides);
    if (name == "pad")
      return parsePadding(parser, padding);
    if (name == "lhs_dilate")
      return parseNumberList(parser, lhsDilation);
    if (name == "rhs_dilate")
      return parseNumberList(parser, rhsDilation);
    return parseReversal(parser, reversal);
  };
  SmallVector<StringRef> remaining = {"stride", "pad", "lhs_dilate",
                                      "rhs_dilate", "reverse"};
  StringRef name;
  // The closing brace is the op's own.
  while (succeeded(parser.parseOptionalKeyword(&name, remaining))) {
    if (parser.parseEqual() || parseField(name))
      return failure();
    llvm::erase(remaining, name);
    if (failed(parser.parseOptionalComma()))
      break;
  }
  return success();
}

void amsp::stablehlo::printWindowAttributes(OpAsmPrinter &printer, Operation *,
                                            DenseI64ArrayAttr strides,
                                            DenseIntElementsAttr padding,
                                            DenseI64ArrayAttr lhsDilation,
                                            DenseI64ArrayAttr rhsDilation,
                                            DenseBoolArrayAttr reversal) {
  StringRef separator = "";
  auto beginField = [&](StringRef name) -> raw_ostream & {
    raw_ostream &os = printer.getStream();
    os << separator << name << " = [";
    separator = ", ";
    return os;
  };
  auto printList = [&](StringRef name, DenseI64ArrayAttr list) {
    if (!list)
      return;
    llvm::interleaveComma(list.asArrayRef(), beginField(name));
    printer << ']';
  };
  printList("stride", strides);
  if (padding) {
    SmallVector<int64_t> values = llvm::to_vector(padding.getValues<int64_t>());
    llvm::interleaveComma(llvm::seq<size_t>(0, values.size() / 2),
                          beginField("pad"), [&](size_t row) {
                            printer << '[' << values[2 * row] << ", "
                                    << values[2 * row + 1] << ']';
                          });
    printer << ']';
  }
  printList("lhs_dilate", lhsDilation);
  printList("rhs_dilate", rhsDilation);
  if (reversal) {
    llvm::interleaveComma(
        reversal.asArrayRef(), beginField("reverse"),
        [&](bool value) { printer << (value ? "true" : "false"); });
    printer << ']';
  }
}
