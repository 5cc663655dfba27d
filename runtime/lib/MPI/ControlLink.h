//===- ControlLink.h - Failures between processes ---------------*- C++ -*-===//
//
// A connection from every process to rank 0's, beside MPI: it tells of failures
// and finds out who is at fault, and the kernel closes it when a process dies,
// however it does. MPI itself has nothing to say of a dead peer.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_RUNTIME_MPI_CONTROLLINK_H
#define AMSP_RUNTIME_MPI_CONTROLLINK_H

#include "Failure.h"
#include "Frame.h"
#include "Socket.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <thread>

namespace amsp::runtime {

class ControlLink {
public:
  using StatusSource = std::function<std::vector<RankStatus>()>;

  /// `peers`: on rank 0 the connections to all others by rank, elsewhere the
  /// one to rank 0. Handles SIGTERM, which the process must have blocked.
  ControlLink(int64_t rank, int64_t world, Failure &failure,
              std::map<int64_t, Socket> peers);
  /// Says goodbye.
  ~ControlLink();

  void setStatusSource(StatusSource source);

  /// A local rank's wait exceeded its limit. Returns when a failure is raised.
  void reportStall(const Stall &stall);

  /// Tells everyone of a failure; called when it is raised.
  void announce(const RunError &error);

  /// Waits a moment until everything is sent.
  void flush();

  int64_t reporter() const { return reportingRank; }

private:
  using Time = std::chrono::steady_clock::time_point;

  /// Rank 0 looks for who is at fault.
  struct Inquiry {
    int64_t dead = -1; // a rank whose process ended, or -1: `stall`
    Stall stall;
    std::vector<RankStatus> statuses; // by rank
    int64_t missing = 0;
    Time deadline;
  };
  struct Peer {
    Socket socket;
    std::string received;
    bool left = false;
  };

  void loop();
  int nextTimeout() const;
  void sendQueued();
  void receiveFrom(int64_t rank);
  void handle(int64_t from, const Frame &frame);
  void lost(int64_t rank);
  void beginInquiry(int64_t dead, const Stall &stall);
  void addStatus(const RankStatus &status);
  void answer(bool isLast);
  void handleDeadlines();
  void handleTermination();
  void raise(RunError error, int64_t reporter);
  void queue(int64_t to, Frame frame);
  RankStatus ownStatus();

  const int64_t rank;
  const int64_t world;
  Failure &failure;
  std::atomic<int64_t> reportingRank{0};
  std::map<int64_t, Peer> peers;

  std::mutex mutex; // guards what follows
  std::condition_variable sent;
  StatusSource source;
  std::vector<std::pair<int64_t, Frame>> outbox;
  bool stopping = false;

  // The thread's own.
  std::optional<Inquiry> inquiry;
  std::optional<int64_t> askedFor; // who died, or -1
  Time answerDeadline;
  std::optional<Time> terminationDeadline;

  Socket wake;    // an eventfd
  Socket signals; // a signalfd
  Signal failed;  // wakes reportStall
  std::thread thread;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_MPI_CONTROLLINK_H
