//===- AMSPAttributes.cpp - Groups, placements, roles ---------------------===//

#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace amsp;

int64_t amsp::getGroupSize(ArrayRef<Digit> digits) {
  int64_t size = 1;
  for (const Digit &digit : digits)
    size *= digit.size;
  return size;
}

FailureOr<SmallVector<Digit>> amsp::parseDigits(AsmParser &parser) {
  SmallVector<Digit> digits;
  auto parseDigit = [&]() -> ParseResult {
    Digit &digit = digits.emplace_back();
    return failure(parser.parseInteger(digit.stride) || parser.parseColon() ||
                   parser.parseInteger(digit.size));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDigit))
    return failure();
  return digits;
}

void amsp::printDigits(AsmPrinter &printer, ArrayRef<Digit> digits) {
  printer << '[';
  llvm::interleaveComma(digits, printer, [&](const Digit &digit) {
    printer << digit.stride << ':' << digit.size;
  });
  printer << ']';
}

#include "amsp/Dialect/AMSP/IR/AMSPEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "amsp/Dialect/AMSP/IR/AMSPAttributes.cpp.inc"

int64_t GroupAttr::getSize() const { return getGroupSize(getDigits()); }

LogicalResult GroupAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<Digit> digits) {
  for (const Digit &digit : digits)
    if (digit.stride < 1 || digit.size < 1)
      return emitError() << "a digit needs a positive stride and size, got "
                         << digit.stride << ":" << digit.size;
  return success();
}

PlacementAttr PlacementAttr::getReplicated(MLIRContext *context) {
  return get(context, PlacementKind::Replicated, 0, {});
}

Attribute PlacementAttr::parse(AsmParser &parser, Type) {
  std::string keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeywordOrString(&keyword))
    return {};
  std::optional<PlacementKind> kind = symbolizePlacementKind(keyword);
  if (!kind) {
    parser.emitError(loc, "expected replicated, split or flat");
    return {};
  }
  int64_t dimension = 0;
  SmallVector<Digit> digits;
  if (*kind != PlacementKind::Replicated) {
    if (parser.parseComma() || parser.parseInteger(dimension) ||
        parser.parseComma())
      return {};
    FailureOr<SmallVector<Digit>> parsed = parseDigits(parser);
    if (failed(parsed))
      return {};
    digits = std::move(*parsed);
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), *kind, dimension, digits);
}

void PlacementAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyPlacementKind(getKind());
  if (getKind() != PlacementKind::Replicated) {
    printer << ", " << getDimension() << ", ";
    printDigits(printer, getDigits());
  }
  printer << '>';
}

void AMSPDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "amsp/Dialect/AMSP/IR/AMSPAttributes.cpp.inc"
      >();
}
