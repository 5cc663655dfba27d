//===- RankContext.h - The state of one rank in a run -----------*- C++ -*-===//

#ifndef AMSP_RUNTIME_HOST_RANKCONTEXT_H
#define AMSP_RUNTIME_HOST_RANKCONTEXT_H

#include "ChannelWorker.h"
#include "Failure.h"
#include "TraceBuffer.h"
#include "Transport.h"
#include "amsp-c/Step.h"
#include "amsp/Runtime/Fault.h"

#include <array>
#include <atomic>
#include <chrono>
#include <csetjmp>
#include <map>
#include <memory>
#include <unordered_map>

namespace amsp::runtime {

/// What the ranks of a world share.
struct RankEnvironment {
  Transport &transport;
  Failure &failure; // the transport's
  const std::chrono::milliseconds stallLimit;
  const std::vector<Fault> faults;
};

} // namespace amsp::runtime

/// The C ABI's opaque type. Its functions return false when the world failed;
/// the C functions then leave compiled code through `leave`.
struct amsp_rank {
public:
  amsp_rank(int64_t number, amsp::runtime::RankEnvironment &environment,
            bool trace);
  ~amsp_rank();

  bool start(const amsp_collective &collective, const void *const *sources,
             void *const *destinations);
  bool await(const amsp_collective &collective);
  bool gemm(const amsp_gemm &gemm, const void *a, const void *b, void *c);

  /// Runs `execute` of a step; false if the world failed. Returns when no
  /// thread of this rank touches the buffers any more.
  bool runStep(const amsp_step &step, void *arena, void *const *arguments,
               void *const *results);

  /// What this rank does now; from any thread.
  amsp::runtime::RankStatus status() const;

  /// Drops what is kept about a description whose memory ends.
  void forget(const amsp_collective &collective) { jobs.erase(&collective); }

  int64_t numCommunicators() const {
    return static_cast<int64_t>(communicators.size());
  }

  /// Reports an error of this rank; always false.
  bool fail(const std::string &message,
            const amsp_collective *collective = nullptr);

  /// Ends `execute` after a failure. Compiled code has no destructors, and
  /// the C functions of the ABI keep none alive when they call this.
  [[noreturn]] void leave() { longjmp(leavePoint, 1); }

  const int64_t number;
  std::atomic<int64_t> stepNumber{0};
  amsp::runtime::TraceBuffer trace;
  std::array<std::unique_ptr<amsp::runtime::ChannelWorker>,
             amsp::runtime::numChannels>
      workers;

private:
  amsp::runtime::CollectiveJob *prepare(const amsp_collective &collective);
  const amsp::runtime::Group &communicator(const amsp_collective &collective);
  bool injectFaults(const amsp_collective &collective);
  bool waitForJob(amsp::runtime::CollectiveJob &job);
  const amsp_collective *firstInFlight() const;
  bool reportStall(const amsp_collective &collective);

  amsp::runtime::RankEnvironment &environment;
  amsp::runtime::Signal signal; // a job ended, or the world failed
  std::jmp_buf leavePoint;
  int64_t jobsInFlight = 0;
  std::atomic<int32_t> awaitedChannel{-1};

  // Made at a collective's first start; later steps only look them up.
  std::unordered_map<const amsp_collective *,
                     std::unique_ptr<amsp::runtime::CollectiveJob>>
      jobs;
  /// One communicator per channel and ordered list of members.
  std::map<std::pair<int32_t, std::vector<int64_t>>, amsp::runtime::Group>
      communicators;
};

namespace amsp::runtime {
using RankContext = ::amsp_rank;
} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_RANKCONTEXT_H
