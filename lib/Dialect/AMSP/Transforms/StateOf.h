//===- StateOf.h - The state that another step trains -----------*- C++ -*-===//

#ifndef AMSP_LIB_DIALECT_AMSP_TRANSFORMS_STATEOF_H
#define AMSP_LIB_DIALECT_AMSP_TRANSFORMS_STATEOF_H

#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp {

/// An argument of a compiled training step that lives from step to step.
struct TrainedValue {
  std::string name; // empty if it has none
  Role role = Role::State;
  std::string unit; // empty if it has none
  mlir::RankedTensorType type;
  /// The factors of its unit, as `amsp.strategy`; null without a unit. Of a
  /// frozen parameter, all are those by which it rests.
  mlir::DictionaryAttr strategy;
  /// Leading dimensions that its pieces keep whole.
  int64_t keep = 0;
};

struct TrainedState {
  llvm::SmallVector<int64_t> levels;
  llvm::SmallVector<TrainedValue> values;
};

/// Reads the state of a compiled step: STEP.so, or its manifest as JSON.
llvm::Expected<TrainedState> readTrainedState(llvm::StringRef path,
                                              mlir::MLIRContext *context);

/// The trained value that each argument of an evaluation step takes: the one of
/// its name or, where the step calls the same tree by another name (`p['w']`
/// for `params['w']`), the parameter of its path. Nothing for other arguments.
/// Fails, with a diagnostic, for an argument that is one by name but not by
/// type, or for which several would do.
mlir::FailureOr<llvm::SmallVector<const TrainedValue *>>
matchArguments(mlir::func::FuncOp step, const TrainedState &state);

/// The trained value that each result of an initialisation step is: its first
/// results are the whole state, in order. Fails, with a diagnostic that names
/// the first result that is not.
mlir::FailureOr<llvm::SmallVector<const TrainedValue *>>
matchResults(mlir::func::FuncOp step, const TrainedState &state);

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_TRANSFORMS_STATEOF_H
