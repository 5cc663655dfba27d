//===- AMSPCollectiveOps.cpp - Collectives on tensors ---------------------===//

#include "Pieces.h"
#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace amsp;

#include "amsp/Dialect/AMSP/IR/CollectiveOpInterface.cpp.inc"

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

unsigned CollectiveOpInterface::getNumTensors() {
  return getOperation()->getNumOperands();
}

PartAttr CollectiveOpInterface::getPart(unsigned tensor) {
  return cast<PartAttr>(getParts()[tensor]);
}

bool CollectiveOpInterface::isStart() {
  return isa<PendingType>(getOperation()->getResult(0).getType());
}

AwaitOp CollectiveOpInterface::getAwait() {
  if (!isStart() || getOperation()->use_empty())
    return {};
  return dyn_cast<AwaitOp>(*getOperation()->user_begin());
}

RankedTensorType CollectiveOpInterface::getSourceType(unsigned tensor) {
  return cast<RankedTensorType>(getOperation()->getOperand(tensor).getType());
}

RankedTensorType CollectiveOpInterface::getResultType(unsigned tensor) {
  Type type = getOperation()->getResult(tensor).getType();
  if (auto pending = dyn_cast<PendingType>(type))
    return pending.getTensor();
  return cast<RankedTensorType>(type);
}

RankedTensorType CollectiveOpInterface::getFullType(unsigned tensor) {
  return getKind() == CollectiveKind::AllGather ? getResultType(tensor)
                                                : getSourceType(tensor);
}

RankedTensorType CollectiveOpInterface::getPieceType(unsigned tensor) {
  return getKind() == CollectiveKind::AllGather ? getSourceType(tensor)
                                                : getResultType(tensor);
}

Type CollectiveOpInterface::getElementType() {
  return getSourceType(0).getElementType();
}

bool CollectiveOpInterface::hasParameter() {
  return llvm::any_of(getParts().getAsRange<PartAttr>(), [](PartAttr part) {
    // A buffer packed of several parameters keeps their unit.
    return part.getParameter() || part.getUnit();
  });
}

/// Checks that `full` is cut in pieces of equal size.
static LogicalResult verifyEqualPieces(Operation *op, RankedTensorType full,
                                       GroupAttr group, PartAttr part) {
  std::optional<int64_t> dim = part.getDim();
  int64_t keep = part.getKeep(), rank = full.getRank();
  if (dim && (*dim < 0 || *dim >= rank || keep != 0))
    return op->emitOpError("cannot cut ")
           << full << " along dimension " << *dim
           << (keep != 0 ? " behind kept ones" : "");
  if (keep < 0 || keep > rank)
    return op->emitOpError("cannot keep ") << keep << " dimensions of " << full;
  ArrayRef<int64_t> shape = full.getShape();
  int64_t elements =
      dim ? shape[*dim] : ShapedType::getNumElements(shape.drop_front(keep));
  if (elements % group.getSize() != 0)
    return op->emitOpError("cannot cut ")
           << full << " in " << group.getSize() << " equal pieces";
  return success();
}

LogicalResult amsp::verifyCollective(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  unsigned count = op->getNumOperands();
  if (count == 0)
    return op->emitOpError("moves no tensor");
  if (op->getNumResults() != count || collective.getParts().size() != count)
    return op->emitOpError("has ")
           << count << " operands, " << op->getNumResults() << " results and "
           << collective.getParts().size() << " parts";
  for (unsigned i = 0; i < count; ++i) {
    PartAttr part = collective.getPart(i);
    RankedTensorType full = collective.getFullType(i);
    RankedTensorType piece = collective.getPieceType(i);
    if (full.getElementType() != collective.getElementType())
      return op->emitOpError("tensors differ in element type: ")
             << collective.getElementType() << " and " << full.getElementType();
    CollectiveKind kind = collective.getKind();
    if (kind == CollectiveKind::AllGather ||
        kind == CollectiveKind::ReduceScatter) {
      if (failed(verifyPieces(op, full, piece, collective.getGroup(),
                              part.getDim(), part.getKeep())))
        return failure();
      continue;
    }
    if (kind == CollectiveKind::AllReduce &&
        (part.getDim() || part.getKeep() != 0))
      return op->emitOpError("has no pieces, so neither dim nor keep");
    if (collective.getSourceType(i) != collective.getResultType(i))
      return op->emitOpError("changes ")
             << collective.getSourceType(i) << " to "
             << collective.getResultType(i);
    if (kind == CollectiveKind::AllToAll &&
        failed(verifyEqualPieces(op, full, collective.getGroup(), part)))
      return failure();
  }
  return success();
}

// An exchange of equal shapes: results are as operands.

static LogicalResult inferSameTypes(ValueRange operands,
                                    SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

static LogicalResult inferPendingTypes(ValueRange operands,
                                       SmallVectorImpl<Type> &types) {
  for (Type type : operands.getTypes())
    types.push_back(PendingType::get(cast<RankedTensorType>(type)));
  return success();
}

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  return inferSameTypes(adaptor.getOperands(), types);
}

LogicalResult AllReduceStartOp::inferReturnTypes(MLIRContext *,
                                                 std::optional<Location>,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  return inferPendingTypes(adaptor.getOperands(), types);
}

