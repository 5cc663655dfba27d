//===- amsp-plan.cpp - Finds strategies for a training step ---------------===//

#include "ExecutorMode.h"
#include "PlanReport.h"
#include "amsp/InitAllDialects.h"
#include "amsp/Placement/PlacementConverter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include <cmath>

using namespace mlir;
using namespace amsp;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
namespace cl = llvm::cl;

enum class Format { Table, JSON };

static cl::OptionCategory category("amsp-plan");
static cl::opt<std::string> input(cl::Positional, cl::desc("STEP.mlir"),
                                  cl::cat(category));
static cl::opt<std::string>
    clusterFile("cluster", cl::Required, cl::cat(category),
                cl::desc("A YAML file with links and device"));
static cl::opt<std::string>
    levels("levels", cl::cat(category),
           cl::desc("Sizes of the levels, instead of the cluster file's: 8x4"));
static cl::opt<double>
    interference("interference", cl::cat(category), cl::init(0),
                 cl::desc("The slowdown of compute by communication, instead "
                          "of the cluster file's"));
static cl::opt<double>
    spread("spread", cl::cat(category), cl::init(0),
           cl::desc("The spread of compute time between nodes, instead of the "
                    "cluster file's"));
static cl::opt<std::string>
    timeline("timeline", cl::cat(category), cl::value_desc("T.json"),
             cl::desc("Write the simulated step for a trace viewer"));
static cl::list<std::string>
    batchArgs("batch-args", cl::CommaSeparated, cl::cat(category),
              cl::desc("Arguments cut along dimension 0, names or indices"));
static cl::list<std::string> stateArgs(
    "state-args", cl::CommaSeparated, cl::cat(category),
    cl::desc("ARGUMENT=RESULT: arguments whose new values are results, where "
             "the step's donation does not say so"));
static cl::list<std::string>
    roles("roles", cl::CommaSeparated, cl::cat(category),
          cl::desc("ARGUMENT=ROLE, where the role that is found is not meant: "
                   "param, opt_state, state or constant"));
static cl::opt<std::string> reduceType("reduce-type", cl::cat(category),
                                       cl::init("f32"),
                                       cl::desc("As of amsp-compile"));
static cl::opt<unsigned> top("top", cl::cat(category), cl::init(8),
                             cl::desc("Strategies to show (default 8)"));
static cl::opt<Format> format("format", cl::cat(category),
                              cl::init(Format::Table), cl::desc("Output"),
                              cl::values(clEnumValN(Format::Table, "table", ""),
                                         clEnumValN(Format::JSON, "json", "")));
static cl::opt<bool> listCollectives(
    "list-collectives", cl::cat(category),
    cl::desc("Partition for the strategy shown and list its collectives"));
static cl::opt<std::string> strategy(
    "strategy", cl::cat(category), cl::init("auto"),
    cl::desc("The strategy to show in detail (default auto: the best)"));
static cl::opt<double>
    memory("memory", cl::cat(category), cl::init(0),
           cl::desc("Bytes that a rank may use, instead of the device's"));

/// Where a value comes from in a file, as `file:line:column: `.
static std::string formatLocation(Location location) {
  FileLineColLoc found;
  location->walk([&](Location nested) {
    found = dyn_cast<FileLineColLoc>(nested);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found)
    return "";
  return llvm::formatv("{0}:{1}:{2}: ", found.getFilename().getValue(),
                       found.getLine(), found.getColumn());
}

/// Prints the first error, which is the cause, on one line. Remarks are those
/// of amsp-compile, and left to it.
static void printFirstError(MLIRContext &context, bool &hasError) {
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error || hasError)
      return success();
    hasError = true;
    std::string text = diagnostic.str();
    std::replace(text.begin(), text.end(), '\n', ' ');
    llvm::errs() << "error: " << formatLocation(diagnostic.getLocation())
                 << text << "\n";
    return success();
  });
}

static Expected<OwningOpRef<ModuleOp>> parse(MLIRContext &context) {
  llvm::SourceMgr sources;
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(input);
  if (!file)
    return createStringError("cannot read '" + input +
                             "': " + file.getError().message());
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  auto module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return createStringError("");
  return module;
}

