//===- CallOps.cpp - Ops defined elsewhere --------------------------------===//

#include "Verification.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace amsp::stablehlo;

//===----------------------------------------------------------------------===//
// CompositeOp
//===----------------------------------------------------------------------===//

CallInterfaceCallable CompositeOp::getCallableForCallee() {
  return getDecompositionAttr();
}

void CompositeOp::setCalleeFromCallable(CallInterfaceCallable callee) {
  setDecompositionAttr(cast<FlatSymbolRefAttr>(cast<SymbolRefAttr>(callee)));
}

Operation::operand_range CompositeOp::getArgOperands() { return getInputs(); }

MutableOperandRange CompositeOp::getArgOperandsMutable() {
  return getInputsMutable();
}

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto function = tables.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getDecompositionAttr());
  if (!function)
    return emitOpError("of '")
           << getName() << "' has no decomposition " << getDecompositionAttr();
  if (TypeRange(function.getArgumentTypes()) != getOperandTypes() ||
      TypeRange(function.getResultTypes()) != getResultTypes())
    return emitOpError("of '")
           << getName() << "' has another type than its decomposition "
           << getDecompositionAttr();
  return success();
}

//===----------------------------------------------------------------------===//
// CustomCallOp
//===----------------------------------------------------------------------===//

/// Each layout orders the dimensions of its tensor.
static LogicalResult verifyLayouts(CustomCallOp op, StringRef name,
                                   ArrayAttr layouts, TypeRange types) {
  if (layouts.size() != types.size())
    return op.emitOpError("requires a layout for each of the ")
           << types.size() << ' ' << name << ", but got " << layouts.size();
  for (auto [attribute, type] : llvm::zip_equal(layouts, types)) {
    auto layout = dyn_cast<DenseIntElementsAttr>(attribute);
    if (!layout || layout.getType().getRank() != 1 ||
        layout.getNumElements() != cast<RankedTensorType>(type).getRank() ||
        !isPermutationVector(llvm::map_to_vector(
            layout.getValues<APInt>(),
            [](const APInt &dim) { return dim.getSExtValue(); })))
      return op.emitOpError("layout ")
             << attribute << " does not order the dimensions of " << type;
  }
  return success();
}

LogicalResult CustomCallOp::verify() {
  std::optional<ArrayAttr> operands = getOperandLayouts();
  std::optional<ArrayAttr> results = getResultLayouts();
  if (operands.has_value() != results.has_value())
    return emitOpError("requires layouts of operands and results, or of "
                       "neither");
  if (operands &&
      (failed(verifyLayouts(*this, "operands", *operands, getOperandTypes())) ||
       failed(verifyLayouts(*this, "results", *results, getResultTypes()))))
    return failure();
  for (auto alias :
       getOutputOperandAliases().getAsRange<OutputOperandAliasAttr>()) {
    ArrayRef<int64_t> indices = alias.getOutputTupleIndices();
    int64_t result = indices.empty() ? 0 : indices.front();
    if (alias.getOperandIndex() < 0 ||
        alias.getOperandIndex() >= static_cast<int64_t>(getNumOperands()) ||
        result < 0 || result >= static_cast<int64_t>(getNumResults()))
      return emitOpError("has no operand and result for the alias ") << alias;
    if (getOperand(alias.getOperandIndex()).getType() !=
        getResult(result).getType())
      return emitOpError("requires operand and result of one type for the "
                         "alias ")
             << alias;
  }
  return success();
}
