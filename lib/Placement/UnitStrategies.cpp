//===- UnitStrategies.cpp - The strategy of each unit of a step -----------===//

#include "amsp/Placement/UnitStrategies.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"

using namespace mlir;
using namespace amsp;

DictionaryAttr amsp::getStrategyAttr(MLIRContext *context,
                                     const Strategy &strategy) {
  Builder builder(context);
  return builder.getDictionaryAttr(
      {{"p", builder.getDenseI64ArrayAttr(strategy.p)},
       {"g", builder.getDenseI64ArrayAttr(strategy.g)},
       {"os", builder.getDenseI64ArrayAttr(strategy.os)}});
}

llvm::Expected<Strategy> amsp::readStrategy(Attribute attr,
                                            ArrayRef<int64_t> levels) {
  auto dictionary = dyn_cast<DictionaryAttr>(attr);
  Strategy strategy;
  for (auto [name, factors] :
       {std::pair("p", &strategy.p), std::pair("g", &strategy.g),
        std::pair("os", &strategy.os)}) {
    auto list = dictionary ? dictionary.getAs<DenseI64ArrayAttr>(name)
                           : DenseI64ArrayAttr();
    bool isGood =
        list && list.size() == static_cast<int64_t>(levels.size()) &&
        llvm::all_of(list.asArrayRef(), [](int64_t f) { return f > 0; });
    if (!isGood)
      return llvm::createStringError("it needs " + Twine(levels.size()) +
                                     " positive factors for " + name);
    factors->assign(list.asArrayRef().begin(), list.asArrayRef().end());
  }
  if (llvm::Error error = verifyStrategy(strategy, levels))
    return error;
  return strategy;
}

static unsigned addStrategy(UnitStrategies &units, const Strategy &strategy) {
  auto *found = llvm::find(units.strategies, strategy);
  if (found == units.strategies.end()) {
    units.strategies.push_back(strategy);
    return units.strategies.size() - 1;
  }
  return found - units.strategies.begin();
}

FailureOr<UnitStrategies>
amsp::getUnitStrategies(func::FuncOp step, ArrayRef<int64_t> levels,
                        const std::optional<Strategy> &others) {
  UnitStrategies units;
  units.ofUnit.assign(step.getNumArguments(), 0);
  units.ofArgument.assign(step.getNumArguments(), 0);
  SmallVector<unsigned> frozen;
  for (unsigned i = 0, e = step.getNumArguments(); i < e; ++i) {
    auto unit = step.getArgAttrOfType<StringAttr>(i, kUnitAttr);
    if (!unit)
      continue;
    std::optional<Strategy> strategy = others;
    if (Attribute attr = step.getArgAttr(i, kStrategyAttr)) {
      llvm::Expected<Strategy> read = readStrategy(attr, levels);
      if (!read)
        return step.emitError("the ")
               << kStrategyAttr << " of argument " << i << ", unit " << unit
               << ": " << llvm::toString(read.takeError());
      strategy = std::move(*read);
    }
    if (!strategy)
      return step.emitError("no strategy is given for argument ")
             << i << ", unit " << unit;
    units.ofUnit[i] = units.ofArgument[i] = addStrategy(units, *strategy);
    if (!step.getArgAttr(i, kResultAttr) && !step.getArgAttr(i, kTrainedAttr))
      frozen.push_back(i);
  }
  for (unsigned argument : frozen) {
    SmallVector<int64_t> p = units.strategies[units.ofUnit[argument]].p;
    units.ofArgument[argument] = addStrategy(units, Strategy{p, p, p});
  }
  units.ofResult.assign(step.getNumResults(), 0);
  for (unsigned i = 0, e = step.getNumResults(); i < e; ++i) {
    Attribute attr = step.getResultAttr(i, kStrategyAttr);
    if (!attr)
      continue;
    llvm::Expected<Strategy> read = readStrategy(attr, levels);
    if (!read)
      return step.emitError("the ") << kStrategyAttr << " of result " << i
                                    << ": " << llvm::toString(read.takeError());
    units.ofResult[i] = addStrategy(units, *read);
  }
  if (units.strategies.empty()) {
    SmallVector<int64_t> ones(levels.size(), 1);
    units.strategies.push_back(others.value_or(Strategy{ones, ones, ones}));
  }
  return units;
}

std::optional<Strategy> UnitStrategies::getCommon() const {
  // Arguments without a unit have the first one, which is some unit's.
  bool isCommon = llvm::all_of(ofUnit, [](unsigned unit) { return unit == 0; });
  if (!isCommon)
    return std::nullopt;
  return strategies.front();
}

std::vector<Grid> UnitStrategies::getGrids(ArrayRef<int64_t> levels) const {
  std::vector<Grid> grids;
  for (const Strategy &strategy : strategies)
    grids.emplace_back(levels, strategy);
  return grids;
}
