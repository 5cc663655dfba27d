//===- amsp-compile.cpp - Compiles a training step ------------------------===//

#include "CompileDriver.h"
#include "amsp/Compile/ParseOptions.h"
#include "amsp/InitAllDialects.h"
#include "amsp/Placement/PlacementConverter.h"
#include "amsp/Planner/CollectiveModel.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace amsp;
namespace cl = llvm::cl;

static cl::OptionCategory category("amsp-compile");

static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("STEP.mlir"), cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Output file"),
                                   cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string>
    cluster("cluster", cl::cat(category),
            cl::desc("nodes=2,gpus=4, levels=4x2x2, or a YAML file"));
static cl::opt<std::string> strategy(
    "strategy", cl::cat(category), cl::init("auto"),
    cl::desc("auto, ddp, zero1, zero2, zero3, mics:S, hpz:S, "
             "p=F,g=F,os=F or a plan file (default auto: searched, for A100 "
             "where the cluster does not say what it is made of)"));
static cl::list<std::string> search(
    "search", cl::CommaSeparated, cl::cat(category),
    cl::desc("What --strategy auto may choose besides: recompute, microbatch"));
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
static cl::opt<std::string>
    stateOf("state-of", cl::cat(category), cl::value_desc("TRAIN.so"),
            cl::desc("Compile an evaluation step, which takes state of this "
                     "compiled training step, or an initialisation step, whose "
                     "results begin with all of it, on the training step's "
                     "placements. --cluster must have its levels"));
static cl::opt<std::string>
    reduceType("reduce-type", cl::cat(category), cl::init("f32"),
               cl::desc("Type of reductions: f32 (16-bit sums in f32, the "
                        "default), bf16 (gradients in bf16) or graph"));
static cl::opt<bool>
    noSimplify("no-simplify-collectives", cl::cat(category),
               cl::desc("Keep collectives as single conversions make them"));
static cl::opt<bool>
    noRecognize("no-recognize-attention", cl::cat(category),
                cl::desc("Keep attention as the ops that the step has for it"));
static cl::opt<bool>
    quantizeGathers("quantize-gathers", cl::cat(category),
                    cl::desc("Gather parameters as int8, with a scale for each "
                             "block: changes results"));
static cl::opt<bool>
    quantizeReductions("quantize-reductions", cl::cat(category),
                       cl::desc("Sum gradients over each level as int8, with a "
                                "scale for each block: changes results"));
static cl::opt<std::string>
    quantizeBlock("quantize-block", cl::cat(category), cl::value_desc("N"),
                  cl::desc("Elements that share a scale (default 256)"));
static cl::opt<bool>
    noDecompose("no-decompose-collectives", cl::cat(category),
                cl::desc("Keep collectives over several levels whole, also "
                         "where the cluster's links make parts faster"));
static cl::opt<bool> noFuse("no-fuse-collectives", cl::cat(category),
                            cl::desc("Keep a collective for each tensor"));
static cl::opt<std::string>
    fuseBytes("fuse-bytes", cl::cat(category), cl::value_desc("N"),
              cl::desc("Bytes of the full side of a fused collective at most "
                       "(default: the links of the cluster decide)"));
static cl::opt<std::string>
    packBytes("pack-bytes", cl::cat(category), cl::value_desc("N"),
              cl::desc("Copy tensors of up to so many bytes into one buffer of "
                       "a fused collective (default 0: none)"));
static cl::opt<std::string> peelMicrobatches(
    "peel-microbatches", cl::cat(category), cl::init("auto"), cl::ValueOptional,
    cl::value_desc("auto|on|off"),
    cl::desc("Take the first and the last microbatch out of their loop, so "
             "that what is gathered and reduced once a step overlaps too: "
             "auto (default; if the links of the cluster are known and the "
             "simulated step gets faster and fits), on or off"));
static cl::opt<std::string> pipelineLoops(
    "pipeline-loops", cl::cat(category), cl::init("auto"), cl::ValueOptional,
    cl::value_desc("auto|on|off"),
    cl::desc("In loops over layers, gather one layer ahead and reduce one "
             "behind: auto (default, likewise), on or off"));
static cl::opt<std::string> pipelineBytes(
    "pipeline-bytes", cl::cat(category), cl::value_desc("N"),
    cl::desc("Bytes that a pipelined loop carries at most (default 0: all)"));
static cl::opt<std::string>
    overlap("overlap", cl::cat(category), cl::init("on"),
            cl::desc("Overlap collectives with computation: on (default) or "
                     "off; results have the same bits"));
static cl::opt<std::string> prefetchBytes(
    "prefetch-bytes", cl::cat(category), cl::value_desc("N"),
    cl::desc("Bound on the bytes of collectives in flight (default: twice the "
             "largest unit gathered and the largest unit reduced)"));
static cl::opt<std::string> target("target", cl::cat(category), cl::init("cpu"),
                                   cl::desc("cpu"));
static cl::opt<std::string>
    cpu("mcpu", cl::cat(category), cl::init("native"),
        cl::desc("CPU to compile for: native or a name that LLVM knows"));
