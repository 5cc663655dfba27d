//===- Error.h - How a run fails --------------------------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_ERROR_H
#define AMSP_RUNTIME_ERROR_H

#include <cstdint>
#include <string>
#include <vector>

namespace amsp::runtime {

/// Why a run ended: the rank at fault, and the collective it was in (or kept
/// others waiting in), if any.
struct RunError {
  int64_t rank = 0;
  int64_t step = 0; // counted from 1; 0 before the first step
  int32_t collectiveId = -1;
  std::string collective; // empty: outside of collectives
  std::string message;
  /// Ranks whose compiled code never came back to the runtime. Their threads
  /// still use the buffers of the step: the process should exit.
  std::vector<int64_t> stuckRanks;

  /// One line: rank, collective, step and message.
  std::string str() const;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_ERROR_H
