//===- StallReport.h - Who holds up a collective ----------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_HOST_STALLREPORT_H
#define AMSP_RUNTIME_HOST_STALLREPORT_H

#include "ThreadsTransport.h"
#include "amsp-c/Step.h"

#include <atomic>
#include <memory>
#include <vector>

namespace amsp::runtime {

class ChannelWorker;

/// What every rank waits for, readable by all ranks. When one has waited too
/// long, the chain of who waits for whom leads to the rank at fault.
class StallReport {
public:
  struct Culprit {
    int64_t rank;
    const amsp_collective *collective; // the first one that misses it
    bool isDeadlock;                   // the chain leads back to itself
  };

  explicit StallReport(int64_t world) : ranks(world) {}

  /// Before the ranks run.
  void setWorker(int64_t rank, int32_t channel, const ChannelWorker &worker) {
    ranks[rank].workers[channel] = &worker;
  }

  /// The channel that the rank's compute thread awaits, or -1.
  void setAwaits(int64_t rank, int32_t channel) {
    ranks[rank].awaits.store(channel);
  }

  Culprit findCulprit(int64_t waiter, const amsp_collective &awaited) const;

private:
  const amsp_collective *firstMissed(int64_t culprit,
                                     const amsp_collective &known) const;

  struct RankState {
    const ChannelWorker *workers[numChannels] = {};
    std::atomic<int32_t> awaits{-1};
  };
  std::vector<RankState> ranks;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_STALLREPORT_H