LogicalResult AllToAllOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  return inferSameTypes(adaptor.getOperands(), types);
}

LogicalResult AllToAllStartOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location>,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  return inferPendingTypes(adaptor.getOperands(), types);
}

//===----------------------------------------------------------------------===//
// Await
//===----------------------------------------------------------------------===//

LogicalResult AwaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  for (Type type : adaptor.getPending().getTypes())
    types.push_back(cast<PendingType>(type).getTensor());
  return success();
}

LogicalResult AwaitOp::verify() {
  if (getPending().empty())
    return emitOpError("awaits nothing");
  auto start = getPending()[0].getDefiningOp<CollectiveOpInterface>();
  if (!start)
    return emitOpError("awaits what no start made here: a pending tensor is "
                       "not carried through loops or branches");
  if (getPending() != start->getResults())
    return emitOpError("awaits something else than all results of one start");
  if (start->getBlock() != (*this)->getBlock())
    return emitOpError("is in another block than its start");
  for (Value pending : getPending())
    if (!pending.hasOneUse())
      return emitOpError("is not the only use of its start");
  return success();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
/// One field of all parts, as in the text.
template <typename T> using Field = SmallVector<std::optional<T>>;
} // namespace

static ParseResult parseValue(AsmParser &parser,
                              std::optional<int64_t> &value) {
  return parser.parseInteger(value.emplace());
}
static ParseResult parseValue(AsmParser &parser,
                              std::optional<StringAttr> &value) {
  std::string text;
  if (parser.parseString(&text))
    return failure();
  value = StringAttr::get(parser.getContext(), text);
  return success();
}

/// `name = value` for all tensors or `name = [value, none, ...]` for each.
template <typename T>
static ParseResult parseField(AsmParser &parser, StringRef name, size_t count,
                              Field<T> &values) {
  values.assign(count, std::nullopt);
  if (failed(parser.parseOptionalKeyword(name)))
    return success();
  if (parser.parseEqual())
    return failure();
  SMLoc location = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLSquare())) {
    std::optional<T> value;
    if (parseValue(parser, value))
      return failure();
    values.assign(count, value);
    return success();
  }
  size_t read = 0;
  auto parseOne = [&]() -> ParseResult {
    std::optional<T> value;
    if (failed(parser.parseOptionalKeyword("none")) &&
        parseValue(parser, value))
      return failure();
    if (read < count)
      values[read] = value;
    ++read;
    return success();
  };
  if (parser.parseCommaSeparatedList(parseOne) || parser.parseRSquare())
    return failure();
  if (read != count)
    return parser.emitError(location) << name << " lists " << read
                                      << " values for " << count << " tensors";
  return success();
}

static void printValue(AsmPrinter &printer, int64_t value) { printer << value; }
static void printValue(AsmPrinter &printer, StringAttr value) {
  printer << value;
}

template <typename T>
static void printField(AsmPrinter &printer, StringRef name,
                       const Field<T> &values) {
  if (llvm::none_of(values, [](const auto &v) { return v.has_value(); }))
    return;
  printer << ' ' << name << " = ";
  if (llvm::all_equal(values)) {
    printValue(printer, *values.front());
    return;
  }
  printer << '[';
  llvm::interleaveComma(values, printer, [&](const std::optional<T> &value) {
    if (value)
      printValue(printer, *value);
    else
      printer << "none";
  });
  printer << ']';
}

static ParseResult
parseParts(OpAsmParser &parser, ArrayAttr &parts,
           ArrayRef<OpAsmParser::UnresolvedOperand> operands) {
  Field<int64_t> dim, keep, parameter;
  Field<StringAttr> unit;
  size_t count = operands.size();
  if (parseField(parser, "dim", count, dim) ||
      parseField(parser, "keep", count, keep) ||
      parseField(parser, "parameter", count, parameter) ||
      parseField(parser, "unit", count, unit))
    return failure();
  SmallVector<Attribute> list;
  for (size_t i = 0; i < count; ++i)
    list.push_back(PartAttr::get(parser.getContext(), dim[i],
                                 keep[i].value_or(0), parameter[i],
                                 unit[i].value_or(StringAttr())));
  parts = ArrayAttr::get(parser.getContext(), list);
  return success();
}

static void printParts(OpAsmPrinter &printer, Operation *, ArrayAttr parts,
                       OperandRange) {
  Field<int64_t> dim, keep, parameter;
  Field<StringAttr> unit;
  bool hasKeep = llvm::any_of(parts.getAsRange<PartAttr>(), [](PartAttr part) {
    return part.getKeep() != 0;
  });
  for (auto part : parts.getAsRange<PartAttr>()) {
    dim.push_back(part.getDim());
    keep.push_back(hasKeep ? std::optional(part.getKeep()) : std::nullopt);
    parameter.push_back(part.getParameter());
    unit.push_back(part.getUnit() ? std::optional(part.getUnit())
                                  : std::nullopt);
  }
  printField(printer, "dim", dim);
  printField(printer, "keep", keep);
  printField(printer, "parameter", parameter);
  printField(printer, "unit", unit);
}

#define GET_OP_CLASSES
#include "amsp/Dialect/AMSP/IR/AMSPOps.cpp.inc"
