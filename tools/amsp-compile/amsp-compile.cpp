//===- amsp-compile.cpp - Compiles a training step ------------------------===//

#include "CompileDriver.h"
#include "amsp/Compile/FormatLocation.h"
#include "amsp/Compile/ParseOptions.h"
#include "amsp/InitAllDialects.h"
#include "amsp/Support/OutputFile.h"
#include "amsp/Support/ToolHelp.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace amsp;
namespace cl = llvm::cl;

static StepFlags flags;
static cl::OptionCategory outputGroup("Output");
static cl::OptionCategory placementGroup("Placement");

static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("STEP.mlir"), cl::cat(outputGroup));
static cl::opt<std::string> output("o", cl::desc("Output file"),
                                   cl::value_desc("file"),
                                   cl::cat(outputGroup));
static cl::opt<std::string>
    cluster("cluster", cl::cat(placementGroup),
            cl::desc("nodes=2,gpus=4, levels=4x2x2, or a YAML file"));
static cl::opt<std::string> strategy(
    "strategy", cl::cat(placementGroup), cl::init("auto"),
    cl::desc("auto, ddp, zero1, zero2, zero3, mics:S, hpz:S, "
             "p=F,g=F,os=F or a plan file (default auto: searched, for A100 "
             "where the cluster does not say what it is made of)"));
static cl::list<std::string> search(
    "search", cl::CommaSeparated, cl::cat(placementGroup),
    cl::desc("What --strategy auto may choose besides: recompute, microbatch"));
static cl::opt<std::string>
    stateOf("state-of", cl::cat(flags.arguments), cl::value_desc("TRAIN.so"),
            cl::desc("Compile an evaluation step, which takes state of this "
                     "compiled training step, or an initialisation step, whose "
                     "results begin with all of it, on the training step's "
                     "placements. --cluster must have its levels"));
static cl::opt<std::string> target("target", cl::cat(outputGroup),
                                   cl::init("cpu"), cl::desc("cpu"));
static cl::opt<std::string>
    cpu("mcpu", cl::cat(outputGroup), cl::init("native"),
        cl::desc("CPU to compile for: native or a name that LLVM knows"));
static cl::opt<std::string>
    emitKind("emit", cl::cat(outputGroup), cl::init("so"),
             cl::desc("What to write: so (shared library), obj (object file), "
                      "llvm (optimised LLVM IR), mlir (LLVM dialect) or "
                      "stablehlo (partitioned program, and "
                      "OUT.manifest.json); default so"));
static cl::opt<std::string>
    report("report", cl::cat(outputGroup),
           cl::desc("Write the manifest as OUT.json, or a "
                    "page about the plan as OUT.html"));
static cl::opt<bool>
    printCollectives("print-collectives", cl::cat(outputGroup),
                     cl::desc("Print a table of the step's collectives"));
static cl::opt<bool>
    printStatistics("statistics", cl::cat(outputGroup),
                    cl::desc("Print a table of what the passes counted"));
static cl::opt<std::string>
    remarks("remarks", cl::cat(outputGroup), cl::value_desc("PASSES"),
            cl::desc("Print what passes of communication decided: a regular "
                     "expression of their names, as amsp-fuse or ."));

/// One line per diagnostic, and of errors the first: it is the cause.
static void printDiagnostics(MLIRContext &context, bool &hasError) {
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
    if (isError && hasError)
      return success();
    hasError |= isError;
    StringRef kind = isError ? "error"
                     : diagnostic.getSeverity() == DiagnosticSeverity::Warning
                         ? "warning"
                         : "remark";
    std::string text = diagnostic.str();
    std::replace(text.begin(), text.end(), '\n', ' ');
    llvm::errs() << kind << ": "
                 << formatLocation(diagnostic.getLocation(), input) << text
                 << "\n";
    return success();
  });
}

static llvm::Expected<EmitKind> getEmitKind() {
  auto kind = llvm::StringSwitch<std::optional<EmitKind>>(emitKind)
                  .Case("so", EmitKind::SharedLibrary)
                  .Case("obj", EmitKind::Object)
                  .Case("llvm", EmitKind::LLVM)
                  .Case("mlir", EmitKind::MLIR)
                  .Case("stablehlo", EmitKind::StableHLO)
                  .Default(std::nullopt);
  if (!kind)
    return llvm::createStringError("--emit " + emitKind +
                                   ": expected so, obj, llvm, mlir or "
                                   "stablehlo");
  return *kind;
}

