//===- ThreadsTransport.h - Messages between threads ------------*- C++ -*-===//
//
// Ranks are threads of one process, so a message is a pointer into the
// sender's buffers and the receiver reads them in place.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_RUNTIME_HOST_THREADSTRANSPORT_H
#define AMSP_RUNTIME_HOST_THREADSTRANSPORT_H

#include "Transport.h"

#include <atomic>
#include <memory>

namespace amsp::runtime {

class ThreadsEndpoint;

class ThreadsTransport final : public Transport {
public:
  explicit ThreadsTransport(int64_t world,
                            std::optional<LinkModel> links = std::nullopt);
  ~ThreadsTransport() override;

  int64_t world() const override { return size; }
  std::vector<int64_t> localRanks() const override;
  const LinkModel *links() const override {
    return modelled ? &*modelled : nullptr;
  }
  Endpoint &endpoint(int64_t rank, int32_t channel) override;
  ThreadsEndpoint &peerEndpoint(int64_t rank, int32_t channel) {
    return *endpoints[rank * numChannels + channel];
  }
  void
  setStatusSource(std::function<std::vector<RankStatus>()> source) override {
    statuses = std::move(source);
  }
  void reportStall(const Stall &stall) override {
    failure.raise(explainStall(statuses(), stall));
  }

  using Clock = std::chrono::steady_clock;

  /// Takes the links of a rank for so long; from when on it has them.
  Clock::time_point takeLinks(int64_t rank, Clock::duration duration);

private:
  const int64_t size;
  const std::optional<LinkModel> modelled;
  std::mutex linksMutex;
  std::vector<Clock::time_point> linksFree; // by rank, where they are shared
  std::function<std::vector<RankStatus>()> statuses;
  std::vector<std::unique_ptr<ThreadsEndpoint>> endpoints;
};

class ThreadsEndpoint final : public Endpoint {
public:
  ThreadsEndpoint(ThreadsTransport &transport, int64_t rank, int32_t channel);

  void begin(double linkSeconds) override;
  void end() override;
  void post(int64_t peer, const MessageTag &tag,
            const std::vector<Block> &blocks) override;
  const std::vector<Block> &acquire(int64_t peer,
                                    const MessageTag &tag) override;
  void release(int64_t peer) override;
  void flush() override;
  int64_t waitsFor() const override { return awaitedPeer.load(); }

private:
  using Clock = ThreadsTransport::Clock;
  struct Message {
    int64_t from = 0;
    int64_t to = 0;
    MessageTag tag;
    Clock::time_point begun; // the sender's collective
    std::vector<Block> blocks;
    bool consumed = false; // guarded by the sender's signal
  };

  template <typename Condition>
  void waitFor(std::unique_lock<std::mutex> &lock, int64_t peer,
               Condition condition);

  Message *takeFrom(int64_t peer);

  ThreadsTransport &transport;
  const int64_t rank;
  const int32_t channel;
  std::atomic<int64_t> awaitedPeer{-1};

  Signal signal;
  std::vector<Message *> inbox; // guarded by the signal, in order of arrival

  // Used by the endpoint's own thread only.
  Clock::duration linkTime{0};
  Clock::time_point begun;         // the links are this rank's from then on
  Clock::time_point lastBegun;     // of all members
  std::vector<Message *> acquired; // by peer
  std::vector<Message *> posted;
  std::vector<Message *> free;
  std::vector<std::unique_ptr<Message>> messages;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_THREADSTRANSPORT_H
