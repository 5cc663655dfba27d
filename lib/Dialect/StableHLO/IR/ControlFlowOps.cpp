//===- ControlFlowOps.cpp - Control flow ----------------------------------===//

#include "Verification.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace amsp::stablehlo;

//===----------------------------------------------------------------------===//
// WhileOp
//===----------------------------------------------------------------------===//

void WhileOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getCond().getArguments(), getOperands()),
                        printer, [&](auto pair) {
                          printer.printOperand(std::get<0>(pair));
                          printer << " = " << std::get<1>(pair);
                        });
  printer << ')';
  if (getNumOperands() != 0)
    printer << " : " << getOperandTypes();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << "cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.shadowRegionArgs(getBody(), getCond().getArguments());
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Paren, [&]() -> ParseResult {
            return failure(parser.parseArgument(arguments.emplace_back()) ||
                           parser.parseEqual() ||
                           parser.parseOperand(operands.emplace_back()));
          }))
    return failure();

  SmallVector<Type> types;
  if ((!operands.empty() && parser.parseColonTypeList(types)) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(operands, types, location, result.operands))
    return failure();
  result.addTypes(types);

  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  return failure(parser.parseKeyword("cond") ||
                 parser.parseRegion(*result.addRegion(), arguments) ||
                 parser.parseKeyword("do") ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

LogicalResult WhileOp::verifyRegions() {
  for (Region *region : {&getCond(), &getBody()})
    if (region->getArgumentTypes() != getOperandTypes())
      return emitOpError("requires the arguments of both regions to have the "
                         "operands' types (")
             << getOperandTypes() << "), but they are ("
             << region->getArgumentTypes() << ")";
  Type boolean = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifyReturnedTypes(*this, "condition", getCond(), boolean)))
    return failure();
  return verifyReturnedTypes(*this, "body", getBody(), getOperandTypes());
}

//===----------------------------------------------------------------------===//
// IfOp, CaseOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyBranches(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (region.getNumArguments() != 0)
      return op->emitOpError("requires branches without arguments");
    if (failed(verifyReturnedTypes(op, "branch", region, op->getResultTypes())))
      return failure();
  }
  return success();
}

LogicalResult IfOp::verifyRegions() { return verifyBranches(*this); }

LogicalResult CaseOp::verify() {
  if (getBranches().empty())
    return emitOpError("requires at least one branch");
  return success();
}

LogicalResult CaseOp::verifyRegions() { return verifyBranches(*this); }

LogicalResult IfOp::canonicalize(IfOp op, PatternRewriter &rewriter) {
  auto scalar = RankedTensorType::get({}, rewriter.getI32Type());
  auto number = [&](int32_t value) -> Value {
    return ConstantOp::create(rewriter, op.getLoc(),
                              DenseElementsAttr::get(scalar, value));
  };
  Value index = SelectOp::create(rewriter, op.getLoc(), op.getPred(), number(0),
                                 number(1));
  auto branches = CaseOp::create(rewriter, op.getLoc(), op.getResultTypes(),
                                 index, /*branchesCount=*/2);
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), branches.getBranches()))
    rewriter.inlineRegionBefore(from, to, to.end());
  rewriter.replaceOp(op, branches);
  return success();
}

LogicalResult CaseOp::canonicalize(CaseOp op, PatternRewriter &rewriter) {
  DenseIntElementsAttr index;
  if (!matchPattern(op.getIndex(), m_Constant(&index)))
    return failure();
  int64_t number = index.getSplatValue<APInt>().getSExtValue();
  int64_t count = op.getBranches().size();
  if (number < 0 || number >= count)
    number = count - 1;
  Block &selected = op.getBranches()[number].front();
  Operation *terminator = selected.getTerminator();
  rewriter.inlineBlockBefore(&selected, op);
  rewriter.replaceOp(op, terminator->getOperands());
  rewriter.eraseOp(terminator);
  return success();
}
