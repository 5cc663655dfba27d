//===- Options.cpp - amsp-run's command line ------------------------------===//

#include "Options.h"

#include "Launch.h"
#include "amsp/Compile/ParseOptions.h"
#include "amsp/Support/ToolHelp.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"

using namespace amsp;
using namespace amsp::run;
using namespace llvm;

/// Of ten seconds in all, finding a process that does not answer and ending all
/// by mpirun take three.
static constexpr std::chrono::milliseconds mpiStallLimit{6000};

static cl::OptionCategory checkpointGroup("Checkpoints");
static cl::OptionCategory dataGroup("Data");
static cl::OptionCategory rankGroup("Ranks");
static cl::OptionCategory reportGroup("Reports");
static cl::OptionCategory testGroup("Tests and measurements");

static cl::opt<std::string> stepFile(cl::Positional, cl::value_desc("STEP.so"),
                                     cl::desc("STEP.so"), cl::cat(dataGroup));
static cl::opt<std::string>
    inputs("inputs", cl::value_desc("IN.npz"),
           cl::desc("Global values of the arguments, arg0, arg1, ..."),
           cl::cat(dataGroup));
static cl::opt<std::string>
    outputs("outputs", cl::value_desc("OUT.npz"),
            cl::desc("Where to write the global results, out0, out1, ..."),
            cl::cat(dataGroup));
static cl::opt<std::string>
    steps("steps", cl::value_desc("K"),
          cl::desc("How many steps to run (default: 1, or one for each file "
                   "of --batches)"),
          cl::cat(dataGroup));
static cl::opt<std::string>
    batches("batches", cl::value_desc("DIR"),
            cl::desc("A directory with one npz file of batch arguments per "
                     "step, taken in the order of their names"),
            cl::cat(dataGroup));
static cl::opt<std::string>
    compare("compare", cl::value_desc("REF.so"),
            cl::desc("Run another build of the step (of another strategy, "
                     "world or target) on the same arguments, and end with an "
                     "error at the first result that diverges"),
            cl::cat(testGroup));
static cl::opt<std::string>
    tolerance("tolerance", cl::value_desc("T"),
              cl::desc("With --compare: how far an element may be off, as a "
                       "share of its value's largest one (default: 1e-4)"),
              cl::cat(testGroup));
static cl::opt<std::string>
    load("load", cl::value_desc("DIR"),
         cl::desc("Take the state, and the position in --batches, from the "
                  "checkpoint in this directory, whatever world and strategy "
                  "saved it; --inputs then gives what is not state"),
         cl::cat(checkpointGroup));
static cl::opt<std::string>
    save("save", cl::value_desc("DIR"),
         cl::desc("Make the state the checkpoint of this directory, at the end "
                  "of the run"),
         cl::cat(checkpointGroup));
static cl::opt<std::string>
    every("every", cl::value_desc("K"),
          cl::desc("With --save: also after every K steps"),
          cl::cat(checkpointGroup));
static cl::opt<std::string> transport(
    "transport", cl::init("threads"), cl::value_desc("threads|mpi|nccl"),
    cl::desc("How ranks communicate: as threads of this process (default), or "
             "as processes that MPI started; without a launcher, mpirun is "
             "called with as many ranks as the step needs"),
    cl::cat(rankGroup));
static cl::opt<std::string>
    logFile("log", cl::value_desc("L.jsonl"),
            cl::desc("Write one JSON object per step to this file"),
            cl::cat(reportGroup));
static cl::opt<std::string>
    traceFile("trace", cl::value_desc("T.json"),
              cl::desc("Write a trace of all ranks in Chrome's format"),
              cl::cat(reportGroup));
static cl::list<std::string> injectFault(
    "inject-fault", cl::value_desc("RANK,COLLECTIVE,KIND"),
    cl::desc("Let a rank fail, stall, delay or lag whenever it starts "
             "the collective of this id or name"),
    cl::cat(testGroup));
static cl::opt<std::string>
    stallLimit("stall-limit", cl::value_desc("SECONDS"),
               cl::desc("How long a rank waits in a collective before the run "
                        "ends with an error (default: 8; 6 with mpi, where the "
                        "launcher takes a second to end all ranks)"),
               cl::cat(rankGroup));
