//===- OverlapSelection.cpp - Which collectives may be split --------------===//

#include "OverlapSelection.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace amsp;

FailureOr<OverlapSelection> OverlapSelection::create(func::FuncOp step,
                                                     const OverlapSet &set) {
  OverlapSelection selection(set);
  auto module = step->getParentOfType<ModuleOp>();
  auto levels = module->getAttrOfType<DenseI64ArrayAttr>("amsp.levels");
  if (!levels)
    return selection;
  std::optional<Strategy> common;
  if (Attribute attr = module->getAttr(kStrategyAttr)) {
    llvm::Expected<Strategy> read = readStrategy(attr, levels);
    if (!read)
      return module.emitError()
             << kStrategyAttr << ": " << toString(read.takeError());
    common = *read;
  }
  FailureOr<UnitStrategies> strategies =
      getUnitStrategies(step, levels, common);
  if (failed(strategies))
    return failure();
  selection.levels.assign(levels.asArrayRef().begin(),
                          levels.asArrayRef().end());
  selection.strategies = std::move(*strategies);
  return selection;
}

/// True if the digits are lower than these factors, on each level: those of P
/// are the lowest, then come those of G.
bool OverlapSelection::isWithin(ArrayRef<Digit> digits,
                                ArrayRef<int64_t> factors) const {
  int64_t unit = 1; // the level's stride
  for (auto [size, factor] : llvm::zip_equal(levels, factors)) {
    for (const Digit &digit : digits) {
      int64_t begin = std::max(digit.stride, unit);
      int64_t end = std::min(digit.stride * digit.size, unit * size);
      if (begin < end && end > unit * factor)
        return false;
    }
    unit *= size;
  }
  return true;
}

bool OverlapSelection::includes(CollectiveOpInterface op) const {
  std::optional<int64_t> parameter = op.getPart(0).getParameter();
  if (levels.empty() || !parameter)
    return set.uses;
  const Strategy &strategy =
      strategies.strategies[strategies.ofUnit[*parameter]];
  bool isGather = op.getKind() == CollectiveKind::AllGather;
  if (isWithin(op.getGroup().getDigits(), isGather ? strategy.p : strategy.g))
    return set.uses;
  return isGather ? set.parameters : set.gradients;
}
