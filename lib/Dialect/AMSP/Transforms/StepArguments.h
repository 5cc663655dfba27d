//===- StepArguments.h - What a step's arguments are for --------*- C++ -*-===//

#ifndef AMSP_LIB_DIALECT_AMSP_TRANSFORMS_STEPARGUMENTS_H
#define AMSP_LIB_DIALECT_AMSP_TRANSFORMS_STEPARGUMENTS_H

#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "amsp/Placement/PlacementAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp {

/// The module's only public function; an error if there is not exactly one.
mlir::FailureOr<mlir::func::FuncOp> getStep(mlir::ModuleOp module);

/// The role of an argument; nothing before `amsp-annotate-roles`.
std::optional<Role> getRole(mlir::func::FuncOp step, unsigned argument);

/// The result that is the new value of a state argument.
std::optional<unsigned> getStateResult(mlir::func::FuncOp step,
                                       unsigned argument);

/// The argument's name for messages: the text of its location, or its number.
std::string getArgumentName(mlir::func::FuncOp step, unsigned argument);

/// The placements in which the arguments rest, by role: parameters and
/// optimizer states flat over the digits of OS, the batch split along its rows,
/// all others (and scalars) replicated. `strategies`: the number of each
/// argument's strategy; empty if all have the same.
llvm::SmallVector<Placement>
getArgumentPlacements(mlir::func::FuncOp step,
                      llvm::ArrayRef<unsigned> strategies);

/// Placements of all values of a step with roles. New state is returned in the
/// placement of the argument it replaces, trained values that are results in
/// that of their strategies.
PlacementAnalysis analyzeStep(mlir::func::FuncOp step, PlacementContext context,
                              llvm::ArrayRef<unsigned> strategies = {},
                              llvm::ArrayRef<unsigned> resultStrategies = {});

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_TRANSFORMS_STEPARGUMENTS_H
