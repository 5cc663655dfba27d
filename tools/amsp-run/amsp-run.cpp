//===- amsp-run.cpp - Runs a compiled step on its ranks -------------------===//

#include "Options.h"
#include "StepLog.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <chrono>
#include <fstream>
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

/// The batch files of the steps to run; empty without --batches.
static Expected<std::vector<std::string>> batchesOf(const Options &options) {
  if (options.batches.empty())
    return std::vector<std::string>();
  Expected<std::vector<std::string>> files = listBatches(options.batches);
  if (!files)
    return files.takeError();
  int64_t steps = options.steps.value_or(files->size());
  if (steps > static_cast<int64_t>(files->size()))
    return createStringError("--steps " + Twine(steps) + ": " +
                             options.batches + " holds batches for " +
                             Twine(files->size()) + " steps");
  files->resize(steps);
  return files;
}

static Error loadBatch(Session &session, StringRef path) {
  Expected<std::unique_ptr<NpzReader>> file = NpzReader::open(path);
  if (!file)
    return file.takeError();
  return session.loadInputs(**file, Session::Inputs::BatchOnly);
}

/// Loads the state (and, without batch files, the batch).
static Error loadInputs(Session &session, const Options &options) {
  Expected<std::unique_ptr<NpzReader>> file = NpzReader::open(options.inputs);
  if (!file)
    return file.takeError();
  return session.loadInputs(**file, options.batches.empty()
                                        ? Session::Inputs::All
                                        : Session::Inputs::BatchOptional);
}

/// Reports a failed run. Ranks that never came back still use the buffers, so
/// the process ends without destroying anything.
[[noreturn]] static void exitAfter(const runtime::RunError &error) {
  outs().flush();
  errs() << "error: " << error.str() << "\n";
  errs().flush();
  _exit(1);
}

static Error runSteps(Session &session, const Options &options,
                      ArrayRef<std::string> batches, StepLog &log) {
  int64_t steps = batches.empty() ? options.steps.value_or(1)
                                  : static_cast<int64_t>(batches.size());
  for (int64_t step = 0; step < steps; ++step) {
    if (!batches.empty())
      if (Error error = loadBatch(session, batches[step]))
        return error;
    auto begin = std::chrono::steady_clock::now();
    if (std::optional<runtime::RunError> error = session.runStep())
      exitAfter(*error);
    std::chrono::duration<double> duration =
        std::chrono::steady_clock::now() - begin;
    if (Error error = log.record(session.scalarResults(), duration.count()))
      return error;
  }
  return Error::success();
}

static Error writeTrace(const Session &session, const std::string &path) {
  if (path.empty())
    return Error::success();
  std::ofstream file(path);
  session.world().writeTrace(file);
  file.close();
  if (file)
    return Error::success();
  if (sys::fs::is_regular_file(path))
    (void)sys::fs::remove(path);
  return createStringError(path + ": cannot be written");
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
    if (llvm::is_contained(paths.take_front(index), path))
      return createStringError(path + ": named as two outputs");
  }
  return Error::success();
}

static Error runTool(Options options) {
  Expected<StepLibrary> library = StepLibrary::load(options.step);
  if (!library)
    return library.takeError();
  if (options.printsManifest) {
    outs() << library->step->manifest << "\n";
    return Error::success();
  }
  if (Error error = resolveFaults(options, library->manifest))
    return error;
  if (Error error =
          checkWritable({options.outputs, options.log, options.trace}))
    return error;
  Expected<std::vector<std::string>> batches = batchesOf(options);
  if (!batches)
    return batches.takeError();
  Expected<std::unique_ptr<Session>> session =
      Session::create(*library, options.world);
  if (!session)
    return session.takeError();
  if (Error error = loadInputs(**session, options))
    return error;
  StepLog log(options.quiet);
  if (Error error = log.open(options.log))
    return error;
  if (Error error = runSteps(**session, options, *batches, log))
    return error;
  if (Error error = (*session)->writeOutputs(options.outputs))
    return error;
  if (Error error = writeTrace(**session, options.trace))
    return error;
  log.printSummary(library->manifest);
  return Error::success();
}

int main(int argc, char **argv) {
  Expected<Options> options = parseOptions(argc, argv);
  Error error = options ? runTool(std::move(*options)) : options.takeError();
  if (!error)
    return 0;
  outs().flush();
  errs() << "error: " << toString(std::move(error)) << "\n";
  return 1;
}