// LLVM's command line prints a missing required option, or a value that an enum
// does not have, in lines of its own; so all are checked here.

/// The files that are read stay as they are.
static llvm::Error checkFiles() {
  if (output.empty())
    return llvm::createStringError("no output file given: -o OUT");
  std::string description = output + ".manifest.json";
  return verifyOutputs(
      {output, description, report},
      {input, strategy, stateOf, StringRef(cluster).split(',').first});
}

static llvm::Expected<CompileOptions> getOptions() {
  CompileOptions options;
  if (llvm::Error error = checkFiles())
    return std::move(error);
  if (target != "cpu")
    return llvm::createStringError("--target " + target +
                                   ": this build has the target cpu only");
  if (!report.empty() && !StringRef(report).ends_with(".json") &&
      !StringRef(report).ends_with(".html"))
    return llvm::createStringError("--report " + report +
                                   ": expected OUT.json or OUT.html");
  if (!cluster.empty()) {
    llvm::Expected<Cluster> parsed = parseCluster(cluster);
    if (!parsed)
      return parsed.takeError();
    options.cluster = std::move(*parsed);
  }
  options.input = input;
  options.output = output;
  options.strategy = strategy;
  options.search.assign(search.begin(), search.end());
  if (!search.empty() && strategy != "auto")
    return llvm::createStringError("--search needs --strategy auto");
  llvm::Expected<PartitionOptions> partition = flags.readPartition();
  if (!partition)
    return partition.takeError();
  options.partition = std::move(*partition);
  options.partition.stateOf = stateOf;
  llvm::Expected<CommunicateOptions> communication = flags.readCommunication(
      cluster, options.cluster ? &*options.cluster : nullptr);
  if (!communication)
    return communication.takeError();
  options.communication = std::move(*communication);
  options.flags = &flags;
  options.cpu = cpu;
  llvm::Expected<EmitKind> emit = getEmitKind();
  if (!emit)
    return emit.takeError();
  options.emit = *emit;
  options.report = report;
  options.printCollectives = printCollectives;
  options.printStatistics = printStatistics;
  options.remarks = remarks;
  std::string why;
  if (!remarks.empty() && !llvm::Regex(options.remarks).isValid(why))
    return llvm::createStringError("--remarks " + remarks + ": " + why);
  return options;
}

/// Prints an error, unless a diagnostic has said it.
static int fail(llvm::Error error, bool isReported = false) {
  std::string text = toString(std::move(error));
  if (text.empty() && !isReported)
    text = "compilation failed without a diagnostic";
  if (!text.empty())
    llvm::errs() << "error: " << text << "\n";
  return 1;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  ToolHelp help;
  help.overview =
      "Compiles a StableHLO training step for the ranks of a cluster";
  help.examples =
      R"(  python -m amsp.export gpt --out .            # writes step.mlir and inputs.npz
  amsp-compile step.mlir -o step.so --cluster nodes=2,gpus=4
      # with the strategy that is fastest on eight A100; a cluster file says what is there
  amsp-compile step.mlir -o step.so --cluster my.yaml --strategy zero3
      # or ddp, zero1, zero2, mics:8, hpz:8, p=4x1,g=4x1,os=4x2, a plan of amsp-plan
  amsp-compile eval.mlir -o eval.so --cluster my.yaml --state-of step.so
      # on the placements of a training step
  amsp-compile step.mlir -o rank.mlir --cluster levels=8 --emit stablehlo
      # the program of a rank, to read or to run under JAX
  amsp-run step.so --inputs inputs.npz --outputs out.npz --steps 10
)";
  help.groups = {&flags.arguments, &flags.loops, &flags.communication,
                 &outputGroup, &placementGroup};
  help.others = {"mlir-timing", "mlir-print-ir-after-all"};
  if (llvm::Error error = parseOptions(argc, argv, prepareHelp(help)))
    return fail(std::move(error));
  llvm::Expected<CompileOptions> options = getOptions();
  if (!options)
    return fail(options.takeError());

  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  amsp::registerAllDialects(registry);
  MLIRContext context(registry);
  bool hasError = false;
  printDiagnostics(context, hasError);
  DefaultTimingManager timingManager;
  applyDefaultTimingManagerCLOptions(timingManager);
  TimingScope timing = timingManager.getRootScope();
  llvm::Error error = CompileDriver(*options, context, timing).run();
  return error ? fail(std::move(error), hasError) : 0;
}