static cl::opt<std::string> slowLinks(
    "slow-links", cl::value_desc("bandwidth=B,latency=L[;...][;shared]"),
    cl::desc("Let the threads transport imitate links of so many bytes/s and "
             "seconds, for each level, innermost first, or one for all (also: "
             "AMSP_SLOW_LINKS)"),
    cl::cat(testGroup));
static cl::opt<std::string>
    memoryLimit("memory-limit", cl::value_desc("BYTES"),
                cl::desc("Refuse a step of which a rank needs more: for its "
                         "state, its rows of the batch, its results and the "
                         "arena (memory_bytes of the manifest)"),
                cl::cat(rankGroup));
static cl::opt<bool>
    poison("poison",
           cl::desc("Fill arena, padding and results with NaN before each "
                    "step (also: AMSP_POISON=1)"),
           cl::cat(testGroup));
static cl::opt<bool> manifest("manifest",
                              cl::desc("Print the step's manifest and exit"),
                              cl::cat(reportGroup));
static cl::opt<bool> quiet("quiet", cl::desc("Print no lines per step"),
                           cl::cat(reportGroup));

static Error checkTransport() {
  if (transport == "mpi")
    return Error::success();
  if (transport == "threads") {
    int64_t size = launchedSize().value_or(1);
    if (size == 1 || manifest)
      return Error::success();
    return createStringError("a launcher started " + Twine(size) +
                             " processes: give --transport mpi, or start one");
  }
  if (transport == "nccl")
    return createStringError("--transport " + transport +
                             ": not available in this build; use threads or "
                             "mpi");
  return createStringError("--transport " + transport +
                           ": unknown, expected threads, mpi or nccl");
}

static Error readCount(const cl::opt<std::string> &option,
                       std::optional<int64_t> &count) {
  if (option.empty())
    return Error::success();
  int64_t number;
  if (StringRef(option).getAsInteger(10, number) || number < 1)
    return createStringError("--" + option.ArgStr + " " + option +
                             ": expected a positive number");
  count = number;
  return Error::success();
}

static Error readNumbers(Options &options) {
  if (Error error = readCount(steps, options.steps))
    return error;
  if (Error error = readCount(every, options.every))
    return error;
  if (options.every && save.empty())
    return createStringError("--every " + every + ": needs --save DIR");
  if (!tolerance.empty()) {
    if (compare.empty())
      return createStringError("--tolerance " + tolerance +
                               ": needs --compare REF.so");
    if (StringRef(tolerance).getAsDouble(options.tolerance) ||
        !(options.tolerance >= 0) || options.tolerance > 1)
      return createStringError("--tolerance " + tolerance +
                               ": expected a number from 0 to 1");
  }
  if (!memoryLimit.empty()) {
    int64_t bytes;
    if (StringRef(memoryLimit).getAsInteger(10, bytes) || bytes < 1)
      return createStringError("--memory-limit " + memoryLimit +
                               ": expected a positive number of bytes");
    options.memoryLimit = bytes;
  }
  if (!stallLimit.empty()) {
    double seconds;
    if (StringRef(stallLimit).getAsDouble(seconds) || !(seconds > 0) ||
        seconds > 1e6)
      return createStringError("--stall-limit " + stallLimit +
                               ": expected a positive number of seconds");
    auto milliseconds = static_cast<int64_t>(seconds * 1000);
    options.world.stallLimit =
        std::chrono::milliseconds(std::max<int64_t>(1, milliseconds));
  }
  return Error::success();
}

