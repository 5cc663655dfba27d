//===- Transport.h - Messages between ranks ---------------------*- C++ -*-===//
//
// What the collective algorithms are written against. Messages are lists of
// strided blocks: a transport in shared memory hands them over as they are,
// one over a network packs them or describes them to its library.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_RUNTIME_HOST_TRANSPORT_H
#define AMSP_RUNTIME_HOST_TRANSPORT_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace amsp::runtime {

/// `rows` rows of `rowBytes` bytes, `strideBytes` apart.
struct Block {
  const std::byte *data = nullptr;
  int64_t rows = 0;
  int64_t rowBytes = 0;
  int64_t strideBytes = 0;

  const std::byte *row(int64_t index) const {
    return data + index * strideBytes;
  }
};

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

/// One rank's end of one channel; used by one thread. Waiting calls throw
/// Aborted once the world failed.
class Endpoint {
public:
  virtual ~Endpoint() = default;

  /// Offers a message to a peer. Never waits. The blocks' memory stays valid
  /// and unchanged until flush() returns.
  virtual void post(int64_t peer, const MessageTag &tag,
                    const std::vector<Block> &blocks) = 0;

  /// Waits for the next message of a peer, which must carry `tag`. Its blocks
  /// may be read until release(peer).
  virtual const std::vector<Block> &acquire(int64_t peer,
                                            const MessageTag &tag) = 0;
  virtual void release(int64_t peer) = 0;

  /// Waits until peers have released everything posted.
  virtual void flush() = 0;

  /// The peer that the endpoint's thread waits for, or -1. Called from any
  /// thread, to find out who holds up a stalled collective.
  virtual int64_t waitsFor() const = 0;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_HOST_TRANSPORT_H
