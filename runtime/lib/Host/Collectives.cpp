//===- Collectives.cpp - The algorithms of collectives --------------------===//
//
// Two phases serve all three kinds. *Gather*: every member offers its piece
// and copies the others' to their places. *Reduce*: every member offers each
// peer that peer's piece and combines what it is offered, in the order of the
// group's index, so that the bits do not depend on timing. all_reduce is
// reduce, then gather, over pieces of its own choice.
//
//===----------------------------------------------------------------------===//

#include "Collectives.h"

#include "Combine.h"
#include "amsp/Runtime/DType.h"

#include <algorithm>
#include <cstring>

using namespace amsp;
using namespace amsp::runtime;

using Operand = amsp_collective_operand;

/// Below this size an all_reduce is one phase in which every member combines
/// everything: latency counts, not bytes.
static constexpr int64_t smallAllReduceBytes = 4096;

static constexpr int64_t cacheLineBytes = 64;

namespace {
enum Phase : int32_t { ReducePhase, GatherPhase };

/// The state of one run, shared by its phases.
class Runner {
public:
  Runner(Endpoint &endpoint, const CollectiveRun &run)
      : endpoint(endpoint), collective(run.collective), group(run.group),
        sources(run.sources), destinations(run.destinations),
        number(run.number), elementBytes(bytesOf(run.collective.dtype)),
        operands(run.collective.operands,
                 run.collective.operands + run.collective.num_operands) {}

  void allGather();
  void reduceScatter();
  void allReduce();

private:
  Block pieceInFull(const void *base, const Operand &operand,
                    int64_t index) const;
  Block pieceAlone(const void *base, const Operand &operand,
                   int64_t index) const;
  MessageTag tag(Phase phase) const { return {collective.id, phase, number}; }

  void gather(const std::vector<Block> &own);
  void reduce(const std::vector<Block> &own);
  void combineOperand(size_t operand, const Block &destination);
  void allReduceAtOnce();
  int64_t totalBytes() const;

  Endpoint &endpoint;
  const amsp_collective &collective;
  const Group &group;
  const std::vector<const void *> &sources;
  const std::vector<void *> &destinations;
  const int64_t number;
  const int64_t elementBytes;
  std::vector<Operand> operands; // all_reduce cuts its own pieces
  /// What each member offered in the reduce phase, by index.
  std::vector<const std::vector<Block> *> offered;
};
} // namespace

/// Blocks are read-only in messages; a destination's block is this rank's own.
static std::byte *writableRow(const Block &block, int64_t row) {
  return const_cast<std::byte *>(block.row(row));
}

static void copyBlock(const Block &from, const Block &to) {
  if (from.rowBytes == 0)
    return;
  // A piece may already lie in its place (a gather into the buffer that holds
  // the resting piece).
  if (from.data == to.data &&
      (from.rows == 1 || from.strideBytes == to.strideBytes))
    return;
  bool isDense =
      from.strideBytes == from.rowBytes && to.strideBytes == to.rowBytes;
  int64_t rows = isDense ? 1 : from.rows;
  int64_t bytes = isDense ? from.rows * from.rowBytes : from.rowBytes;
  for (int64_t row = 0; row < rows; ++row)
    std::memcpy(writableRow(to, row), from.row(row), bytes);
}

/// Member `index`'s piece, in place in a buffer of the full side.
Block Runner::pieceInFull(const void *base, const Operand &operand,
                          int64_t index) const {
  PieceExtent extent = extentOfPiece(operand.full, operand.piece, index);
  // Buffers without elements may be null.
  int64_t offset = operand.rows > 0 ? extent.begin * elementBytes : 0;
  return {static_cast<const std::byte *>(base) + offset, operand.rows,
          extent.length * elementBytes, operand.full * elementBytes};
}

/// Member `index`'s piece in a buffer of the piece side, without its padding.
Block Runner::pieceAlone(const void *base, const Operand &operand,
                         int64_t index) const {
  PieceExtent extent = extentOfPiece(operand.full, operand.piece, index);
  return {static_cast<const std::byte *>(base), operand.rows,
          extent.length * elementBytes, operand.piece * elementBytes};
}

