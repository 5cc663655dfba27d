//===- Options.h - amsp-run's command line ----------------------*- C++ -*-===//

#ifndef AMSP_TOOLS_AMSP_RUN_OPTIONS_H
#define AMSP_TOOLS_AMSP_RUN_OPTIONS_H

#include "amsp/Run/Manifest.h"
#include "amsp/Runtime/World.h"

namespace amsp::run {

struct Options {
  std::string step;
  std::string inputs;
  std::string outputs;
  std::string batches;
  std::string compare;
  double tolerance = 1e-4; // of --compare
  std::string load;
  std::string save;
  std::string log;
  std::string trace;
  std::optional<int64_t> steps; // without: one, or one for each batch file
  std::optional<int64_t> every; // without: once, at the end
  bool printsManifest = false;
  bool quiet = false;
  std::vector<std::string> faults;
  std::string slowLinks;
  std::optional<int64_t> memoryLimit; // bytes of a rank
  bool usesMpi = false;
  runtime::WorldOptions world;
};

/// Reads and checks what can be checked without the step.
llvm::Expected<Options> parseOptions(int argc, char **argv);

/// Parses `--slow-links` against the step's levels.
llvm::Error resolveLinks(Options &options, const Manifest &manifest);

/// Fails if a rank of the step needs more than `--memory-limit`.
llvm::Error checkMemory(const Options &options, const Manifest &manifest);

/// Parses `--inject-fault` against the step's ranks and collectives.
llvm::Error resolveFaults(Options &options, const Manifest &manifest);

} // namespace amsp::run

#endif // AMSP_TOOLS_AMSP_RUN_OPTIONS_H
