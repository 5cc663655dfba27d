//===- Fault.h - Injected faults --------------------------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_FAULT_H
#define AMSP_RUNTIME_FAULT_H

#include "amsp-c/Step.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace amsp::runtime {

/// A fault that one rank shows when it starts one collective.
struct Fault {
  enum class Kind {
    Fail,  // the rank reports an error
    Stall, // the rank stops until the others give up
    Delay, // the rank sleeps before each start; results must not change
    Lag    // its channel sleeps before it moves the data; neither must these
  };
  int64_t rank = 0;
  std::string collective; // an id or a name
  Kind kind = Kind::Fail;
  std::chrono::milliseconds delay{50};

  bool hits(int64_t rank, const amsp_collective &collective) const;
  /// Whether the fault is at the collective of this id and name.
  bool names(int32_t id, std::string_view name) const;

  /// Parses `RANK,COLLECTIVE,KIND`; names may hold commas. Sets `error`
  /// where the text is not a fault.
  static std::optional<Fault> parse(std::string_view text, std::string &error);
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_FAULT_H
