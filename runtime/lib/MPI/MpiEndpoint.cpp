//===- MpiEndpoint.cpp - One channel over MPI -----------------------------===//

#include "MpiEndpoint.h"

#include <stdexcept>

using namespace amsp;
using namespace amsp::runtime;

// A tag is a number below 2^30: the run, the phase and the collective's id,
// where -2 and -1 are the runtime's own. MPI guarantees only 2^15, but every
// implementation of today takes this much.
static constexpr int32_t idBits = 17;
static constexpr int32_t runBits = 12;
static constexpr int32_t idOffset = 2;

int32_t runtime::encodeTag(const MessageTag &tag) {
  int32_t id = (tag.collective + idOffset) & ((1 << idBits) - 1);
  auto run = static_cast<int32_t>(tag.run & ((1 << runBits) - 1));
  return (run << (idBits + 1)) | (tag.phase << idBits) | id;
}

MessageTag runtime::decodeTag(int32_t bits) {
  return {(bits & ((1 << idBits) - 1)) - idOffset, (bits >> idBits) & 1,
          bits >> (idBits + 1)};
}

MpiEndpoint::MpiEndpoint(ProgressThread &progress, Failure &failure,
                         MPI_Comm communicator, int64_t world, int64_t maxBytes)
    : progress(progress), failure(failure), communicator(communicator),
      maxBytes(maxBytes), expected(world) {
  failure.subscribe(signal);
}

MpiEndpoint::~MpiEndpoint() { failure.unsubscribe(signal); }

std::byte *MpiEndpoint::staging(int64_t bytes) {
  if (static_cast<int64_t>(stagingMemory.size()) < bytes)
    stagingMemory.resize(bytes);
  return stagingMemory.data();
}

void MpiEndpoint::submit(bool isSend, int64_t peer, int32_t tag,
                         const std::vector<Block> &blocks,
                         std::deque<MpiOperation *> &list) {
  if (free.empty()) {
    operations.push_back(std::make_unique<MpiOperation>());
    free.push_back(operations.back().get());
  }
  MpiOperation *operation = free.back();
  free.pop_back();
  operation->isSend = isSend;
  operation->communicator = communicator;
  operation->peer = static_cast<int>(peer);
  operation->tag = tag;
  operation->blocks = blocks;
  operation->signal = &signal;
  list.push_back(operation);
  progress.submit(*operation);
}

void MpiEndpoint::post(int64_t peer, const MessageTag &tag,
                       const std::vector<Block> &blocks) {
  submit(true, peer, encodeTag(tag), blocks, posted);
}

void MpiEndpoint::expect(int64_t peer, const MessageTag &tag,
                         const std::vector<Block> &into) {
  submit(false, peer, encodeTag(tag), into, expected[peer]);
}

void MpiEndpoint::wait(const MpiOperation &operation) {
  awaitedPeer.store(operation.peer);
  std::unique_lock<std::mutex> lock(signal.mutex);
  signal.changed.wait(lock, [&] { return operation.done || failure.raised(); });
  awaitedPeer.store(-1);
  if (failure.raised())
    throw Aborted();
  if (!operation.problem.empty())
    throw std::runtime_error(operation.problem);
}

const std::vector<Block> &MpiEndpoint::acquire(int64_t peer,
                                               const MessageTag &tag) {
  const MpiOperation &operation = *expected[peer].front();
  wait(operation);
  if (operation.tag != encodeTag(tag))
    throw std::runtime_error(orderProblem(peer, decodeTag(operation.tag),
                                          decodeTag(encodeTag(tag))));
  return operation.blocks;
}

void MpiEndpoint::recycle(std::deque<MpiOperation *> &list) {
  free.push_back(list.front());
  list.pop_front();
}

void MpiEndpoint::release(int64_t peer) { recycle(expected[peer]); }

void MpiEndpoint::flush() {
  while (!posted.empty()) {
    wait(*posted.front());
    recycle(posted);
  }
}