/// The cluster of the command line.
static Expected<Cluster> readCluster() {
  Expected<Cluster> cluster = parseCluster(clusterFile);
  if (!cluster)
    return cluster;
  for (auto [option, most, value] :
       {std::tuple(&interference, 10.0, &cluster->interference),
        std::tuple(&spread, 1.0, &cluster->spread)}) {
    if (option->getNumOccurrences() == 0)
      continue;
    double share = *option;
    if (std::isnan(share) || share < 0 || share > most)
      return createStringError("--" + option->ArgStr +
                               " must be a share from 0 to " +
                               llvm::Twine(static_cast<int>(most)));
    *value = share;
  }
  if (levels.empty())
    return cluster;
  Expected<Cluster> sizes = parseCluster("levels=" + levels);
  if (!sizes)
    return sizes.takeError();
  if (sizes->levels.size() != cluster->levels.size())
    return createStringError("--levels " + levels + ": the cluster has " +
                             llvm::Twine(cluster->levels.size()) + " levels");
  for (auto [level, other] : llvm::zip(cluster->levels, sizes->levels))
    level.size = other.size;
  return cluster;
}

static Error run(MLIRContext &context) {
  Expected<Cluster> cluster = readCluster();
  if (!cluster)
    return cluster.takeError();
  std::optional<double> limit;
  if (memory.getNumOccurrences() > 0)
    limit = memory;
  if (limit && !(*limit >= 1))
    return createStringError("--memory must be a positive number of bytes");
  if (isExecutorMode())
    return runExecutorMode(*cluster, strategy, limit, format == Format::JSON,
                           timeline);
  if (input.empty())
    return createStringError("expected a step: STEP.mlir");
  if (top == 0)
    return createStringError("--top must be positive");
  Expected<OwningOpRef<ModuleOp>> module = parse(context);
  if (!module)
    return module.takeError();
  PartitionOptions options;
  options.batchArgs.assign(batchArgs.begin(), batchArgs.end());
  options.stateArgs.assign(stateArgs.begin(), stateArgs.end());
  options.roles.assign(roles.begin(), roles.end());
  options.reduceType = reduceType;
  if (!parseReduceType(reduceType))
    return createStringError("--reduce-type " + reduceType +
                             ": expected f32, bf16 or graph");
  Expected<Plan> plan = planStep(**module, *cluster, options, limit);
  if (!plan)
    return plan.takeError();
  const Candidate *shown = &plan->getBest();
  if (strategy != "auto") {
    Expected<Strategy> given = parseStrategy(strategy, cluster->getSizes());
    if (!given)
      return given.takeError();
    shown = &plan->getCandidate(*given);
  }
  OwningOpRef<ModuleOp> program;
  SmallVector<CollectiveRecord> collectives;
  if (listCollectives) {
    options.levels = cluster->getSizes();
    options.strategy = formatStrategy(plan->getStrategy(*shown));
    auto partitioned = partitionCopy(**module, options);
    if (failed(partitioned))
      return createStringError("");
    program = std::move(*partitioned);
    auto records = collectCollectives(getStepFunction(*program));
    if (failed(records))
      return createStringError("");
    collectives = std::move(*records);
  }
  std::optional<ArrayRef<CollectiveRecord>> listed;
  if (listCollectives)
    listed = collectives;
  PlanReport report(*plan, *cluster, *shown, listed, top);
  if (format == Format::JSON)
    report.printJson(llvm::outs());
  else
    report.printTable(llvm::outs());
  return Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions({&category, &getExecutorCategory()});
  cl::ParseCommandLineOptions(
      argc, argv, "Finds sharding strategies for a training step\n");
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry); // func's inlining among them
  amsp::registerAllDialects(registry);
  MLIRContext context(registry);
  bool hasError = false;
  printFirstError(context, hasError);
  Error error = run(context);
  if (!error)
    return 0;
  std::string text = toString(std::move(error));
  if (text.empty() && !hasError)
    text = "planning failed";
  if (!text.empty())
    llvm::errs() << "error: " << text << "\n";
  return 1;
}
