//===- amsp-profile.cpp - Measures this machine for the planner -----------===//

#include "../amsp-run/Launch.h"
#include "ClusterFile.h"
#include "Measure.h"
#include "amsp/Compile/ParseOptions.h"
#include "amsp/Runtime/Processes.h"
#include "amsp/Support/ToolHelp.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace amsp;
using namespace amsp::profile;
using namespace llvm;

static cl::OptionCategory category("Options");
static cl::opt<std::string>
    output("o", cl::Required, cl::cat(category), cl::value_desc("CLUSTER.yaml"),
           cl::desc("the cluster file; the table of "
                    "collectives is written beside it"));
static cl::opt<int64_t> ranks("ranks", cl::Required, cl::cat(category),
                              cl::desc("ranks of the machine"));
static cl::opt<std::string> transport("transport", cl::init("threads"),
                                      cl::cat(category),
                                      cl::desc("threads or mpi"));
static cl::opt<std::string> name("name", cl::cat(category),
                                 cl::desc("of the cluster; default: the "
                                          "file's"));
static cl::opt<double> memory("memory", cl::init(0), cl::cat(category),
                              cl::desc("bytes that a rank may use; default: "
                                       "this machine's, shared by the ranks"));
static cl::opt<int64_t> maxBytes("max-bytes", cl::init(64 << 20),
                                 cl::cat(category),
                                 cl::desc("of a collective's full buffer, from "
                                          "4096 on"));
static cl::opt<int64_t> maxGemm("max-gemm", cl::init(1024), cl::cat(category),
                                cl::desc("rows of the largest contraction"));
static cl::opt<double> seconds("seconds", cl::init(0.2), cl::cat(category),
                               cl::desc("for each number, about"));

static Error checkOptions() {
  auto require = [](bool holds, const Twine &text) {
    return holds ? Error::success() : createStringError(text);
  };
  if (Error error = require(ranks >= 1 && ranks <= 4096,
                            "--ranks must be from 1 to 4096"))
    return error;
  if (Error error =
          require(maxBytes >= 4096, "--max-bytes must be at least 4096"))
    return error;
  if (Error error = require(maxGemm >= 1 && maxGemm <= 16384,
                            "--max-gemm must be from 1 to 16384"))
    return error;
  if (Error error = require(seconds > 0, "--seconds must be positive"))
    return error;
  if (Error error = require(memory >= 0, "--memory must be positive"))
    return error;
  if (Error error = require(transport == "threads" || transport == "mpi",
                            "--transport must be threads or mpi"))
    return error;
  StringRef directory = sys::path::parent_path(output);
  return require(directory.empty() || sys::fs::is_directory(directory),
                 output + ": there is no directory " + directory);
}

static Error profileRanks(runtime::Processes *processes) {
  if (processes && processes->size() != ranks)
    return createStringError("--ranks " + Twine(ranks) +
                             ": the launcher started " +
                             Twine(processes->size()) + " processes");
  MeasureOptions options;
  options.ranks = ranks;
  options.maxBytes = maxBytes;
  options.maxGemm = maxGemm;
  options.seconds = seconds;
  Expected<std::unique_ptr<Measurement>> measurement =
      Measurement::create(options, processes);
  if (!measurement)
    return measurement.takeError();
  Expected<Profile> profile = (*measurement)->run();
  if (!profile)
    return profile.takeError();
  if (processes && processes->rank() != 0)
    return Error::success();
  ClusterDescription description;
  description.name =
      name.empty() ? sys::path::stem(output).str() : name.getValue();
  description.transport = transport;
  description.ranks = ranks;
  description.memory = memory > 0 ? memory.getValue()
                                  : double(sysconf(_SC_PHYS_PAGES)) *
                                        sysconf(_SC_PAGE_SIZE) / ranks;
  return writeClusterFile(output, description, *profile);
}

static int fail(Error error) {
  errs() << "error: " << toString(std::move(error)) << "\n";
  return 1;
}

/// One of the processes that MPI started.
static int joinAndProfile() {
  std::string problem;
  std::unique_ptr<runtime::Processes> processes =
      runtime::Processes::joinMpi(problem);
  if (!processes)
    return fail(createStringError("--transport mpi: " + problem));
  std::string own = toString(profileRanks(processes.get()));
  std::string verdict = processes->agree(own);
  if (verdict.empty())
    return 0;
  if (processes->rank() == 0)
    processes->fail(verdict);
  if (processes->isReporter())
    fail(createStringError(verdict));
  processes->exitAfterFailure();
}

int main(int argc, char **argv) {
  ToolHelp help;
  help.overview = "Measures collectives, contractions and memory of this "
                  "machine, and writes them as a cluster file for amsp-plan";
  help.examples =
      R"(  amsp-profile --ranks 4 -o here.yaml
      # ranks as threads; writes here.yaml, and here.csv with the collectives
  amsp-profile --ranks 4 --transport mpi -o here-mpi.yaml --seconds 1
      # as processes, and longer for each number
  amsp-plan step.mlir --cluster here.yaml
)";
  help.groups = {&category};
  if (Error error = amsp::parseOptions(argc, argv, prepareHelp(help)))
    return fail(std::move(error));
  if (Error error = checkOptions())
    return fail(std::move(error));
  if (transport == "threads") {
    if (Error error = profileRanks(nullptr))
      return fail(std::move(error));
    return 0;
  }
  if (run::isLaunched())
    return joinAndProfile();
  Expected<int> status = run::launch(argv, ranks);
  return status ? *status : fail(status.takeError());
}
