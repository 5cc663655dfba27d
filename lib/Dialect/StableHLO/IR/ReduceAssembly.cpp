//===- ReduceAssembly.cpp - The text of a reduction -----------------------===//
//
// Short, if the region is one commutative op on its arguments in order:
//   (%a init: %b) applies stablehlo.add across dimensions = [0] : types
// else with the region after the types, the arguments in pairs:
//   (%a init: %b), (%c init: %d) across dimensions = [0] : types
//    reducer(%x: t, %y: t) (%z: u, %w: u) { ... }
//
//===----------------------------------------------------------------------===//

#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace amsp::stablehlo;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// The op of the short form, or null if that form would lose something.
static Operation *getOpOfShortForm(ReduceOp op) {
  Operation *combiner = op.getSingleCombiner();
  if (!combiner || !combiner->hasTrait<OpTrait::IsCommutative>() ||
      !combiner->getAttrs().empty())
    return nullptr;
  Type elementType =
      cast<ShapedType>(op.getInputs().front().getType()).getElementType();
  auto scalar = RankedTensorType::get({}, elementType);
  bool sameTypes =
      llvm::all_of(llvm::concat<const Type>(
                       SmallVector<Type>(combiner->getOperandTypes()),
                       SmallVector<Type>(combiner->getResultTypes()),
                       SmallVector<Type>(op.getInitValues().getTypes())),
                   [&](Type type) { return type == scalar; });
  return sameTypes ? combiner : nullptr;
}

void ReduceOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleave(
      llvm::zip(getInputs(), getInitValues()), printer,
      [&](auto pair) {
        printer << std::get<0>(pair) << " init: " << std::get<1>(pair);
      },
      "), (");
  printer << ')';

  Operation *combiner = getOpOfShortForm(*this);
  if (combiner)
    printer << " applies " << combiner->getName();
  printer << " across dimensions = [";
  llvm::interleaveComma(getDimensions(), printer);
  printer << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {getDimensionsAttrName()});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (combiner)
    return;

  printer.printNewline();
  printer << " reducer";
  Block &block = getBody().front();
  unsigned count = block.getNumArguments() / 2;
  for (unsigned index = 0; index < count; ++index) {
    printer << '(';
    printer.printRegionArgument(block.getArgument(index));
    printer << ", ";
    printer.printRegionArgument(block.getArgument(index + count));
    printer << ") ";
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// `reducer(%x: t, %y: t) (%z: u, %w: u) { ... }`
static ParseResult parseReducer(OpAsmParser &parser, size_t inputs,
                                Region &region) {
  if (parser.parseKeyword("reducer"))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments, elements;
  for (size_t index = 0; index < inputs; ++index)
    if (parser.parseLParen() ||
        parser.parseArgument(arguments.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() ||
        parser.parseArgument(elements.emplace_back(), /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  arguments.append(elements);
  return parser.parseRegion(region, arguments);
}

/// Fills the region of the short form. Everything in it has the location that
/// follows the op.
static ParseResult buildReducer(OpAsmParser &parser, OperationName name,
                                Type inputType, Region &region,
                                OperationState &result) {
  std::optional<Location> location;
  if (parser.parseOptionalLocationSpecifier(location))
    return failure();
  if (location)
    result.location = *location;

  auto scalar =
      RankedTensorType::get({}, cast<ShapedType>(inputType).getElementType());
  Block &block = region.emplaceBlock();
  block.addArguments({scalar, scalar}, {result.location, result.location});
  OpBuilder builder(parser.getContext());
  builder.setInsertionPointToStart(&block);
  Operation *combiner = builder.create(result.location, name.getIdentifier(),
                                       block.getArguments(), scalar);
  ReturnOp::create(builder, result.location, combiner->getResults());
  return success();
}

static ParseResult parseCombinerName(OpAsmParser &parser,
                                     std::optional<OperationName> &name) {
  if (failed(parser.parseOptionalKeyword("applies")))
    return success();
  SMLoc location = parser.getCurrentLocation();
  FailureOr<OperationName> parsed = parser.parseCustomOperationName();
  if (failed(parsed))
    return failure();
  if (!parsed->isRegistered() || !parsed->hasTrait<OpTrait::IsCommutative>() ||
      !parsed->hasTrait<OpTrait::NOperands<2>::Impl>())
    return parser.emitError(location)
           << "expected a commutative op of two operands, but got " << *parsed;
  name = *parsed;
  return success();
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands, initValues;
  SMLoc location = parser.getCurrentLocation();
  do {
    if (parser.parseLParen() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(initValues.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  size_t inputs = operands.size();
  operands.append(initValues);

  std::optional<OperationName> combiner;
  SmallVector<int64_t> dimensions;
  FunctionType types;
  if (parseCombinerName(parser, combiner) || parser.parseKeyword("across") ||
      parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parser.parseInteger(dimensions.emplace_back()); }) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(types) ||
      parser.resolveOperands(operands, types.getInputs(), location,
                             result.operands))
    return failure();
  result.getOrAddProperties<Properties>().dimensions =
      parser.getBuilder().getDenseI64ArrayAttr(dimensions);
  result.addTypes(types.getResults());

  Region &region = *result.addRegion();
  if (!combiner)
    return parseReducer(parser, inputs, region);
  if (inputs != 1 || !isa<RankedTensorType>(types.getInput(0)))
    return parser.emitError(location,
                            "'applies' requires one input, a ranked tensor");
  return buildReducer(parser, *combiner, types.getInput(0), region, result);
}
