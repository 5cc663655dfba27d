//===- Launch.h - Processes that MPI starts ---------------------*- C++ -*-===//

#ifndef AMSP_TOOLS_AMSP_RUN_LAUNCH_H
#define AMSP_TOOLS_AMSP_RUN_LAUNCH_H

#include "llvm/Support/Error.h"

#include <optional>

namespace amsp::run {

/// Whether an MPI launcher started this process, and what it says of the
/// number and the count of them, before MPI runs.
bool isLaunched();
std::optional<int64_t> launchedRank();
std::optional<int64_t> launchedSize();

/// Calls mpirun with this program's arguments, for `ranks` processes. Returns
/// the exit status: of a failed run 1, after one line that says why.
llvm::Expected<int> launch(char **argv, int64_t ranks);

} // namespace amsp::run

#endif // AMSP_TOOLS_AMSP_RUN_LAUNCH_H
