//===- amsp-plan.cpp - Finds strategies for a training step ---------------===//

#include "ExecutorMode.h"
#include "OptionModes.h"
#include "PlanReport.h"
#include "amsp/Compile/FormatLocation.h"
#include "amsp/Compile/ParseOptions.h"
#include "amsp/Compile/PlanPage.h"
#include "amsp/Compile/ReadStep.h"
#include "amsp/Compile/StepFlags.h"
#include "amsp/Compile/StrategyChoice.h"
#include "amsp/InitAllDialects.h"
#include "amsp/Planner/Timeline.h"
#include "amsp/Support/OutputFiles.h"
#include "amsp/Support/ToolHelp.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace mlir;
using namespace amsp;
using llvm::cantFail;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
namespace cl = llvm::cl;

enum class Format { Table, JSON };

static cl::OptionCategory clusterGroup("Cluster");
static cl::OptionCategory outputGroup("Output");
static cl::OptionCategory searchGroup("Search");
static cl::opt<std::string> input(cl::Positional, cl::desc("STEP.mlir"),
                                  cl::cat(outputGroup));
static cl::opt<std::string>
    clusterFile("cluster", cl::Required, cl::cat(clusterGroup),
                cl::desc("A YAML file with links and device"));
static cl::opt<std::string>
    levels("levels", cl::cat(clusterGroup),
           cl::desc("Sizes of the levels, instead of the cluster file's: 8x4"));
static cl::opt<double>
    interference("interference", cl::cat(clusterGroup), cl::init(0),
                 cl::desc("The slowdown of compute by communication, instead "
                          "of the cluster file's"));
static cl::opt<double>
    spread("spread", cl::cat(clusterGroup), cl::init(0),
           cl::desc("The spread of compute time between nodes, instead of the "
                    "cluster file's"));
static cl::opt<std::string>
    timeline("timeline", cl::cat(outputGroup), cl::value_desc("T.json"),
             cl::desc("Write the simulated step for a trace viewer"));
static StepFlags flags;
static cl::opt<unsigned> top("top", cl::cat(outputGroup), cl::init(8),
                             cl::desc("Strategies to show (default 8)"));
static cl::opt<Format> format("format", cl::cat(outputGroup),
                              cl::init(Format::Table), cl::desc("Output"),
                              cl::values(clEnumValN(Format::Table, "table", ""),
                                         clEnumValN(Format::JSON, "json", "")));
static cl::opt<bool> listCollectives(
    "list-collectives", cl::cat(outputGroup),
    cl::desc("Partition for the strategy shown and list its collectives"));
static cl::opt<std::string> strategy(
    "strategy", cl::cat(searchGroup), cl::init("auto"),
    cl::desc("The strategy, or plan file, to show in detail (default auto: "
             "the best)"));
static cl::list<std::string> searched(
    "search", cl::CommaSeparated, cl::cat(searchGroup),
    cl::desc("What to choose besides strategies: recompute, microbatch"));
static cl::opt<unsigned>
    finalists("finalists", cl::cat(searchGroup), cl::init(3),
              cl::desc("Plans to compile for their exact memory (default 3; "
                       "0: memory is estimated)"));
static cl::opt<std::string> output("o", cl::cat(outputGroup),
                                   cl::value_desc("plan.yaml"),
                                   cl::desc("Write the plan that is shown"));
static cl::opt<std::string>
    report("report", cl::cat(outputGroup), cl::value_desc("plan.html"),
           cl::desc("Write a page about the plan that is shown"));
static cl::opt<std::string>
    traceFile("trace", cl::cat(outputGroup), cl::value_desc("T.json"),
              cl::desc("For --report: a trace of amsp-run, to draw beside"));
static cl::opt<double>
    memory("memory", cl::cat(clusterGroup), cl::init(0),
           cl::desc("Bytes that a rank may use, instead of the device's"));

/// Prints the first error, which is the cause, on one line. Remarks are those
/// of amsp-compile, and left to it.
static void printFirstError(MLIRContext &context, bool &hasError) {
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error || hasError)
      return success();
    hasError = true;
    std::string text = diagnostic.str();
    std::replace(text.begin(), text.end(), '\n', ' ');
    llvm::errs() << "error: " << formatLocation(diagnostic.getLocation(), input)
                 << text << "\n";
    return success();
  });
}

static Error import(ModuleOp step, const PartitionOptions &options) {
  PassManager passes(step.getContext());
  buildImportPipeline(passes, options);
  return failed(passes.run(step)) ? createStringError("") : Error::success();
}

/// What stands for the cluster, in the sizes that are asked for.
static std::string getClusterText() {
  return levels.empty() ? clusterFile : clusterFile + ",levels=" + levels;
}