static StringRef getEnvironment(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

static bool isPoisonSetInEnvironment() {
  StringRef value = getEnvironment("AMSP_POISON");
  return !value.empty() && value != "0";
}

Expected<Options> run::parseOptions(int argc, char **argv) {
  ToolHelp help;
  help.overview = "Runs a compiled training step on its ranks";
  help.examples =
      R"(  amsp-run step.so --inputs in.npz --outputs out.npz --steps 10
      # ranks are threads; arrays are global, named arg0, arg1, ... and out0, out1, ...
  mpirun -np 4 amsp-run step.so --inputs in.npz --outputs out.npz --transport mpi
      # a process for each rank; without mpirun, amsp-run calls it
  amsp-run step.so --inputs in.npz --batches data/ --save ck --every 100
  amsp-run step.so --batches data/ --load ck --save ck
      # a file of rows for each step; the second goes on where the first was saved
  amsp-run step.so --inputs in.npz --outputs out.npz --trace trace.json
      # what overlapped; for ui.perfetto.dev
  amsp-run step.so --inputs in.npz --compare one_rank.so --steps 10
      # the first value of two builds that diverges
)";
  help.groups = {&checkpointGroup, &dataGroup, &rankGroup, &reportGroup,
                 &testGroup};
  if (Error error = amsp::parseOptions(argc, argv, prepareHelp(help)))
    return std::move(error);
  if (stepFile.empty())
    return createStringError("no step given: amsp-run STEP.so --inputs IN.npz "
                             "--outputs OUT.npz");
  if (Error error = checkTransport())
    return std::move(error);
  Options options;
  options.step = stepFile;
  options.inputs = inputs;
  options.outputs = outputs;
  options.batches = batches;
  options.compare = compare;
  options.load = load;
  options.save = save;
  options.log = logFile;
  options.trace = traceFile;
  options.printsManifest = manifest;
  options.quiet = quiet;
  options.usesMpi = transport == "mpi";
  if (options.usesMpi)
    options.world.stallLimit = mpiStallLimit;
  options.faults.assign(injectFault.begin(), injectFault.end());
  if (slowLinks.getNumOccurrences() > 0 && slowLinks.empty())
    return createStringError("--slow-links: expected " + slowLinks.ValueStr +
                             ", not nothing");
  options.slowLinks =
      slowLinks.empty() ? getEnvironment("AMSP_SLOW_LINKS").str() : slowLinks;
  if (options.usesMpi && !options.slowLinks.empty())
    return createStringError("--slow-links: only with --transport threads");
  options.world.trace = !traceFile.empty();
  options.world.poisonArena = poison || isPoisonSetInEnvironment();
  if (!manifest && inputs.empty() && load.empty())
    return createStringError("--inputs IN.npz is missing");
  if (options.usesMpi && !compare.empty())
    return createStringError("--compare runs with --transport threads only");
  if (!manifest && outputs.empty() && save.empty() && compare.empty())
    return createStringError("--outputs OUT.npz is missing");
  if (Error error = readNumbers(options))
    return std::move(error);
  return options;
}

Error run::resolveLinks(Options &options, const Manifest &manifest) {
  if (options.slowLinks.empty())
    return Error::success();
  std::string problem;
  options.world.links =
      runtime::LinkModel::parse(options.slowLinks, manifest.levels, problem);
  if (options.world.links)
    return Error::success();
  return createStringError("--slow-links " + options.slowLinks + ": " +
                           problem);
}

Error run::checkMemory(const Options &options, const Manifest &manifest) {
  if (!options.memoryLimit || manifest.memoryBytes() <= *options.memoryLimit)
    return Error::success();
  return createStringError(
      "a rank needs " + Twine(manifest.memoryBytes()) + " bytes (state " +
      Twine(manifest.stateBytes) + ", batch and results " +
      Twine(manifest.interfaceBytes() - manifest.stateBytes) + ", arena " +
      Twine(manifest.arenaBytes) + "), the --memory-limit is " +
      Twine(*options.memoryLimit));
}

Error run::resolveFaults(Options &options, const Manifest &manifest) {
  for (const std::string &text : options.faults) {
    std::string problem;
    std::optional<runtime::Fault> fault = runtime::Fault::parse(text, problem);
    if (!fault)
      return createStringError("--inject-fault: " + problem);
    if (fault->rank >= manifest.world)
      return createStringError("--inject-fault " + text +
                               ": the step runs on " + Twine(manifest.world) +
                               " ranks");
    if (none_of(manifest.collectives, [&](const Collective &collective) {
          return fault->names(static_cast<int32_t>(collective.id),
                              collective.name);
        }))
      return createStringError("--inject-fault " + text +
                               ": the step has no collective '" +
                               fault->collective + "'");
    options.world.faults.push_back(std::move(*fault));
  }
  return Error::success();
}
