//===- ControlLink.cpp - Failures between processes -----------------------===//

#include "ControlLink.h"

#include <algorithm>
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

using namespace amsp::runtime;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// A rank that does not answer within this time is stopped. A launcher kills
/// the others a second after one died, so all of it stays well below.
static constexpr milliseconds inquiryLimit{450};
/// Who is asked about a dead rank waits this long to be held up by it.
static constexpr milliseconds answerLimit{250};
static constexpr milliseconds answerInterval{10};
/// When rank 0 finds nobody at fault, it is itself.
static constexpr milliseconds verdictLimit{1000};
/// A launcher that ends a run sends SIGTERM to ranks that may still have the
/// reason to tell.
static constexpr milliseconds terminationLimit{800};

ControlLink::ControlLink(int64_t rank, int64_t world, Failure &failure,
                         std::map<int64_t, Socket> sockets)
    : rank(rank), world(world), failure(failure),
      wake(eventfd(0, EFD_CLOEXEC)) {
  for (auto &[peer, socket] : sockets)
    peers[peer].socket = std::move(socket);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  signals = Socket(signalfd(-1, &set, SFD_CLOEXEC));
  failure.subscribe(failed);
  thread = std::thread([this] { loop(); });
}

ControlLink::~ControlLink() {
  Frame bye;
  for (auto &[peer, state] : peers)
    queue(peer, bye);
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  eventfd_write(wake.get(), 1);
  thread.join();
  failure.unsubscribe(failed);
}

void ControlLink::setStatusSource(StatusSource newSource) {
  std::lock_guard<std::mutex> lock(mutex);
  source = std::move(newSource);
}

RankStatus ControlLink::ownStatus() {
  std::lock_guard<std::mutex> lock(mutex);
  RankStatus status;
  if (source)
    status = source().front();
  status.rank = rank;
  return status;
}

void ControlLink::queue(int64_t to, Frame frame) {
  std::lock_guard<std::mutex> lock(mutex);
  outbox.emplace_back(to, std::move(frame));
  eventfd_write(wake.get(), 1);
}

void ControlLink::announce(const RunError &error) {
  Frame frame;
  frame.kind = Frame::Kind::Failed;
  frame.rank = reportingRank;
  frame.error = error;
  for (auto &[peer, state] : peers)
    queue(peer, frame);
}

void ControlLink::flush() {
  std::unique_lock<std::mutex> lock(mutex);
  sent.wait_for(lock, inquiryLimit, [this] { return outbox.empty(); });
}

void ControlLink::reportStall(const Stall &stall) {
  Frame frame;
  frame.kind = Frame::Kind::Stalled;
  frame.stall = stall;
  queue(0, frame); // rank 0 sends it to itself
  {
    std::unique_lock<std::mutex> lock(failed.mutex);
    if (failed.changed.wait_for(lock, verdictLimit,
                                [this] { return failure.raised(); }))
      return;
  }
  // Only rank 0 can be the reason that there is no verdict.
  std::vector<RankStatus> statuses(world);
  statuses[rank] = ownStatus();
  statuses[0].responds = false;
  RankStatus::Channel &waits = statuses[rank].channels[stall.channel];
  waits = {0, stall.collectiveId, stall.collective};
  raise(explainStall(statuses, stall), 1);
}

void ControlLink::raise(RunError error, int64_t reporter) {
  if (!failure.raised())
    reportingRank = reporter;
  failure.raise(std::move(error));
}

void ControlLink::sendQueued() {
  eventfd_t ignored;
  eventfd_read(wake.get(), &ignored);
  while (true) {
    std::vector<std::pair<int64_t, Frame>> batch;
    {
      std::lock_guard<std::mutex> lock(mutex);
      batch = outbox;
    }
    for (auto &[to, frame] : batch) {
      if (to == rank)
        handle(rank, frame);
      else if (peers[to].socket.isOpen())
        peers[to].socket.send(frame.encode());
    }
    std::lock_guard<std::mutex> lock(mutex);
    outbox.erase(outbox.begin(),
                 outbox.begin() + static_cast<ptrdiff_t>(batch.size()));
    if (!outbox.empty())
      continue;
    sent.notify_all();
    return;
  }
}

void ControlLink::receiveFrom(int64_t from) {
  Peer &peer = peers[from];
  try {
    if (peer.socket.receive(peer.received)) {
      while (std::optional<Frame> frame = Frame::take(peer.received))
        handle(from, *frame);
      return;
    }
  } catch (const std::exception &problem) {
    raise({from, 0, -1, "", problem.what(), {}}, 0);
  }
  peer.socket = Socket();
  if (!peer.left && !failure.raised())
    lost(from);
}