/// The options that are numbers, checked.
static Expected<PlanningOptions> getOptions(const Cluster &cluster) {
  PlanningOptions options;
  if (memory.getNumOccurrences() > 0)
    options.memoryLimit = memory;
  if (options.memoryLimit && !(*options.memoryLimit >= 1))
    return createStringError("--memory must be a positive number of bytes");
  if (top == 0)
    return createStringError("--top must be positive");
  options.finalists = finalists;
  if (Error error = setSearch(
          options, SmallVector<std::string>(searched.begin(), searched.end())))
    return error;
  if (options.searchesSteps() && strategy != "auto")
    return createStringError("--search needs --strategy auto");
  Expected<PartitionOptions> partition = flags.readPartition();
  if (!partition)
    return partition.takeError();
  options.partition = std::move(*partition);
  options.partition.levels = cluster.getSizes();
  Expected<CommunicateOptions> communication =
      flags.readCommunication(getClusterText(), &cluster);
  if (!communication)
    return communication.takeError();
  options.communication = std::move(*communication);
  return options;
}

/// The files that are asked for, without content.
static Error createFiles(OutputFiles &files) {
  for (StringRef path :
       {StringRef(output), StringRef(report), StringRef(timeline)})
    if (!path.empty())
      if (Error error = files.create(path))
        return error;
  return Error::success();
}

static Error writePlan(const Finalist &shown, const PlannedStep &planned,
                       const Cluster &cluster, StringRef reduceType,
                       StringRef name, OutputFiles &files) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  PlanFile plan = makePlanFile(planned.units, shown.strategies, cluster,
                               reduceType.str(), planned.changes.recompute);
  plan.microbatches = planned.changes.microbatches;
  if (shown.compiled)
    plan.loops = shown.compiled->loops;
  printPlanFile(stream, plan,
                llvm::formatv("{0} on {1}: {2:f3} ms, {3} of a rank", name,
                              cluster.name, shown.getSeconds() * 1e3,
                              formatBytes(shown.getBytes()))
                    .str());
  return files.write(output, text);
}

