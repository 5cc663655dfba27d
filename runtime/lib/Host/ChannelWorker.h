//===- ChannelWorker.h - Progress of one channel of a rank ------*- C++ -*-===//
//
// A thread that runs the collectives of one channel in program order, so that
// a rank computes while its transfers proceed.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_RUNTIME_HOST_CHANNELWORKER_H
#define AMSP_RUNTIME_HOST_CHANNELWORKER_H

#include "Failure.h"
#include "TraceBuffer.h"
#include "Transport.h"
#include "amsp-c/Step.h"
#include "amsp/Runtime/Group.h"

#include <atomic>
#include <deque>
#include <thread>

namespace amsp::runtime {

/// A started collective. At most one run of a description is in flight, so
/// its job is made once and used again by every run.
struct CollectiveJob {
  const amsp_collective *collective = nullptr;
  const Group *group = nullptr;
  double linkSeconds = 0;           // where the transport models links
  std::chrono::milliseconds lag{0}; // an injected fault
  std::vector<const void *> sources;
  std::vector<void *> destinations;
  bool inFlight = false;          // between start and await; the rank's own
  std::atomic<bool> done = false; // set under the rank's signal
};

class ChannelWorker {
public:
  /// `rankSignal` is notified when a job ends. `step` is the rank's.
  ChannelWorker(int64_t rank, Endpoint &endpoint, Failure &failure,
                Signal &rankSignal, const std::atomic<int64_t> &step);
  ~ChannelWorker();

  void enqueue(CollectiveJob &job);

  /// Waits until no job is queued or running. After a failure the remaining
  /// jobs are dropped.
  void drain();

  /// From any thread: what runs now, if anything, and the peer it waits for.
  RankStatus::Channel status() const;

  TraceBuffer trace;

private:
  void loop();
  void run(CollectiveJob &job);

  const int64_t rank;
  Endpoint &endpoint;
  Failure &failure;
  Signal &rankSignal;
  const std::atomic<int64_t> &step;
  std::atomic<const amsp_collective *> running{nullptr};
  int64_t runs = 0;

  Signal queueSignal;
  std::deque<CollectiveJob *> queue; // the front is running
  bool stopping = false;
  std::thread thread;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_CHANNELWORKER_H
