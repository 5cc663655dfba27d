//===- OverlapSelection.cpp - Which collectives may be split --------------===//

#include "OverlapSelection.h"
#include "amsp/Communication/ParameterCheck.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace amsp;

static bool saysStrategies(func::FuncOp step) {
  if (step->getParentOfType<ModuleOp>()->hasAttr(kStrategyAttr))
    return true;
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i)
    if (step.getArgAttr(i, kStrategyAttr))
      return true;
  return false;
}

/// Each is an argument of the step.
static LogicalResult verifyParameters(func::FuncOp step) {
  WalkResult walk = step.walk([&](CollectiveOpInterface op) {
    std::string problem = checkParameters(op, step.getNumArguments());
    if (problem.empty())
      return WalkResult::advance();
    op->emitOpError() << problem;
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

FailureOr<OverlapSelection> OverlapSelection::create(func::FuncOp step,
                                                     const OverlapSet &set) {
  OverlapSelection selection(set);
  if (!set.isPartial())
    return selection;
  auto module = step->getParentOfType<ModuleOp>();
  auto levels = module->getAttrOfType<DenseI64ArrayAttr>("amsp.levels");
  if (!levels || !saysStrategies(step))
    return selection;
  if (failed(verifyParameters(step)))
    return failure();
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
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i)
    if (auto unit = step.getArgAttrOfType<StringAttr>(i, kUnitAttr))
      selection.ofUnit.try_emplace(unit, selection.strategies.ofUnit[i]);
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

const Strategy *OverlapSelection::getStrategy(PartAttr part) const {
  if (std::optional<int64_t> parameter = part.getParameter())
    return &strategies.strategies[strategies.ofUnit[*parameter]];
  auto unit = ofUnit.find(part.getUnit());
  return unit == ofUnit.end() ? nullptr : &strategies.strategies[unit->second];
}

bool OverlapSelection::includes(CollectiveOpInterface op) const {
  const Strategy *strategy =
      levels.empty() ? nullptr : getStrategy(op.getPart(0));
  if (!strategy)
    return set.uses;
  bool isGather = op.getKind() == CollectiveKind::AllGather;
  if (isWithin(op.getGroup().getDigits(), isGather ? strategy->p : strategy->g))
    return set.uses;
  return isGather ? set.parameters : set.gradients;
}
