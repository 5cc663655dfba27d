//===- amsp-opt.cpp - Runs passes on textual IR ---------------------------===//

#include "amsp/Dialect/StableHLO/IR/BooleanLiterals.h"
#include "amsp/InitAllDialects.h"
#include "amsp/InitAllPasses.h"
#include "amsp/Support/StatisticsTable.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static llvm::cl::opt<bool> printStatistics(
    "amsp-print-statistics",
    llvm::cl::desc(
        "Print to standard error what the project's passes counted"));

/// As upstream's driver, but for constants as JAX prints them.
static LogicalResult run(int argc, char **argv, DialectRegistry &registry) {
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "amsp optimizer driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return MlirOptMain(argc, argv, input, output, registry);
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &message);
  std::unique_ptr<llvm::ToolOutputFile> result =
      file ? openOutputFile(output, &message) : nullptr;
  if (!result) {
    llvm::errs() << message << "\n";
    return failure();
  }
  file = amsp::stablehlo::packBooleanLiterals(std::move(file));
  amsp::StatisticsTable statistics;
  MlirOptMainConfig counting = config;
  if (printStatistics)
    counting.setPassPipelineSetupFn([&](PassManager &passes) {
      statistics.collect(passes);
      return config.setupPassPipeline(passes);
    });
  LogicalResult isDone =
      MlirOptMain(result->os(), std::move(file), registry, counting);
  if (printStatistics)
    statistics.print(llvm::errs());
  if (failed(isDone))
    return failure();
  result->keep();
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  amsp::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  amsp::registerAllPasses();
  return asMainReturnCode(run(argc, argv, registry));
}
