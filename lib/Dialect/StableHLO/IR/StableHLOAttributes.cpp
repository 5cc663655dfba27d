//===- StableHLOAttributes.cpp - Attributes of the ops --------------------===//

#include "amsp/Dialect/StableHLO/IR/StableHLOAttributes.h"
#include "amsp/Dialect/StableHLO/IR/StableHLODialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace amsp::stablehlo;

namespace amsp::stablehlo {

static FailureOr<SmallVector<int64_t>> parseDimensionList(AsmParser &parser) {
  SmallVector<int64_t> dimensions;
  auto parseDimension = [&] {
    return parser.parseInteger(dimensions.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseDimension, " in dimension list"))
    return failure();
  return dimensions;
}

static void printDimensionList(AsmPrinter &printer,
                               ArrayRef<int64_t> dimensions) {
  printer << '[' << dimensions << ']';
}

static FailureOr<APFloat> parseTolerance(AsmParser &parser) {
  double value;
  if (parser.parseFloat(value))
    return failure();
  return APFloat(value);
}

} // namespace amsp::stablehlo

#include "amsp/Dialect/StableHLO/IR/StableHLOEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "amsp/Dialect/StableHLO/IR/StableHLOAttributes.cpp.inc"

ResultAccuracyAttr amsp::stablehlo::getResultAccuracy(MLIRContext *context,
                                                      ResultAccuracyMode mode) {
  APFloat zero(0.0);
  return ResultAccuracyAttr::get(context, zero, zero, /*ulps=*/0,
                                 ResultAccuracyModeAttr::get(context, mode));
}

void StableHLODialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "amsp/Dialect/StableHLO/IR/StableHLOAttributes.cpp.inc"
      >();
}