/// The page of --report.
static Error writeReport(const Finalist &shown, const PlannedStep &planned,
                         const Cluster &cluster, BatchSize batch,
                         StringRef name, OutputFiles &files) {
  PlanPage page;
  page.step = name;
  page.cluster = &cluster;
  page.units = planned.units;
  page.shown = &shown;
  page.planned = &planned;
  page.changes = planned.changes;
  page.batch = batch;
  if (shown.compiled)
    page.timelines.push_back(getSimulatedTimeline(*shown.compiled));
  if (!traceFile.empty()) {
    auto content = llvm::MemoryBuffer::getFile(traceFile);
    if (!content)
      return createStringError("trace '" + traceFile +
                               "': " + content.getError().message());
    Expected<Timeline> timeline = readTrace((*content)->getBuffer(), traceFile);
    if (!timeline)
      return timeline.takeError();
    page.timelines.push_back(std::move(*timeline));
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  writePlanPage(stream, page);
  return files.write(report, text);
}

/// The simulated step of the plan that is shown, for a trace viewer.
static Error writeSimulation(const Finalist &shown, OutputFiles &files) {
  if (!shown.compiled)
    return createStringError("--timeline needs --finalists of at least 1: only "
                             "compiled plans are simulated");
  const ProgramSimulation &simulation = shown.compiled->simulation;
  return files.write(timeline,
                     formatTimeline(simulation.schedule, simulation.step));
}

/// All files about the plan that is shown, or none.
static Error writeFiles(const Finalist &shown, const PlannedStep &planned,
                        const Cluster &cluster, BatchSize batch,
                        StringRef reduceType, StringRef name,
                        OutputFiles &files) {
  if (!output.empty())
    if (Error error =
            writePlan(shown, planned, cluster, reduceType, name, files))
      return error;
  if (!report.empty())
    if (Error error = writeReport(shown, planned, cluster, batch, name, files))
      return error;
  if (!timeline.empty())
    if (Error error = writeSimulation(shown, files))
      return error;
  return files.commit();
}

/// The plan to show: the best, or the one that was asked for.
static Expected<Finalist> getShown(ModuleOp step, const PlannedStep &planned,
                                   const Cluster &cluster,
                                   PlanningOptions &options) {
  bool isFound = strategy == "auto";
  if (isFound && (planned.getBest().compiled || !listCollectives))
    return planned.getBest();
  std::vector<Strategy> strategies = planned.getBest().strategies;
  if (!isFound) {
    Expected<StrategyChoice> choice =
        chooseStrategies(step, strategy, cluster, options);
    if (!choice)
      return choice.takeError();
    strategies = choice->strategies;
    if (choice->loops)
      decideLoops(options.communication, *choice->loops);
  }
  if (options.finalists == 0 && !listCollectives)
    return estimateFinalist(planned, strategies);
  return compileFinalist(step, planned, cluster, strategies, options);
}

/// The cluster of the command line.
static Expected<Cluster> readCluster() {
  Expected<Cluster> cluster = parseCluster(getClusterText());
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
  return cluster;
}

/// The plans of the step, which becomes the one that they are of: a plan file
/// or the search says what becomes of it.
static Expected<PlannedStep> findPlans(ModuleOp step, const Cluster &cluster,
                                       PlanningOptions &options) {
  StepChanges given;
  if (isPlanFileName(strategy)) {
    Expected<StrategyChoice> choice =
        chooseStrategies(step, strategy, cluster, options);
    if (!choice)
      return choice.takeError();
    if (Error error = flags.takeReduceType(options.partition,
                                           choice->reduceType, strategy))
      return error;
    given = std::move(choice->changes);
    if (Error error = changeStep(step, given))
      return error;
  }
  Expected<PlannedStep> planned = findPlan(step, cluster, options);
  if (!planned)
    return planned;
  // Only one of the two changes it.
  if (Error error = changeStep(step, planned->changes))
    return error;
  if (isPlanFileName(strategy))
    planned->changes = std::move(given);
  return planned;
}

static Error run(MLIRContext &context) {
  if (Error error = verifyOutputs({output, report, timeline},
                                  {input, strategy, traceFile, clusterFile}))
    return error;
  Expected<Cluster> cluster = readCluster();
  if (!cluster)
    return cluster.takeError();
  OutputFiles files;
  if (Error error = createFiles(files))
    return error;
  if (isExecutorMode()) {
    Expected<PlanningOptions> options = getOptions(*cluster);
    if (!options)
      return options.takeError();
    return runExecutorMode(
        *cluster, strategy, options->memoryLimit, format == Format::JSON,
        timeline, files,
        cantFail(parseOverlapSet(options->communication.overlap)));
  }
  if (input.empty())
    return createStringError("expected a step: STEP.mlir");
  Expected<PlanningOptions> options = getOptions(*cluster);
  if (!options)
    return options.takeError();
  Expected<OwningOpRef<ModuleOp>> module = readStep(context, input);
  if (!module)
    return module.takeError();
  if (Error error = import(**module, options->partition))
    return error;
  Expected<PlannedStep> planned = findPlans(**module, *cluster, *options);
  if (!planned)
    return planned.takeError();
  Expected<Finalist> shown = getShown(**module, *planned, *cluster, *options);
  if (!shown)
    return shown.takeError();
  BatchSize batch = countBatch(getStepFunction(**module));
  if (Error error = writeFiles(*shown, *planned, *cluster, batch,
                               options->partition.reduceType,
                               (*module)->getName().value_or("step"), files))
    return error;
  PlanReport table(*planned, *cluster, *shown, batch, listCollectives, top);
  if (format == Format::JSON)
    table.printJson(llvm::outs());
  else
    table.printTable(llvm::outs());
  return Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  ToolHelp help;
  help.overview = "Finds the fastest strategy of a training step on a cluster "
                  "that need not be there, and explains it";
  help.examples =
      R"(  python -m amsp.export llama --config config.json --seq 4096 -o step.mlir
      # a whole step from the configuration of a model, without its weights
  amsp-plan step.mlir --cluster clusters/a100-80gb-800g.yaml --levels 8x4
      # time and memory of a rank, and of the next best strategies
  amsp-plan step.mlir --cluster my.yaml -o plan.yaml --report plan.html
      # a plan to edit and compile with, a page to read
  amsp-plan step.mlir --cluster my.yaml --strategy zero3 --list-collectives
      # one strategy, with all that it sends
  amsp-plan step.mlir --cluster my.yaml --search recompute,microbatch
      # may also change how the step is computed
  amsp-plan --executor executors/fsdp.yaml --model config.json --sequence 4096 --cluster my.yaml
      # the schedule of another system
)";
  help.groups = {&flags.arguments,      &flags.loops, &flags.communication,
                 &clusterGroup,         &outputGroup, &searchGroup,
                 &getExecutorCategory()};
  Error bad = parseOptions(argc, argv, prepareHelp(help));
  if (!bad)
    bad = verifyModes(input, help.groups);
  if (bad) {
    llvm::errs() << "error: " << toString(std::move(bad)) << "\n";
    return 1;
  }
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
