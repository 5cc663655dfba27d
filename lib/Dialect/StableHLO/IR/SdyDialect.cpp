//===- SdyDialect.cpp - Shardings that an export may carry ----------------===//

#include "amsp/Dialect/StableHLO/IR/SdyDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace amsp::sdy;

//===----------------------------------------------------------------------===//
// MeshOp
//===----------------------------------------------------------------------===//

/// `<["x"=2, "y"=4]>`
static ParseResult parseAxes(OpAsmParser &parser, ArrayAttr &names,
                             DenseI64ArrayAttr &sizes) {
  SmallVector<Attribute> nameAttrs;
  SmallVector<int64_t> sizeValues;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseInteger(sizeValues.emplace_back()))
      return failure();
    nameAttrs.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis,
                                     " in mesh axes") ||
      parser.parseGreater())
    return failure();
  names = parser.getBuilder().getArrayAttr(nameAttrs);
  sizes = parser.getBuilder().getDenseI64ArrayAttr(sizeValues);
  return success();
}

static void printAxes(OpAsmPrinter &printer, Operation *, ArrayAttr names,
                      DenseI64ArrayAttr sizes) {
  printer << "<[";
  llvm::interleaveComma(
      llvm::zip(names, sizes.asArrayRef()), printer, [&](auto axis) {
        printer << std::get<0>(axis) << '=' << std::get<1>(axis);
      });
  printer << "]>";
}

int64_t MeshOp::getNumDevices() { return llvm::product_of(getAxisSizes()); }

#define GET_OP_CLASSES
#include "amsp/Dialect/StableHLO/IR/SdyOps.cpp.inc"

//===----------------------------------------------------------------------===//
// The dialect
//===----------------------------------------------------------------------===//

#include "amsp/Dialect/StableHLO/IR/SdyDialect.cpp.inc"

void SdyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "amsp/Dialect/StableHLO/IR/SdyOps.cpp.inc"
      >();
}

Attribute SdyDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  return OpaqueAttr::getChecked(
      [&] { return parser.emitError(parser.getNameLoc()); },
      StringAttr::get(getContext(), getNamespace()), parser.getFullSymbolSpec(),
      NoneType::get(getContext()));
}

static ParseResult refuseOperation(OpAsmParser &parser,
                                   OperationState &result) {
  return parser.emitError(parser.getNameLoc())
         << "'" << result.name
         << "' shards the step over devices; export it for one device, "
            "without shardings";
}

std::optional<Dialect::ParseOpHook>
SdyDialect::getParseOperationHook(StringRef) const {
  return ParseOpHook(refuseOperation);
}
