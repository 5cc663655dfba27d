//===- Frame.h - Messages of the control link -------------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_MPI_FRAME_H
#define AMSP_RUNTIME_MPI_FRAME_H

#include "StallReport.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace amsp::runtime {

/// One message between rank 0 and another rank.
struct Frame {
  enum class Kind : uint8_t {
    Hello,   // the first: token, and who it is
    Failed,  // error, and who tells it to the user
    Stalled, // a rank asks rank 0 who is at fault
    Ask,     // rank 0 asks what a rank does
    Status,  // the answer
    Bye      // the process ends as it should
  };
  Kind kind = Kind::Bye;
  int64_t rank = -1; // Hello: the sender; Failed: the reporter; Ask: who died
  std::string token;
  RunError error;
  Stall stall;
  RankStatus status;

  /// With its length in front.
  std::string encode() const;
  /// Takes the first complete frame out of a buffer; nothing if there is none.
  /// A frame that makes no sense throws std::runtime_error.
  static std::optional<Frame> take(std::string &buffer);
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_MPI_FRAME_H
