//===- Transport.h - Messages between ranks ---------------------*- C++ -*-===//
//
// What the collective algorithms are written against. Messages are lists of
// strided blocks: a transport in shared memory hands them over as they are,
// one over a network describes them to its library.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_RUNTIME_HOST_TRANSPORT_H
#define AMSP_RUNTIME_HOST_TRANSPORT_H

#include "Block.h"
#include "Failure.h"
#include "StallReport.h"
#include "amsp/Runtime/LinkModel.h"

#include <chrono>
#include <functional>
#include <limits>
#include <string>

namespace amsp::runtime {

/// Says which message of which collective this is. Two ends that disagree run
/// different programs, or the same program in different orders.
struct MessageTag {
  int32_t collective = 0;
  int32_t phase = 0;
  int64_t run = 0; // how many collectives this channel ran before

  bool operator==(const MessageTag &other) const {
    return collective == other.collective && phase == other.phase &&
           run == other.run;
  }
};

/// What to tell where a peer's message is of another collective.
std::string orderProblem(int64_t peer, const MessageTag &theirs,
                         const MessageTag &own);

/// One rank's end of one channel; used by one thread. Waiting calls throw
/// Aborted once the world failed.
class Endpoint {
public:
  virtual ~Endpoint() = default;

  /// Bracket the messages of one collective. Where links are modelled, end()
  /// waits until `linkSeconds` after the last member's begin().
  virtual void begin(double /*linkSeconds*/) {}
  virtual void end() {}

  /// Messages must not be longer. Longer ones are cut by the algorithms.
  virtual int64_t maxMessageBytes() const {
    return std::numeric_limits<int64_t>::max();
  }

  /// Memory to receive into, valid until the next call; null where messages
  /// are read in the sender's memory.
  virtual std::byte *staging(int64_t /*bytes*/) { return nullptr; }

  /// Offers a message to a peer. Never waits. The blocks' memory stays valid
  /// and unchanged until flush() returns.
  virtual void post(int64_t peer, const MessageTag &tag,
                    const std::vector<Block> &blocks) = 0;

  /// Says where the peer's next message, not yet announced, may be put. The
  /// blocks have the message's shape.
  virtual void expect(int64_t /*peer*/, const MessageTag & /*tag*/,
                      const std::vector<Block> & /*into*/) {}

  /// Waits for the next expected message of a peer, which must carry `tag`.
  /// Its blocks, here or in the sender's memory, may be read until
  /// release(peer).
  virtual const std::vector<Block> &acquire(int64_t peer,
                                            const MessageTag &tag) = 0;
  virtual void release(int64_t peer) = 0;

  /// Waits until everything posted may be overwritten.
  virtual void flush() = 0;

  /// The peer that the endpoint's thread waits for, or -1. Called from any
  /// thread, to find out who holds up a stalled collective.
  virtual int64_t waitsFor() const = 0;
};

/// Connects the ranks of a world, of which some or all live in this process.
class Transport {
public:
  virtual ~Transport() = default;

  virtual int64_t world() const = 0;
  virtual std::vector<int64_t> localRanks() const = 0;

  /// The links that this transport imitates, or null.
  virtual const LinkModel *links() const { return nullptr; }

  /// Channels are those of Step.h and `hostChannel`.
  virtual Endpoint &endpoint(int64_t localRank, int32_t channel) = 0;

  /// How the local ranks' states can be read, from any thread, until it is
  /// replaced.
  virtual void
  setStatusSource(std::function<std::vector<RankStatus>()> source) = 0;

  /// A local rank waited too long for a collective: finds out who is at fault
  /// and raises the failure. Returns when it is raised.
  virtual void reportStall(const Stall &stall) = 0;

  /// The failure of the whole world, in whichever process it happens.
  Failure failure;

  /// The same moment in all processes; traces count from it.
  std::chrono::steady_clock::time_point origin =
      std::chrono::steady_clock::now();
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_TRANSPORT_H
