//===- PlanCompiler.h - Several plans, compiled at a time -------*- C++ -*-===//

#ifndef AMSP_LIB_COMPILE_PLANCOMPILER_H
#define AMSP_LIB_COMPILE_PLANCOMPILER_H

#include "amsp/Compile/CompiledPlan.h"

namespace amsp {

/// A plan to compile, and how far.
struct PlanTask {
  std::vector<Strategy> strategies; // one per unit
  bool lowers = true;
  /// The partitioned program, where there already is one.
  mlir::OwningOpRef<mlir::ModuleOp> program;
  /// With its loops in the form that needs the least memory, whatever the limit
  /// allows.
  bool isLeanest = false;
};

/// Compiles plans of one step, each once, as many at a time as the context has
/// threads for. What comes out does not depend on that. A plan for which the
/// bound on the bytes in flight is too small is compiled with the least that is
/// not (CompiledPlan::prefetchBytes).
class PlanCompiler {
public:
  PlanCompiler(mlir::ModuleOp step, llvm::ArrayRef<StepUnit> units,
               const PartitionOptions &partition,
               const CommunicateOptions &communication, const Cluster &cluster,
               const CollectiveModel &collectives, double memoryLimit)
      : step(step), units(units), partition(partition),
        communication(communication), cluster(cluster),
        collectives(collectives), memoryLimit(memoryLimit) {}

  /// Whether some plans are compiled at the same time.
  bool isParallel() const;
  /// Compiles those that are not known, or not as far.
  llvm::Error compile(std::vector<PlanTask> tasks);
  /// A plan that was compiled.
  const CompiledPlan &get(llvm::ArrayRef<Strategy> strategies) const;
  const CompiledPlan &getLeanest(llvm::ArrayRef<Strategy> strategies) const;

private:
  struct Entry {
    std::vector<Strategy> strategies;
    bool isLeanest = false;
    CompiledPlan plan;
  };
  const CompiledPlan *find(llvm::ArrayRef<Strategy> strategies,
                           bool isLeanest) const;
  llvm::Expected<CompiledPlan> run(PlanTask &task) const;

  mutable mlir::ModuleOp step;
  llvm::ArrayRef<StepUnit> units;
  const PartitionOptions &partition;
  const CommunicateOptions &communication;
  const Cluster &cluster;
  const CollectiveModel &collectives;
  double memoryLimit; // bytes of a rank
  std::vector<Entry> plans;
};

} // namespace amsp

#endif // AMSP_LIB_COMPILE_PLANCOMPILER_H
