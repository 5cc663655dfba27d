//===- ChunksTest.cpp - Collectives longer than a message may be ----------===//
//
// The algorithms over a transport with a small limit, as one over MPI is:
// messages are cut, received into memory of the receiver's and combined part
// by part. The bits must be those of one message.
//
//===----------------------------------------------------------------------===//

#include "Collectives.h"
#include "TestWorld.h"
#include "ThreadsTransport.h"

#include <map>
#include <thread>

using namespace amsp::runtime;

namespace {
/// Limits another endpoint's messages, and copies what it receives.
class CopyingEndpoint final : public Endpoint {
public:
  CopyingEndpoint(Endpoint &endpoint, int64_t limit)
      : endpoint(endpoint), limit(limit) {}

  int64_t maxMessageBytes() const override { return limit; }
  std::byte *staging(int64_t bytes) override {
    memory.resize(std::max<size_t>(memory.size(), bytes));
    return memory.data();
  }
  void post(int64_t peer, const MessageTag &tag,
            const std::vector<Block> &blocks) override {
    longest = std::max(longest, bytesOf(blocks));
    endpoint.post(peer, tag, blocks);
  }
  void expect(int64_t peer, const MessageTag &,
              const std::vector<Block> &into) override {
    expected[peer].push_back(into);
  }
  const std::vector<Block> &acquire(int64_t peer,
                                    const MessageTag &tag) override {
    const std::vector<Block> &theirs = endpoint.acquire(peer, tag);
    const std::vector<Block> &into = expected[peer].front();
    EXPECT_EQ(theirs.size(), into.size());
    for (size_t i = 0; i < into.size(); ++i)
      copyBlock(theirs[i], into[i]);
    return into;
  }
  void release(int64_t peer) override {
    endpoint.release(peer);
    expected[peer].erase(expected[peer].begin());
  }
  void flush() override { endpoint.flush(); }
  int64_t waitsFor() const override { return endpoint.waitsFor(); }

  int64_t longest = 0;

private:
  Endpoint &endpoint;
  const int64_t limit;
  std::map<int64_t, std::vector<std::vector<Block>>> expected;
  std::vector<std::byte> memory;
};

using Buffers = std::vector<std::vector<float>>; // by operand
} // namespace

static constexpr int64_t world = 4;

/// Numbers whose sum depends on the order of the additions.
static float unevenValue(int64_t rank, int64_t element) {
  return static_cast<float>((rank * 7919 + element * 104729) % 1000003) *
         (rank % 2 ? 1e-6F : 1e3F);
}

/// Runs a collective on all ranks; the destinations by rank.
static std::vector<Buffers> run(const Description &description, int64_t limit) {
  const amsp_collective &collective = description.collective;
  ThreadsTransport transport(world);
  std::vector<Buffers> results(world);
  auto runRank = [&](int64_t rank) {
    CopyingEndpoint endpoint(transport.endpoint(rank, 0), limit);
    Group group = groupOf(rank, description.digits);
    Buffers sources;
    for (const amsp_collective_operand &operand : description.operands) {
      bool gathers = collective.kind == AMSP_ALL_GATHER;
      int64_t full = operand.rows * operand.full;
      int64_t piece = operand.rows * operand.piece;
      sources.emplace_back(gathers ? piece : full);
      for (size_t i = 0; i < sources.back().size(); ++i)
        sources.back()[i] = unevenValue(rank, static_cast<int64_t>(i));
      results[rank].emplace_back(collective.kind == AMSP_REDUCE_SCATTER ? piece
                                                                        : full);
    }
    std::vector<const void *> from;
    std::vector<void *> to;
    for (size_t i = 0; i < sources.size(); ++i) {
      from.push_back(sources[i].data());
      to.push_back(results[rank][i].data());
    }
    runCollective(endpoint, {collective, group, from, to, 0});
    EXPECT_LE(endpoint.longest, limit);
  };
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < world; ++rank)
    threads.emplace_back(runRank, rank);
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

TEST(ChunksTest, AThousandElementsAtATimeGiveTheSameBits) {
  const std::vector<Digits> groups = {{{1, 4}}, {{2, 2}}, {{1, 2}, {2, 2}}};
  for (int32_t kind :
       {AMSP_ALL_GATHER, AMSP_REDUCE_SCATTER, AMSP_ALL_REDUCE, AMSP_ALL_TO_ALL})
    for (const Digits &digits : groups) {
      auto operand = [&](int64_t rows, int64_t full) {
        int64_t n = groupSize(digits);
        if (kind == AMSP_ALL_TO_ALL) // no padding
          full = full / n * n;
        return amsp_collective_operand{
            rows, full, kind == AMSP_ALL_REDUCE ? full : (full + n - 1) / n};
      };
      Description description(kind, AMSP_SUM, AMSP_F32, digits,
                              {operand(1, 30001), operand(3, 2501),
                               operand(40, 17), operand(1, 3)});
      std::vector<Buffers> whole = run(description, int64_t{1} << 40);
      for (int64_t elements : {1000, 333, 2})
        EXPECT_EQ(run(description, elements * 4), whole)
            << "kind " << kind << ", chunks of " << elements;
    }
}

TEST(ChunksTest, ASmallAllReduceIsCutToo) {
  Description description(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_F32, {{1, 4}},
                          {{1, 1000, 1000}});
  EXPECT_EQ(run(description, 400), run(description, int64_t{1} << 40));
}
