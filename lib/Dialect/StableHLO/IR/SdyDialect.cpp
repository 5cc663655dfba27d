//===- SdyDialect.cpp - Shardings that an export may carry ----------------===//

#include "amsp/Dialect/StableHLO/IR/SdyDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace amsp::sdy;

//===----------------------------------------------------------------------===//
// MeshOp
//===----------------------------------------------------------------------===//

/// `<["x"=2, "y"=4], device_ids=[0]>`
static ParseResult parseMesh(OpAsmParser &parser, ArrayAttr &names,
                             DenseI64ArrayAttr &sizes,
                             DenseI64ArrayAttr &deviceIds) {
  SmallVector<Attribute> nameAttrs;
  SmallVector<int64_t> sizeValues, ids;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseInteger(sizeValues.emplace_back()))
      return failure();
    nameAttrs.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  auto parseId = [&] { return parser.parseInteger(ids.emplace_back()); };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis,
                                     " in mesh axes"))
    return failure();
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("device_ids") || parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseId,
                                       " in device_ids"))
      return failure();
    deviceIds = parser.getBuilder().getDenseI64ArrayAttr(ids);
  }
  names = parser.getBuilder().getArrayAttr(nameAttrs);
  sizes = parser.getBuilder().getDenseI64ArrayAttr(sizeValues);
  return parser.parseGreater();
}

static void printMesh(OpAsmPrinter &printer, Operation *, ArrayAttr names,
                      DenseI64ArrayAttr sizes, DenseI64ArrayAttr deviceIds) {
  printer << "<[";
  llvm::interleaveComma(
      llvm::zip(names, sizes.asArrayRef()), printer, [&](auto axis) {
        printer << std::get<0>(axis) << '=' << std::get<1>(axis);
      });
  printer << ']';
  if (deviceIds) {
    printer << ", device_ids=[";
    llvm::interleaveComma(deviceIds.asArrayRef(), printer);
    printer << ']';
  }
  printer << '>';
}

int64_t MeshOp::getNumDevices() { return llvm::product_of(getAxisSizes()); }

//===----------------------------------------------------------------------===//
// ShardingConstraintOp
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kShards =
    "shards the step over devices; export it for one device, without shardings";

/// `{"x", ?}`; nothing for other forms, which say more than one device needs.
static std::optional<Attribute> parseDimension(OpAsmParser &parser) {
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> axes;
  if (parser.parseOptionalLBrace())
    return std::nullopt;
  while (failed(parser.parseOptionalRBrace())) {
    std::string name;
    if (!axes.empty() && failed(parser.parseOptionalComma()))
      return std::nullopt;
    if (succeeded(parser.parseOptionalString(&name)))
      axes.push_back(builder.getStringAttr(name));
    else if (succeeded(parser.parseOptionalQuestion()))
      axes.push_back(builder.getUnitAttr());
    else
      return std::nullopt;
  }
  return builder.getArrayAttr(axes);
}

/// `<@mesh, [{"x"}, {}]>`
static ParseResult parseSharding(OpAsmParser &parser, FlatSymbolRefAttr &mesh,
                                 ArrayAttr &dimensions) {
  SmallVector<Attribute> parsed;
  auto refuse = [&]() -> ParseResult {
    return parser.emitError(parser.getNameLoc())
           << "'sdy.sharding_constraint' " << kShards;
  };
  auto parseOne = [&]() -> ParseResult {
    std::optional<Attribute> dimension = parseDimension(parser);
    if (!dimension)
      return refuse();
    parsed.push_back(*dimension);
    return success();
  };
  StringAttr name;
  if (parser.parseLess())
    return failure();
  if (failed(parser.parseOptionalSymbolName(name)))
    return refuse();
  if (parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne,
                                     " in a sharding"))
    return failure();
  if (failed(parser.parseOptionalGreater()))
    return refuse();
  mesh = FlatSymbolRefAttr::get(name);
  dimensions = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printSharding(OpAsmPrinter &printer, Operation *,
                          FlatSymbolRefAttr mesh, ArrayAttr dimensions) {
  printer << '<' << mesh << ", [";
  llvm::interleaveComma(dimensions, printer, [&](Attribute dimension) {
    printer << '{';
    llvm::interleaveComma(cast<ArrayAttr>(dimension), printer,
                          [&](Attribute axis) {
                            if (isa<UnitAttr>(axis))
                              printer << '?';
                            else
                              printer << axis;
                          });
    printer << '}';
  });
  printer << "]>";
}

LogicalResult
ShardingConstraintOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto mesh = symbols.lookupNearestSymbolFrom<MeshOp>(*this, getMeshAttr());
  if (!mesh)
    return emitOpError("there is no mesh ") << getMeshAttr();
  if (mesh.getNumDevices() > 1)
    return emitOpError(kShards);
  return success();
}

/// The verifier leaves meshes of one device.
OpFoldResult ShardingConstraintOp::fold(FoldAdaptor) { return getInput(); }

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
         << "'" << result.name << "' " << kShards;
}

std::optional<Dialect::ParseOpHook>
SdyDialect::getParseOperationHook(StringRef) const {
  return ParseOpHook(refuseOperation);
}
