//===- Passes.h - Passes that partition a training step ---------*- C++ -*-===//

#ifndef AMSP_DIALECT_AMSP_TRANSFORMS_PASSES_H
#define AMSP_DIALECT_AMSP_TRANSFORMS_PASSES_H

#include "amsp/Support/PassStatistic.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace amsp {

class AMSPDialect;

#define GEN_PASS_DECL
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "amsp/Dialect/AMSP/Transforms/Passes.h.inc"

/// What the pipeline from an exported step to a per-rank program needs to know.
struct PartitionOptions {
  /// Arguments cut along dimension 0, by name or index; empty: found.
  llvm::SmallVector<std::string> batchArgs;
  /// `ARG=RESULT`: state, instead of what aliasing and structure say.
  llvm::SmallVector<std::string> stateArgs;
  /// The compiled training step whose state an evaluation step takes, or an
  /// initialisation step makes; its strategies count.
  std::string stateOf;
  /// `ARG=ROLE`, instead of the roles that are found.
  llvm::SmallVector<std::string> roles;
  /// Sizes of the cluster's levels, innermost first.
  llvm::SmallVector<int64_t> levels;
  /// A preset or `p=F,g=F,os=F`, of the units that have no `amsp.strategy`.
  std::string strategy;
  /// Type of reductions: `f32`, `bf16` or `graph`.
  std::string reduceType = "f32";
  /// Whether to run `amsp-recognize-attention`.
  bool recognizeAttention = true;
  /// Whether to run `amsp-simplify-collectives`.
  bool simplifyCollectives = true;
};

/// The units of an imported step that amsp-recompute-units can compute again,
/// in program order.
std::vector<std::string> getRecomputableUnits(mlir::func::FuncOp step);
/// Does what that pass does for these units; none if there are none. Fails with
/// a diagnostic.
mlir::LogicalResult recomputeUnits(mlir::func::FuncOp step,
                                   llvm::ArrayRef<std::string> units);

/// Makes the step a loop over `count` parts of its batch that adds up the
/// gradients, as `amsp-split-microbatches` does. Fails with a diagnostic, and
/// leaves the step as it is, where it is not proved to be a sum over rows.
mlir::LogicalResult splitMicrobatches(mlir::func::FuncOp step, int64_t count);

/// Import: from an exported step to one without calls, with roles and units.
void buildImportPipeline(mlir::OpPassManager &pm,
                         const PartitionOptions &options);
/// Analysis and partitioning of an imported step.
void buildPartitionImportedPipeline(mlir::OpPassManager &pm,
                                    const PartitionOptions &options);
/// Both: from an exported step to the program of one rank, in StableHLO with
/// the collectives of the amsp dialect.
void buildPartitionPipeline(mlir::OpPassManager &pm,
                            const PartitionOptions &options);
/// Registers it as `amsp-partition`.
void registerPartitionPipeline();

} // namespace amsp

#endif // AMSP_DIALECT_AMSP_TRANSFORMS_PASSES_H
