//===- StallReport.h - Who holds up a collective ----------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_HOST_STALLREPORT_H
#define AMSP_RUNTIME_HOST_STALLREPORT_H

#include "amsp/Runtime/Error.h"

#include <array>
#include <vector>

namespace amsp::runtime {

/// The channels of Step.h, which collectives run on.
inline constexpr int32_t numChannels = 2;
/// Between steps: inputs, outputs, traces.
inline constexpr int32_t hostChannel = numChannels;

/// What a rank does at the moment.
struct RankStatus {
  struct Channel {
    int64_t waitsFor = -1;     // a peer, or -1
    int32_t collectiveId = -1; // what runs
    std::string collective;
  };
  int64_t rank = 0;
  int64_t step = 0;
  int32_t awaits = -1; // the channel that its compute thread awaits, or -1
  bool responds = true;
  std::array<Channel, numChannels> channels;

  bool waitsForRank(int64_t other) const {
    for (const Channel &channel : channels)
      if (channel.waitsFor == other)
        return true;
    return false;
  }
};

/// An await that exceeded its limit.
struct Stall {
  int64_t waiter = 0;
  int64_t step = 0;
  int32_t channel = 0;
  int32_t collectiveId = -1;
  std::string collective;
  double limitSeconds = 0;
};

/// `0.5` for 0.5.
std::string shortNumber(double number);

/// The error of a stall: the chain of who waits for whom, in the statuses of
/// all ranks by number, leads to the rank at fault.
RunError explainStall(const std::vector<RankStatus> &statuses,
                      const Stall &stall);

/// The error of a rank whose process ended: names the first collective in
/// which another waits for it, if any does.
RunError explainDeath(const std::vector<RankStatus> &statuses, int64_t rank);

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_STALLREPORT_H
