//===- UnitStrategies.h - The strategy of each unit of a step ---*- C++ -*-===//

#ifndef AMSP_PLACEMENT_UNITSTRATEGIES_H
#define AMSP_PLACEMENT_UNITSTRATEGIES_H

#include "amsp/Placement/Grid.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp {

/// `{p = array<i64: ...>, g = ..., os = ...}`, on an argument with a unit, and
/// on the module of a per-rank program if all units have the same.
constexpr llvm::StringLiteral kStrategyAttr = "amsp.strategy";

mlir::DictionaryAttr getStrategyAttr(mlir::MLIRContext *context,
                                     const Strategy &strategy);

/// The strategy for the levels that such an attribute says.
llvm::Expected<Strategy> readStrategy(mlir::Attribute attr,
                                      llvm::ArrayRef<int64_t> levels);

/// The different strategies of a step's units, and which one each argument has.
struct UnitStrategies {
  /// In the order of the first argument that has them; at least one.
  llvm::SmallVector<Strategy> strategies;
  /// By argument, that of its unit; 0 for those without a unit.
  llvm::SmallVector<unsigned> ofUnit;
  /// By argument, that by which it rests: its unit's but for frozen parameters,
  /// which have no gradients and no states, and rest as P.
  llvm::SmallVector<unsigned> ofArgument;
  /// By result, that of a trained value; 0 for others.
  llvm::SmallVector<unsigned> ofResult;

  /// The strategy that all units have, if they have the same.
  std::optional<Strategy> getCommon() const;

  /// One grid per strategy.
  std::vector<Grid> getGrids(llvm::ArrayRef<int64_t> levels) const;
};

/// Reads the `amsp.strategy` of each argument; those with a unit but without a
/// strategy have `others`. Fails, with a diagnostic that names the argument,
/// for factors that do not fit the levels, and for a missing strategy.
mlir::FailureOr<UnitStrategies>
getUnitStrategies(mlir::func::FuncOp step, llvm::ArrayRef<int64_t> levels,
                  const std::optional<Strategy> &others);

} // namespace amsp

#endif // AMSP_PLACEMENT_UNITSTRATEGIES_H