void Runner::gather(const std::vector<Block> &own) {
  for (int64_t index = 0; index < group.size(); ++index)
    if (index != group.index)
      endpoint.post(group.members[index], tag(GatherPhase), own);
  for (size_t i = 0; i < operands.size(); ++i)
    copyBlock(own[i], pieceInFull(destinations[i], operands[i], group.index));
  // Each member starts with its successor, so that not all read from one.
  for (int64_t step = 1; step < group.size(); ++step) {
    int64_t index = (group.index + step) % group.size();
    int64_t peer = group.members[index];
    const std::vector<Block> &theirs = endpoint.acquire(peer, tag(GatherPhase));
    for (size_t i = 0; i < operands.size(); ++i)
      copyBlock(theirs[i], pieceInFull(destinations[i], operands[i], index));
    endpoint.release(peer);
  }
  endpoint.flush();
}

void Runner::combineOperand(size_t operand, const Block &destination) {
  if (destination.rowBytes == 0)
    return;
  CombineFunction combine = combiner(collective.dtype, collective.reduction);
  std::vector<const std::byte *> rows(offered.size());
  for (int64_t row = 0; row < destination.rows; ++row) {
    for (size_t member = 0; member < offered.size(); ++member)
      rows[member] = (*offered[member])[operand].row(row);
    combine(writableRow(destination, row), rows,
            destination.rowBytes / elementBytes);
  }
}

/// Combines everybody's part of this member's piece into `own`.
void Runner::reduce(const std::vector<Block> &own) {
  std::vector<Block> blocks(operands.size());
  auto offerTo = [&](int64_t index) {
    for (size_t i = 0; i < operands.size(); ++i)
      blocks[i] = pieceInFull(sources[i], operands[i], index);
  };
  for (int64_t index = 0; index < group.size(); ++index) {
    if (index == group.index)
      continue;
    offerTo(index);
    endpoint.post(group.members[index], tag(ReducePhase), blocks);
  }
  offerTo(group.index);
  offered.resize(group.size());
  for (int64_t index = 0; index < group.size(); ++index)
    offered[index] =
        index == group.index
            ? &blocks
            : &endpoint.acquire(group.members[index], tag(ReducePhase));
  for (size_t i = 0; i < operands.size(); ++i)
    combineOperand(i, own[i]);
  for (int64_t index = 0; index < group.size(); ++index)
    if (index != group.index)
      endpoint.release(group.members[index]);
  endpoint.flush();
}

void Runner::allGather() {
  std::vector<Block> own(operands.size());
  for (size_t i = 0; i < operands.size(); ++i)
    own[i] = pieceAlone(sources[i], operands[i], group.index);
  gather(own);
}

void Runner::reduceScatter() {
  std::vector<Block> own(operands.size());
  for (size_t i = 0; i < operands.size(); ++i)
    own[i] = pieceAlone(destinations[i], operands[i], group.index);
  reduce(own);
}

int64_t Runner::totalBytes() const {
  int64_t elements = 0;
  for (const Operand &operand : operands)
    elements += operand.rows * operand.full;
  return elements * elementBytes;
}

void Runner::allReduce() {
  for (Operand &operand : operands)
    operand = {1, operand.rows * operand.full, operand.rows * operand.full};
  if (totalBytes() <= smallAllReduceBytes)
    return allReduceAtOnce();
  std::vector<Block> own(operands.size());
  int64_t alignment = cacheLineBytes / elementBytes;
  for (size_t i = 0; i < operands.size(); ++i) {
    int64_t piece = (operands[i].full + group.size() - 1) / group.size();
    operands[i].piece = (piece + alignment - 1) / alignment * alignment;
    own[i] = pieceInFull(destinations[i], operands[i], group.index);
  }
  // In place this is safe: a member's piece is read by nobody but itself, and
  // the reduce phase ends when its sources have been read.
  reduce(own);
  gather(own);
}

