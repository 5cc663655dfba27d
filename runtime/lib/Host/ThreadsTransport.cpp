//===- ThreadsTransport.cpp - Messages between threads --------------------===//

#include "ThreadsTransport.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

using namespace amsp;
using namespace amsp::runtime;

std::string runtime::orderProblem(int64_t peer, const MessageTag &theirs,
                                  const MessageTag &own) {
  return "ranks disagree on the order of collectives: rank " +
         std::to_string(peer) + " runs collective " +
         std::to_string(theirs.collective) + " as number " +
         std::to_string(theirs.run) + " of its channel, this rank " +
         std::to_string(own.collective) + " as number " +
         std::to_string(own.run);
}

ThreadsTransport::ThreadsTransport(int64_t world,
                                   std::optional<LinkModel> links)
    : size(world), modelled(std::move(links)), linksFree(world) {
  endpoints.reserve(world * numChannels);
  for (int64_t rank = 0; rank < world; ++rank)
    for (int32_t channel = 0; channel < numChannels; ++channel)
      endpoints.push_back(
          std::make_unique<ThreadsEndpoint>(*this, rank, channel));
}

ThreadsTransport::~ThreadsTransport() = default;

std::vector<int64_t> ThreadsTransport::localRanks() const {
  std::vector<int64_t> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

ThreadsTransport::Clock::time_point
ThreadsTransport::takeLinks(int64_t rank, Clock::duration duration) {
  Clock::time_point now = Clock::now();
  if (!modelled || !modelled->isShared)
    return now;
  std::lock_guard<std::mutex> lock(linksMutex);
  Clock::time_point begin = std::max(now, linksFree[rank]);
  linksFree[rank] = begin + duration;
  return begin;
}

Endpoint &ThreadsTransport::endpoint(int64_t rank, int32_t channel) {
  return peerEndpoint(rank, channel);
}

ThreadsEndpoint::ThreadsEndpoint(ThreadsTransport &transport, int64_t rank,
                                 int32_t channel)
    : transport(transport), rank(rank), channel(channel),
      acquired(transport.world(), nullptr) {
  transport.failure.subscribe(signal);
}

template <typename Condition>
void ThreadsEndpoint::waitFor(std::unique_lock<std::mutex> &lock, int64_t peer,
                              Condition condition) {
  awaitedPeer.store(peer);
  signal.changed.wait(
      lock, [&] { return condition() || transport.failure.raised(); });
  awaitedPeer.store(-1);
  // A message that has arrived is of no use in a world that failed.
  if (transport.failure.raised())
    throw Aborted();
}

void ThreadsEndpoint::begin(double linkSeconds) {
  linkTime = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(linkSeconds));
  lastBegun = begun = transport.takeLinks(rank, linkTime);
}

/// Asleep, so that whoever computes has the core.
void ThreadsEndpoint::end() {
  if (linkTime == Clock::duration::zero())
    return;
  std::unique_lock<std::mutex> lock(signal.mutex);
  signal.changed.wait_until(lock, lastBegun + linkTime,
                            [&] { return transport.failure.raised(); });
  if (transport.failure.raised())
    throw Aborted();
}

void ThreadsEndpoint::post(int64_t peer, const MessageTag &tag,
                           const std::vector<Block> &blocks) {
  if (free.empty()) {
    messages.push_back(std::make_unique<Message>());
    free.push_back(messages.back().get());
  }
  Message *message = free.back();
  free.pop_back();
  message->from = rank;
  message->to = peer;
  message->tag = tag;
  message->begun = begun;
  message->blocks = blocks;
  message->consumed = false;
  posted.push_back(message);

  ThreadsEndpoint &receiver = transport.peerEndpoint(peer, channel);
  std::lock_guard<std::mutex> lock(receiver.signal.mutex);
  receiver.inbox.push_back(message);
  receiver.signal.changed.notify_one();
}

/// Takes the oldest message of a peer out of the inbox; null if there is none.
ThreadsEndpoint::Message *ThreadsEndpoint::takeFrom(int64_t peer) {
  for (auto each = inbox.begin(); each != inbox.end(); ++each) {
    if ((*each)->from != peer)
      continue;
    Message *message = *each;
    inbox.erase(each);
    return message;
  }
  return nullptr;
}

const std::vector<Block> &ThreadsEndpoint::acquire(int64_t peer,
                                                   const MessageTag &tag) {
  Message *message = nullptr;
  {
    std::unique_lock<std::mutex> lock(signal.mutex);
    waitFor(lock, peer, [&] { return (message = takeFrom(peer)) != nullptr; });
  }
  if (!(message->tag == tag))
    throw std::runtime_error(orderProblem(peer, message->tag, tag));
  acquired[peer] = message;
  lastBegun = std::max(lastBegun, message->begun);
  return message->blocks;
}

void ThreadsEndpoint::release(int64_t peer) {
  ThreadsEndpoint &sender = transport.peerEndpoint(peer, channel);
  std::lock_guard<std::mutex> lock(sender.signal.mutex);
  acquired[peer]->consumed = true;
  acquired[peer] = nullptr;
  sender.signal.changed.notify_one();
}

void ThreadsEndpoint::flush() {
  for (Message *message : posted) {
    std::unique_lock<std::mutex> lock(signal.mutex);
    waitFor(lock, message->to, [&] { return message->consumed; });
    free.push_back(message);
  }
  posted.clear();
}
