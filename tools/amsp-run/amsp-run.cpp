//===- amsp-run.cpp - Runs a compiled step on its ranks -------------------===//

#include "Comparison.h"
#include "Launch.h"
#include "Options.h"
#include "StepLog.h"
#include "amsp/Run/TraceSummary.h"
#include "amsp/Support/OutputFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <chrono>
#include <unistd.h>

using namespace amsp;
using namespace amsp::run;
using namespace llvm;

/// The npz files of a directory, in the order of their names.
static Expected<std::vector<std::string>> listBatches(StringRef directory) {
  std::vector<std::string> files;
  std::error_code code;
  for (sys::fs::directory_iterator entry(directory, code), end;
       !code && entry != end; entry.increment(code))
    if (sys::path::extension(entry->path()) == ".npz")
      files.push_back(entry->path());
  if (code)
    return createStringError("--batches " + directory + ": " + code.message());
  if (files.empty())
    return createStringError("--batches " + directory +
                             ": there are no npz files");
  llvm::sort(files);
  return files;
}

/// The batch files of the steps to run, from a position on; empty without
/// --batches.
static Expected<std::vector<std::string>> batchesOf(const Options &options,
                                                    int64_t position) {
  if (options.batches.empty())
    return std::vector<std::string>();
  Expected<std::vector<std::string>> files = listBatches(options.batches);
  if (!files)
    return files.takeError();
  auto count = static_cast<int64_t>(files->size());
  if (position >= count)
    return createStringError("--load " + options.load + ": has consumed " +
                             Twine(position) + " batches, all " + Twine(count) +
                             " of " + options.batches);
  int64_t steps = options.steps.value_or(count - position);
  if (steps > count - position)
    return createStringError("--steps " + Twine(steps) + ": " +
                             options.batches + " holds batches for " +
                             Twine(count - position) +
                             (position ? " further steps" : " steps"));
  auto begin = files->begin() + position;
  return std::vector<std::string>(begin, begin + steps);
}

static Error loadBatch(Session &session, StringRef path) {
  Expected<std::unique_ptr<NpzReader>> file = NpzReader::open(path);
  if (!file)
    return file.takeError();
  return session.loadInputs(**file, [](const Value &value) {
    return value.isBatch() ? Session::Need::Required : Session::Need::Refused;
  });
}

/// Loads what neither batch files nor a checkpoint give.
static Error loadInputs(Session &session, const Options &options,
                        const Manifest &manifest) {
  auto needs = [&](const Value &value) {
    bool isGiven = (value.isBatch() && !options.batches.empty()) ||
                   (value.isState() && !options.load.empty());
    return isGiven ? Session::Need::Ignored : Session::Need::Required;
  };
  if (!options.inputs.empty()) {
    Expected<std::unique_ptr<NpzReader>> file = NpzReader::open(options.inputs);
    if (!file)
      return file.takeError();
    return session.loadInputs(**file, needs);
  }
  for (const Value &value : manifest.arguments)
    if (needs(value) == Session::Need::Required)
      return createStringError("--inputs IN.npz is missing: checkpoints do not "
                               "hold " +
                               value.describe());
  return Error::success();
}

/// This rank's error or, with several processes, the first of all ranks.
static Error agree(runtime::Processes *processes, Error own) {
  if (!processes)
    return own;
  std::string text = toString(std::move(own));
  std::string verdict = processes->agree(text);
  return verdict.empty() ? Error::success() : createStringError(verdict);
}

/// Tells a failure of the running ranks, once, and ends. Ranks that never came
/// back still use the buffers, so nothing is destroyed.
[[noreturn]] static void exitAfter(runtime::Processes *processes,
                                   const std::string &message) {
  outs().flush();
  if (!processes || processes->isReporter())
    errs() << "error: " << message << "\n";
  errs().flush();
  if (processes)
    processes->exitAfterFailure();
  _exit(1);
}

namespace {
/// A run of a loaded step, in the only process or in one of several.
class Runner {
public:
  Runner(const Options &options, const StepLibrary &library,
         runtime::Processes *processes)
      : options(options), library(library), processes(processes),
        isFirst(!processes || processes->rank() == 0),
        log(options.quiet || !isFirst) {}

  Error run();

private:
  Error prepare();
  Error loadCheckpoint(Session &session);
  Error loadArguments(Session &session);
  Error loadNextBatch(StringRef path);
  Error runStep();
  Error runSteps();
  Error writeTrace(std::optional<OutputFile> &trace) const;

  const Options &options;
  const StepLibrary &library;
  runtime::Processes *const processes;
  const bool isFirst; // which writes the files
  StepLog log;
  std::vector<std::string> batches;
  std::unique_ptr<Session> session;
  std::unique_ptr<Comparison> comparison; // with --compare
  RunPosition position;
};
} // namespace