void Runner::allReduceAtOnce() {
  // The result waits aside: in place, peers may still read the sources.
  std::vector<std::byte> result(totalBytes());
  std::vector<Block> own(operands.size());
  int64_t offset = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    int64_t bytes = operands[i].full * elementBytes;
    own[i] = {result.data() + offset, 1, bytes, bytes};
    offset += bytes;
    operands[i].piece = operands[i].full;
  }
  std::vector<Block> whole(operands.size());
  for (size_t i = 0; i < operands.size(); ++i)
    whole[i] = pieceInFull(sources[i], operands[i], 0);
  offered.resize(group.size());
  for (int64_t index = 0; index < group.size(); ++index)
    if (index != group.index)
      endpoint.post(group.members[index], tag(ReducePhase), whole);
  for (int64_t index = 0; index < group.size(); ++index)
    offered[index] =
        index == group.index
            ? &whole
            : &endpoint.acquire(group.members[index], tag(ReducePhase));
  for (size_t i = 0; i < operands.size(); ++i)
    combineOperand(i, own[i]);
  for (int64_t index = 0; index < group.size(); ++index)
    if (index != group.index)
      endpoint.release(group.members[index]);
  endpoint.flush();
  for (size_t i = 0; i < operands.size(); ++i)
    copyBlock(own[i], pieceInFull(destinations[i], operands[i], 0));
}

void runtime::runCollective(Endpoint &endpoint, const CollectiveRun &run) {
  Runner runner(endpoint, run);
  switch (run.collective.kind) {
  case AMSP_ALL_GATHER:
    return runner.allGather();
  case AMSP_REDUCE_SCATTER:
    return runner.reduceScatter();
  default:
    return runner.allReduce();
  }
}

void runtime::copySourcesToDestinations(const CollectiveRun &run) {
  int64_t elementBytes = bytesOf(run.collective.dtype);
  for (int32_t i = 0; i < run.collective.num_operands; ++i) {
    const Operand &operand = run.collective.operands[i];
    bool scatters = run.collective.kind == AMSP_REDUCE_SCATTER;
    int64_t valid = operand.full * elementBytes;
    int64_t padded = operand.piece * elementBytes;
    auto *source = static_cast<const std::byte *>(run.sources[i]);
    auto *destination = static_cast<const std::byte *>(run.destinations[i]);
    copyBlock({source, operand.rows, valid, scatters ? valid : padded},
              {destination, operand.rows, valid, scatters ? padded : valid});
  }
}

static std::string checkOperand(const amsp_collective &collective,
                                const Operand &operand, int64_t groupSize) {
  if (operand.rows < 0 || operand.full < 0 || operand.piece < 0)
    return "has a negative size";
  if (collective.kind == AMSP_ALL_REDUCE)
    return operand.piece == operand.full
               ? ""
               : "has a piece that is not the full size in an all_reduce";
  if (operand.piece <
      operand.full / groupSize + (operand.full % groupSize != 0))
    return "has pieces of " + std::to_string(operand.piece) + " for " +
           std::to_string(operand.full) + " elements over " +
           std::to_string(groupSize) + " ranks";
  return {};
}

std::string runtime::checkCollective(const amsp_collective &collective,
                                     int64_t world) {
  if (collective.kind < AMSP_ALL_GATHER || collective.kind > AMSP_ALL_REDUCE)
    return "unknown kind " + std::to_string(collective.kind);
  if (bytesOf(collective.dtype) == 0)
    return "unknown element type " + std::to_string(collective.dtype);
  if (collective.channel < AMSP_CHANNEL_GATHER ||
      collective.channel > AMSP_CHANNEL_REDUCE)
    return "unknown channel " + std::to_string(collective.channel);
  if (collective.kind != AMSP_ALL_GATHER &&
      !combiner(collective.dtype, collective.reduction))
    return "unknown reduction " + std::to_string(collective.reduction);
  Digits digits(collective.digits, collective.digits + collective.num_digits);
  std::string problem = checkDigits(digits, world);
  if (!problem.empty())
    return problem;
  for (int32_t i = 0; i < collective.num_operands; ++i) {
    problem =
        checkOperand(collective, collective.operands[i], groupSize(digits));
    if (!problem.empty())
      return "operand " + std::to_string(i) + " " + problem;
  }
  return {};
}
