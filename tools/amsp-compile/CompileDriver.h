//===- CompileDriver.h - From an exported step to a file --------*- C++ -*-===//

#ifndef AMSP_TOOLS_AMSP_COMPILE_COMPILEDRIVER_H
#define AMSP_TOOLS_AMSP_COMPILE_COMPILEDRIVER_H

#include "amsp/Communication/Passes.h"
#include "amsp/Compile/StepFlags.h"
#include "amsp/Compile/StrategyChoice.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Placement/Cluster.h"
#include "amsp/Support/OutputFiles.h"
#include "amsp/Support/StatisticsTable.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace amsp {

enum class EmitKind { SharedLibrary, Object, LLVM, MLIR, StableHLO };

struct CompileOptions {
  std::string input;
  std::string output;
  std::optional<Cluster> cluster;
  std::string strategy;
  llvm::SmallVector<std::string> search; // what auto may choose besides
  PartitionOptions partition;            // but for the levels
  CommunicateOptions communication;
  const StepFlags *flags = nullptr; // what is given, and what only default
  std::string cpu;
  EmitKind emit = EmitKind::SharedLibrary;
  std::string report; // empty: none
  bool printCollectives = false;
  bool printStatistics = false;
  std::string remarks; // a regular expression of passes; empty: none
};

/// Runs the whole compilation. Errors in the program are MLIR diagnostics,
/// after which the returned error is empty text.
class CompileDriver {
public:
  CompileDriver(const CompileOptions &options, mlir::MLIRContext &context,
                mlir::TimingScope &timing)
      : options(options), communication(options.communication),
        context(context), timing(timing) {}

  llvm::Error run();

private:
  llvm::Error parse();
  llvm::Error plan(PartitionOptions &partitioning);
  llvm::Error describePlan(const StrategyChoice &choice, const Cluster &cluster,
                           const PlanningOptions &planning);
  llvm::Error partition();
  llvm::Expected<llvm::SmallVector<LoopForm, 4>> getLoopForms();
  llvm::Error communicate(const LoopForm &form, bool raisesBound = false);
  llvm::Expected<LoopForm> lowerToBuffers();
  llvm::Expected<LoopForm> findLoopForm();
  llvm::Error lower();
  llvm::Error runPasses(llvm::function_ref<void(mlir::OpPassManager &)> build,
                        llvm::StringRef stage);
  llvm::Expected<std::string> printMlir(bool withLocations);
  llvm::Expected<std::string> emitMachineCode();
  llvm::Error emitStableHLO();
  llvm::Error emitCode();
  llvm::Error createReport(OutputFiles &files);
  llvm::Error writeReport(OutputFiles &files);

  const CompileOptions &options;
  CommunicateOptions communication; // as the plan decides
  mlir::MLIRContext &context;
  mlir::TimingScope &timing;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  double memoryLimit = std::numeric_limits<double>::infinity();
  llvm::json::Object manifest;
  StatisticsTable statistics;
  std::string page; // of `--report OUT.html`
};

} // namespace amsp

#endif // AMSP_TOOLS_AMSP_COMPILE_COMPILEDRIVER_H
