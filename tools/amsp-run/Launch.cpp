//===- Launch.cpp - Processes that MPI starts -----------------------------===//

#include "Launch.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace amsp;
using namespace llvm;

/// The first of some environment variables that holds a number.
static std::optional<int64_t>
numberInEnvironment(std::initializer_list<const char *> names) {
  for (const char *name : names) {
    int64_t number;
    const char *text = std::getenv(name);
    if (text && !StringRef(text).getAsInteger(10, number))
      return number;
  }
  return std::nullopt;
}

// Open MPI; MPICH, Intel MPI and srun with PMI.
std::optional<int64_t> run::launchedRank() {
  return numberInEnvironment({"OMPI_COMM_WORLD_RANK", "PMI_RANK"});
}

std::optional<int64_t> run::launchedSize() {
  return numberInEnvironment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
}

bool run::isLaunched() {
  return launchedRank() || launchedSize() || std::getenv("PMIX_RANK");
}

/// Open MPI takes its options from the environment too, where another mpirun
/// does not mind them. A value that the user has set stays.
static void setLauncherOptions() {
  static constexpr std::pair<const char *, const char *> options[] = {
      // Containers run as root and may show fewer cores than there are ranks.
      {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
      // A rank's threads compute and communicate at once.
      {"OMPI_MCA_hwloc_base_binding_policy", "none"},
      // The ranks say why they failed.
      {"OMPI_MCA_orte_execute_quiet", "1"},
  };
  for (auto [name, value] : options)
    setenv(name, value, /*overwrite=*/0);
}

/// In the child: becomes mpirun, which ends when this process's parent does.
[[noreturn]] static void becomeLauncher(const std::string &path,
                                        const std::vector<char *> &arguments,
                                        int errorPipe) {
  setLauncherOptions();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  dup2(errorPipe, STDERR_FILENO);
  execv(path.c_str(), arguments.data());
  _exit(127);
}

/// Hands on what the ranks write; whether a line of it is an error.
static bool forwardErrors(int pipe) {
  bool hasError = false;
  std::string line;
  char chunk[4096];
  while (true) {
    ssize_t count = read(pipe, chunk, sizeof(chunk));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    StringRef text(chunk, count);
    errs() << text;
    line += text;
    size_t end = line.rfind('\n');
    hasError |= StringRef(line).starts_with("error: ") ||
                StringRef(line).contains("\nerror: ");
    if (end != std::string::npos)
      line.erase(0, end + 1);
  }
  return hasError;
}

Expected<int> run::launch(char **argv, int64_t ranks) {
  ErrorOr<std::string> path = sys::findProgramByName("mpirun");
  if (!path)
    return createStringError("--transport mpi: there is no mpirun in PATH");
  std::string self = sys::fs::getMainExecutable(
      argv[0], reinterpret_cast<void *>(&run::launch));
  std::string count = std::to_string(ranks);
  std::string option = "-np";
  std::vector<char *> arguments = {path->data(), option.data(), count.data(),
                                   self.data()};
  for (char **each = argv + 1; *each; ++each)
    arguments.push_back(*each);
  arguments.push_back(nullptr);
  int errorPipe[2];
  if (pipe(errorPipe) != 0)
    return createStringError("--transport mpi: no pipe for mpirun");
  pid_t child = fork();
  if (child < 0)
    return createStringError("--transport mpi: mpirun cannot be started");
  if (child == 0) {
    close(errorPipe[0]);
    becomeLauncher(*path, arguments, errorPipe[1]);
  }
  close(errorPipe[1]);
  bool hasError = forwardErrors(errorPipe[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return 0;
  if (hasError)
    return 1;
  return createStringError(
      WIFEXITED(status)
          ? "mpirun ended with status " + Twine(WEXITSTATUS(status))
          : "mpirun was ended by signal " + Twine(WTERMSIG(status)));
}