Error Runner::loadCheckpoint(Session &session) {
  if (options.load.empty())
    return Error::success();
  Expected<std::unique_ptr<CheckpointReader>> checkpoint =
      CheckpointReader::open(options.load);
  if (!checkpoint)
    return checkpoint.takeError();
  position = (*checkpoint)->position();
  return session.loadState(**checkpoint);
}

Error Runner::loadArguments(Session &session) {
  if (Error error = loadCheckpoint(session))
    return error;
  return loadInputs(session, options, library.manifest);
}

Error Runner::loadNextBatch(StringRef path) {
  ++position.batches;
  if (comparison)
    if (Error error = loadBatch(comparison->session(), path))
      return error;
  return loadBatch(*session, path);
}

Error Runner::prepare() {
  Expected<std::unique_ptr<Session>> created =
      Session::create(library, options.world, processes);
  if (!created)
    return created.takeError();
  session = std::move(*created);
  if (Error error = loadArguments(*session))
    return error;
  if (!options.compare.empty()) {
    Expected<std::unique_ptr<Comparison>> created =
        Comparison::create(options, library);
    if (!created)
      return created.takeError();
    comparison = std::move(*created);
    if (Error error = loadArguments(comparison->session()))
      return error;
  }
  Expected<std::vector<std::string>> files =
      batchesOf(options, position.batches);
  if (!files)
    return files.takeError();
  batches = std::move(*files);
  return isFirst ? log.open(options.log) : Error::success();
}

Error Runner::runStep() {
  auto begin = std::chrono::steady_clock::now();
  if (std::optional<runtime::RunError> error = session->runStep())
    exitAfter(processes, error->str());
  std::chrono::duration<double> duration =
      std::chrono::steady_clock::now() - begin;
  ++position.steps;
  Error error =
      log.record(position.steps, session->scalarResults(), duration.count());
  if (!error || !processes)
    return error;
  // The others are on their way to the next step.
  std::string message = toString(std::move(error));
  processes->fail(message);
  exitAfter(processes, message);
}

Error Runner::runSteps() {
  int64_t steps = batches.empty() ? options.steps.value_or(1)
                                  : static_cast<int64_t>(batches.size());
  for (int64_t step = 0; step < steps; ++step) {
    if (!batches.empty())
      if (Error error = agree(processes, loadNextBatch(batches[step])))
        return error;
    if (Error error = runStep())
      return error;
    if (comparison)
      if (Error error = comparison->runStep(position.steps, *session))
        return error;
    bool isLast = step + 1 == steps;
    bool isDue = isLast || (options.every && (step + 1) % *options.every == 0);
    if (isDue && !options.save.empty())
      if (Error error = session->saveState(options.save, position))
        return error;
  }
  return Error::success();
}

/// Rank 0 writes the events of all ranks, to a file beside its place.
Error Runner::writeTrace(std::optional<OutputFile> &trace) const {
  if (options.trace.empty())
    return Error::success();
  std::string events = session->world().traceEvents();
  for (int64_t rank = 1; processes && rank < processes->size(); ++rank) {
    std::string theirs;
    if (!processes->sendToFirst(rank, events, theirs))
      return createStringError(processes->error()->str());
    if (isFirst)
      events += "," + theirs;
  }
  if (!isFirst)
    return Error::success();
  Expected<json::Value> parsed = json::parse("[" + events + "]");
  if (!parsed)
    return parsed.takeError();
  json::Value summary = summarizeTrace(*parsed->getAsArray());
  if (!options.quiet)
    log.printCommunication(*summary.getAsObject());
  std::string summaryText;
  raw_string_ostream(summaryText) << formatv("{0:2}", summary);
  Expected<OutputFile> file = OutputFile::create(options.trace);
  if (!file)
    return file.takeError();
  trace = std::move(*file);
  return trace->write("{\"traceEvents\": [" + events +
                      "\n],\n\"summary\": " + summaryText + "}\n");
}

Error Runner::run() {
  if (Error error = agree(processes, prepare()))
    return error;
  if (Error error = runSteps())
    return error;
  // Both files appear, or neither.
  std::optional<OutputFile> trace;
  if (Error error = agree(processes, writeTrace(trace)))
    return error;
  if (!options.outputs.empty())
    if (Error error = session->writeOutputs(options.outputs))
      return error;
  if (trace)
    if (Error error = trace->commit())
      return error;
  if (isFirst)
    log.printSummary(library.manifest);
  if (comparison)
    comparison->printSummary();
  return Error::success();
}

