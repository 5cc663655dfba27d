//===- LoopChoice.h - Which loops are written anew --------------*- C++ -*-===//

#ifndef AMSP_COMPILE_LOOPCHOICE_H
#define AMSP_COMPILE_LOOPCHOICE_H

#include "amsp/Communication/Passes.h"
#include "amsp/Planner/CollectiveModel.h"
#include "mlir/IR/BuiltinOps.h"

namespace amsp {

/// The forms that a program's loops may have.
struct LoopForms {
  /// What would change the program at all.
  LoopForm possible;
  /// Those to choose from, the best first. The last needs the least memory.
  llvm::SmallVector<LoopForm, 4> ranked;

  bool hasChoice() const { return possible.peels || possible.pipelines; }
};

/// Ranks the forms of a partitioned program by its simulated steps. A form that
/// does more is taken only if its step is faster by more than 1 %, since it has
/// more code and memory. What a switch of the options says is not asked; where
/// the options name no cluster, nothing is known of its links, and loops stay
/// as they stand. Errors in the program are diagnostics, after which the error
/// is empty text.
llvm::Expected<LoopForms> rankLoopForms(mlir::ModuleOp program,
                                        const CommunicateOptions &communication,
                                        const Cluster &cluster,
                                        const CollectiveModel &collectives);

/// Decides as `form` says what the options leave to be decided.
void decideLoops(CommunicateOptions &options, const LoopForm &form);

/// Sets both switches from the values of `--peel-microbatches` and
/// `--pipeline-loops`: `auto`, `on` or `off`; without one, `on`. Fails, naming
/// the option, at any other.
llvm::Error setLoopSwitches(CommunicateOptions &options, llvm::StringRef peel,
                            llvm::StringRef pipeline);

/// `microbatches peeled, layers pipelined`; `as they stand`.
std::string describeLoops(const LoopForm &form);

} // namespace amsp

#endif // AMSP_COMPILE_LOOPCHOICE_H