void ControlLink::handle(int64_t from, const Frame &frame) {
  switch (frame.kind) {
  case Frame::Kind::Hello:
    break; // before the thread starts
  case Frame::Kind::Failed:
    raise(frame.error, frame.rank);
    break;
  case Frame::Kind::Stalled:
    if (!inquiry && !failure.raised())
      beginInquiry(-1, frame.stall);
    break;
  case Frame::Kind::Ask:
    askedFor = frame.rank;
    answerDeadline = Clock::now() + answerLimit;
    answer(/*isLast=*/frame.rank < 0);
    break;
  case Frame::Kind::Status:
    addStatus(frame.status);
    break;
  case Frame::Kind::Bye:
    peers[from].left = true;
    break;
  }
}

/// A process ended without a word.
void ControlLink::lost(int64_t peer) {
  if (rank == 0)
    return beginInquiry(peer, {});
  // Nobody is left to ask; this rank alone can tell what it waits for.
  askedFor = 0;
  answerDeadline = Clock::now() + answerLimit;
}

void ControlLink::beginInquiry(int64_t dead, const Stall &stall) {
  inquiry = Inquiry{dead, stall, std::vector<RankStatus>(world), world,
                    Clock::now() + inquiryLimit};
  for (RankStatus &status : inquiry->statuses)
    status.responds = false; // until its answer comes
  if (dead >= 0)
    --inquiry->missing;
  Frame ask;
  ask.kind = Frame::Kind::Ask;
  ask.rank = dead;
  for (int64_t other = 0; other < world; ++other)
    if (other != dead)
      queue(other, ask);
}

/// Tells what this rank does: at once, or, when asked about a dead rank, as
/// soon as it waits for that.
void ControlLink::answer(bool isLast) {
  RankStatus status = ownStatus();
  if (!isLast && !status.waitsForRank(*askedFor))
    return;
  bool hubDied = rank != 0 && *askedFor == 0;
  askedFor.reset();
  if (hubDied)
    return raise(explainDeath({status}, 0), 1);
  Frame frame;
  frame.kind = Frame::Kind::Status;
  frame.status = status;
  queue(0, frame);
}

void ControlLink::addStatus(const RankStatus &status) {
  if (!inquiry)
    return;
  inquiry->statuses[status.rank] = status;
  inquiry->statuses[status.rank].responds = true;
  if (--inquiry->missing == 0)
    inquiry->deadline = Clock::now();
}

void ControlLink::handleDeadlines() {
  Time now = Clock::now();
  if (askedFor)
    answer(/*isLast=*/now >= answerDeadline);
  if (inquiry && now >= inquiry->deadline) {
    Inquiry ended = std::move(*inquiry);
    inquiry.reset();
    raise(ended.dead >= 0 ? explainDeath(ended.statuses, ended.dead)
                          : explainStall(ended.statuses, ended.stall),
          0);
  }
  if (terminationDeadline && now >= *terminationDeadline)
    _exit(128 + SIGTERM);
}

void ControlLink::handleTermination() {
  signalfd_siginfo info;
  if (read(signals.get(), &info, sizeof(info)) != sizeof(info))
    return;
  // Who has nothing to tell leaves at once.
  if (failure.raised() && rank != reportingRank)
    _exit(1);
  if (!terminationDeadline)
    terminationDeadline = Clock::now() + terminationLimit;
}

/// Milliseconds until something is due, or -1.
int ControlLink::nextTimeout() const {
  std::optional<Time> due;
  auto consider = [&](Time time) { due = due ? std::min(*due, time) : time; };
  if (askedFor)
    consider(Clock::now() + answerInterval);
  if (inquiry)
    consider(inquiry->deadline);
  if (terminationDeadline)
    consider(*terminationDeadline);
  if (!due)
    return -1;
  auto left =
      std::chrono::duration_cast<milliseconds>(*due - Clock::now()).count();
  return static_cast<int>(std::max<int64_t>(0, left + 1));
}

void ControlLink::loop() {
  while (true) {
    std::vector<pollfd> entries = {{wake.get(), POLLIN, 0},
                                   {signals.get(), POLLIN, 0}};
    std::vector<int64_t> ranks;
    for (auto &[peer, state] : peers) {
      if (!state.socket.isOpen())
        continue;
      entries.push_back({state.socket.get(), POLLIN, 0});
      ranks.push_back(peer);
    }
    poll(entries.data(), entries.size(), nextTimeout());
    if (entries[0].revents)
      sendQueued();
    if (entries[1].revents)
      handleTermination();
    for (size_t i = 0; i < ranks.size(); ++i)
      if (entries[i + 2].revents)
        receiveFrom(ranks[i]);
    handleDeadlines();
    std::lock_guard<std::mutex> lock(mutex);
    if (stopping && outbox.empty())
      return;
  }
}
