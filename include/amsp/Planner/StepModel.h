//===- StepModel.h - What the search knows of a step ------------*- C++ -*-===//

#ifndef AMSP_PLANNER_STEPMODEL_H
#define AMSP_PLANNER_STEPMODEL_H

#include "amsp/Planner/ProgramCosts.h"
#include "amsp/Planner/UnitCosts.h"
#include "amsp/Target/Manifest.h"
#include "mlir/IR/BuiltinOps.h"

namespace amsp {

/// The model of a step for a cluster, counted from its program.
struct StepModel {
  /// In the order of their first parameter. An optimizer state is a parameter
  /// of its unit that is neither gathered nor reduced.
  std::vector<Unit> units;
  int64_t microbatches = 1;
  ProgramCosts costs;
  /// Arguments that no strategy shards: the rank's rows of the batch, state
  /// that stays replicated.
  double otherBytes = 0;
  /// Seconds of the collectives that move no parameter and no gradient: losses,
  /// norms, other state. Taken as equal for all strategies.
  double otherSeconds = 0;
  /// The same if the small sums among them that do not need each other are one.
  double fusedOtherSeconds = 0;

  /// Units that are gathered, the layers of a stack each; at least 1.
  int64_t getNumLayers() const;
  /// How many there would be if all were as large as the largest; at least 1.
  double getNumEvenLayers() const;
  int64_t getNumParameterElements() const;
};

/// The step of an imported or partitioned program.
mlir::func::FuncOp getStepFunction(mlir::ModuleOp program);

/// Counts the model in the program of a rank with everything sharded over all
/// ranks (`zero3`): there, every use of a parameter is a gather, and every
/// microbatch's gradient a reduction. Fails with a diagnostic.
mlir::FailureOr<StepModel> countStepModel(mlir::ModuleOp perRankProgram,
                                          const Device &device,
                                          const CollectiveModel &collectives);

/// Seconds of the collectives of a program: of those that move parameters and
/// gradients, and of the others.
std::pair<double, double> getSeconds(llvm::ArrayRef<CollectiveRecord> records,
                                     const CollectiveModel &collectives);

} // namespace amsp

#endif // AMSP_PLANNER_STEPMODEL_H