static cl::opt<std::string>
    emitKind("emit", cl::cat(category), cl::init("so"),
             cl::desc("What to write: so (shared library), obj (object file), "
                      "llvm (optimised LLVM IR), mlir (LLVM dialect) or "
                      "stablehlo (partitioned program, and "
                      "OUT.manifest.json); default so"));
static cl::opt<std::string>
    report("report", cl::cat(category),
           cl::desc("Write the manifest as OUT.json, or a "
                    "page about the plan as OUT.html"));
static cl::opt<bool>
    printCollectives("print-collectives", cl::cat(category),
                     cl::desc("Print a table of the step's collectives"));

/// Where a value comes from: in a file, as `file:line:column: `, else by the
/// name that the export gave it.
static std::string formatLocation(Location location) {
  FileLineColLoc found;
  NameLoc name;
  location->walk([&](Location nested) {
    if (auto named = dyn_cast<NameLoc>(nested); named && !name)
      name = named;
    found = dyn_cast<FileLineColLoc>(nested);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (found)
    return llvm::formatv("{0}:{1}:{2}: ", found.getFilename().getValue(),
                         found.getLine(), found.getColumn());
  if (name)
    return llvm::formatv("{0}: at '{1}': ", input, name.getName().getValue());
  return "";
}

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
    llvm::errs() << kind << ": " << formatLocation(diagnostic.getLocation())
                 << text << "\n";
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

/// Passes that choose by time need a cluster that tells its links.
static CommunicateOptions
getCommunication(const std::optional<Cluster> &parsed) {
  CommunicateOptions options;
  if (parsed) {
    llvm::Expected<CollectiveModel> model = CollectiveModel::create(*parsed);
    if (model)
      options.cluster = cluster;
    else
      consumeError(model.takeError());
  }
  options.quantizeGathers = quantizeGathers;
  options.quantizeReductions = quantizeReductions;
  options.decompose = !noDecompose;
  options.fuse = !noFuse;
  return options;
}

// LLVM's command line prints a missing required option, or a value that an enum
// does not have or that is no number, in lines of its own; so all are checked
// here.

static llvm::Error readNumbers(CommunicateOptions &options) {
  struct Number {
    const cl::opt<std::string> &option;
    int64_t &value; // the default, if the option is not given
    int64_t least;
  };
  for (const Number &number :
       {Number{quantizeBlock, options.quantizeBlock, 1},
        Number{fuseBytes, options.fuseBytes, 0},
        Number{packBytes, options.packBytes, 0},
        Number{pipelineBytes, options.pipelineBytes, 0},
        Number{prefetchBytes, options.prefetchBytes, 0}}) {
    if (number.option.getNumOccurrences() == 0)
      continue;
    if (StringRef(number.option).getAsInteger(10, number.value) ||
        number.value < number.least)
      return llvm::createStringError("--" + number.option.ArgStr + " " +
                                     number.option +
                                     ": expected a whole number, at least " +
                                     Twine(number.least) + " and below 2^63");
  }
  return llvm::Error::success();
}

static llvm::Expected<CompileOptions> getOptions() {
  CompileOptions options;
  if (output.empty())
    return llvm::createStringError("no output file given: -o OUT");
  if (target != "cpu")
    return llvm::createStringError("--target " + target +
                                   ": this build has the target cpu only");
  if (!parseReduceType(reduceType))
    return llvm::createStringError("--reduce-type " + reduceType +
                                   ": expected f32, bf16 or graph");
  if (overlap != "on" && overlap != "off")
    return llvm::createStringError("--overlap " + overlap +
                                   ": expected on or off");
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
  options.batchArgs.assign(batchArgs.begin(), batchArgs.end());
  options.stateArgs.assign(stateArgs.begin(), stateArgs.end());
  options.roles.assign(roles.begin(), roles.end());
  options.stateOf = stateOf;
  if (reduceType.getNumOccurrences() > 0)
    options.reduceType = reduceType;
  options.simplifyCollectives = !noSimplify;
  options.recognizeAttention = !noRecognize;
  options.communication = getCommunication(options.cluster);
  if (llvm::Error error = readNumbers(options.communication))
    return error;
  if (llvm::Error error = setLoopSwitches(options.communication,
                                          peelMicrobatches, pipelineLoops))
    return error;
  options.communication.overlap = overlap == "on";
  options.cpu = cpu;
  llvm::Expected<EmitKind> emit = getEmitKind();
  if (!emit)
    return emit.takeError();
  options.emit = *emit;
  options.report = report;
  options.printCollectives = printCollectives;
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
  // LLVM's own options, hundreds of them, are for --help-hidden.
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (!llvm::is_contained(option->Categories, &category) &&
        !name.starts_with("mlir-") && !name.starts_with("help") &&
        name != "version")
      option->setHiddenFlag(cl::Hidden);
  if (llvm::Error error = parseOptions(
          argc, argv,
          "Compiles a StableHLO training step for a cluster\n\n"
          "  amsp-compile step.mlir -o step.so --cluster nodes=2,gpus=4 "
          "--strategy p=4x1,g=4x1,os=4x2\n"
          "  amsp-run step.so --inputs in.npz --outputs out.npz --steps 10\n"))
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
