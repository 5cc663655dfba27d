//===- MpiEndpoint.h - One channel over MPI ---------------------*- C++ -*-===//

#ifndef AMSP_RUNTIME_MPI_MPIENDPOINT_H
#define AMSP_RUNTIME_MPI_MPIENDPOINT_H

#include "ProgressThread.h"
#include "Transport.h"

#include <atomic>
#include <deque>
#include <memory>

namespace amsp::runtime {

/// Messages of a pair of ranks arrive in the order in which they were sent, so
/// the tag is not needed to find them, only to check them.
int32_t encodeTag(const MessageTag &tag);
/// What is left of a tag on the way: `run` to a remainder.
MessageTag decodeTag(int32_t bits);

class MpiEndpoint final : public Endpoint {
public:
  /// `communicator`: of the whole world, this channel's own.
  MpiEndpoint(ProgressThread &progress, Failure &failure, MPI_Comm communicator,
              int64_t world, int64_t maxBytes);
  ~MpiEndpoint() override;

  int64_t maxMessageBytes() const override { return maxBytes; }
  std::byte *staging(int64_t bytes) override;
  void post(int64_t peer, const MessageTag &tag,
            const std::vector<Block> &blocks) override;
  void expect(int64_t peer, const MessageTag &tag,
              const std::vector<Block> &into) override;
  const std::vector<Block> &acquire(int64_t peer,
                                    const MessageTag &tag) override;
  void release(int64_t peer) override;
  void flush() override;
  int64_t waitsFor() const override { return awaitedPeer.load(); }

private:
  void submit(bool isSend, int64_t peer, int32_t tag,
              const std::vector<Block> &blocks,
              std::deque<MpiOperation *> &list);
  void wait(const MpiOperation &operation);
  void recycle(std::deque<MpiOperation *> &list);

  ProgressThread &progress;
  Failure &failure;
  MPI_Comm communicator;
  const int64_t maxBytes;
  std::atomic<int64_t> awaitedPeer{-1};
  Signal signal;

  // Used by the endpoint's own thread only.
  std::deque<MpiOperation *> posted;
  std::vector<std::deque<MpiOperation *>> expected; // by peer
  std::vector<MpiOperation *> free;
  std::vector<std::unique_ptr<MpiOperation>> operations;
  std::vector<std::byte> stagingMemory;
};

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_MPI_MPIENDPOINT_H