/// So that a run does not end in vain.
static Error checkWritable(ArrayRef<StringRef> paths) {
  for (auto [index, path] : llvm::enumerate(paths)) {
    if (path.empty())
      continue;
    StringRef directory = sys::path::parent_path(path);
    if (!directory.empty() && !sys::fs::is_directory(directory))
      return createStringError(path + ": there is no directory " + directory);
    if (sys::fs::is_directory(path))
      return createStringError(path + ": cannot be written: it is a directory");
    if (sys::fs::exists(path) && !sys::fs::is_regular_file(path))
      continue; // /dev/null takes everything
    if (llvm::is_contained(paths.take_front(index), path))
      return createStringError(path + ": named as two outputs");
  }
  return Error::success();
}

/// What can be said before the ranks run.
static Expected<StepLibrary> loadStep(Options &options) {
  Expected<StepLibrary> library = StepLibrary::load(options.step);
  if (!library || options.printsManifest)
    return library;
  if (Error error = resolveFaults(options, library->manifest))
    return std::move(error);
  if (Error error = resolveLinks(options, library->manifest))
    return std::move(error);
  if (Error error = checkMemory(options, library->manifest))
    return std::move(error);
  if (Error error =
          checkWritable({options.outputs, options.log, options.trace}))
    return std::move(error);
  if (Error error =
          verifyOutputs({options.outputs, options.log, options.trace},
                        {options.step, options.inputs, options.compare}))
    return std::move(error);
  if (!options.save.empty())
    if (Error error = CheckpointWriter::check(options.save))
      return createStringError("--save " + toString(std::move(error)));
  return library;
}

static Error checkSize(const Manifest &manifest,
                       const runtime::Processes &processes) {
  if (processes.size() == manifest.world)
    return Error::success();
  return createStringError(
      "the step was compiled for " + Twine(manifest.world) +
      " ranks, the launcher started " + Twine(processes.size()));
}

/// All ranks must run the same program, on as many processes as it is for.
static Error compareRanks(const Manifest &manifest,
                          runtime::Processes &processes) {
  // Also where the sizes are equal: another rank's step may be for another.
  if (Error error = agree(&processes, checkSize(manifest, processes)))
    return error;
  std::optional<runtime::Processes::Difference> difference =
      processes.compare(manifest.programHash);
  if (!difference)
    return Error::success();
  // Only now, as the lists may be long. Rank 0 tells.
  runtime::ProgramIdentity own = manifest.identity();
  std::string list;
  if (!processes.sendToFirst(difference->rank, join(own.collectives, "\n"),
                             list))
    return createStringError(processes.error()->str());
  runtime::ProgramIdentity theirs;
  theirs.hash = difference->text;
  for (StringRef line : split(list, '\n'))
    if (!line.empty())
      theirs.collectives.push_back(line.str());
  return createStringError("rank " + Twine(difference->rank) + ": " +
                           runtime::explainDifference(theirs, own));
}

/// One of the processes that MPI started.
static Error runRank(Options options, runtime::Processes &processes) {
  Expected<StepLibrary> library = loadStep(options);
  if (Error error =
          agree(&processes, library ? Error::success() : library.takeError()))
    return error;
  if (Error error = compareRanks(library->manifest, processes))
    return error;
  return Runner(options, *library, &processes).run();
}

static int reportError(Error error) {
  outs().flush();
  errs() << "error: " << toString(std::move(error)) << "\n";
  return 1;
}

/// Of several processes that fail alike, one tells.
static int reportOnce(Error error) {
  if (launchedRank().value_or(0) == 0)
    return reportError(std::move(error));
  consumeError(std::move(error));
  // The launcher ends all when the first one does.
  sleep(1);
  return 1;
}

static int joinAndRun(Options options) {
  std::string problem;
  std::unique_ptr<runtime::Processes> processes =
      runtime::Processes::joinMpi(problem);
  if (!processes)
    return reportOnce(createStringError("--transport mpi: " + problem));
  Error error = runRank(std::move(options), *processes);
  if (!error)
    return 0;
  // What the ranks agreed on is now everyone's failure, and ends them as such.
  std::string message = toString(std::move(error));
  if (processes->rank() == 0)
    processes->fail(message);
  exitAfter(processes.get(), message);
}

static Expected<int> runTool(Options &options, char **argv) {
  Expected<StepLibrary> library = loadStep(options);
  if (!library)
    return library.takeError();
  if (options.printsManifest) {
    outs() << library->step->manifest << "\n";
    return 0;
  }
  if (options.usesMpi)
    return launch(argv, library->manifest.world);
  if (Error error = Runner(options, *library, nullptr).run())
    return std::move(error);
  return 0;
}

int main(int argc, char **argv) {
  Expected<Options> options = parseOptions(argc, argv);
  if (!options)
    return reportOnce(options.takeError());
  if (options->usesMpi && !options->printsManifest && isLaunched())
    return joinAndRun(std::move(*options));
  Expected<int> status = runTool(*options, argv);
  return status ? *status : reportError(status.takeError());
}
