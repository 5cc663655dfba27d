//===- Collectives.cpp - The algorithms of collectives --------------------===//
//
// Two phases serve all kinds. *Move*: every member offers each peer a piece and
// copies what it is offered to its place: in a gather every peer the same one,
// in an all_to_all that peer's. *Reduce*: every member offers each peer that
// peer's piece and combines what it is offered, in the order of the group's
// index, so that the bits do not depend on timing. all_reduce is reduce, then
// gather, over pieces of its own choice.
//
//===----------------------------------------------------------------------===//

#include "Collectives.h"

#include "Combine.h"
#include "amsp/Runtime/DType.h"

#include <algorithm>

using namespace amsp;
using namespace amsp::runtime;

using Operand = amsp_collective_operand;

/// Below this size an all_reduce is one phase in which every member combines
/// everything: latency counts, not bytes.
static constexpr int64_t smallAllReduceBytes = 4096;

static constexpr int64_t cacheLineBytes = 64;

namespace {
enum Phase : int32_t { ReducePhase, MovePhase };

/// The state of one run, shared by its phases.
class Runner {
public:
  Runner(Endpoint &endpoint, const CollectiveRun &run)
      : endpoint(endpoint), collective(run.collective), group(run.group),
        sources(run.sources), destinations(run.destinations),
        number(run.number),
        elementBytes(runtime::bytesOf(run.collective.dtype)),
        operands(run.collective.operands,
                 run.collective.operands + run.collective.num_operands) {
    if (collective.contiguous)
      joinOperands();
  }

  void allGather();
  void reduceScatter();
  void allReduce();
  void allToAll();

private:
  Block pieceInFull(const void *base, const Operand &operand,
                    int64_t index) const;
  Block pieceAlone(const void *base, const Operand &operand,
                   int64_t index) const;
  MessageTag tag(Phase phase) const { return {collective.id, phase, number}; }

  /// Messages, each short enough for the endpoint.
  using Segments = std::vector<std::vector<Block>>;
  Segments cut(const std::vector<Block> &blocks) const;
  void joinOperands();
  void postTo(int64_t index, Phase phase, const Segments &segments);

  void move(const std::vector<std::vector<Block>> &offers);
  void gather(const std::vector<Block> &own);
  void reduce(const std::vector<Block> &own);
  void expectSegment(size_t number, const Segments &shapes, std::byte *staging);
  void combineSegments(const Segments &mine, const Segments &results);
  void combineSegment(const std::vector<const std::vector<Block> *> &from,
                      const std::vector<Block> &to) const;
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
};
} // namespace

/// Each message is then one block: nothing is gathered on its way.
void Runner::joinOperands() {
  int64_t elements = 0;
  for (const Operand &operand : operands)
    elements += operand.rows * operand.full;
  operands = {{1, elements, elements}};
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

Runner::Segments Runner::cut(const std::vector<Block> &blocks) const {
  return cutBlocks(blocks, endpoint.maxMessageBytes(), elementBytes);
}

void Runner::postTo(int64_t index, Phase phase, const Segments &segments) {
  for (const std::vector<Block> &segment : segments)
    endpoint.post(group.members[index], tag(phase), segment);
}

/// Copies what the members offer to their places in the destinations.
/// `offers`: what each member is offered here, by index; one for all if there
/// is but one.
void Runner::move(const std::vector<std::vector<Block>> &offers) {
  auto offerTo = [&](int64_t index) -> const std::vector<Block> & {
    return offers[offers.size() == 1 ? 0 : index];
  };
  std::vector<Segments> places(group.size());
  std::vector<Block> place(operands.size());
  for (int64_t index = 0; index < group.size(); ++index) {
    if (index == group.index)
      continue;
    for (size_t i = 0; i < operands.size(); ++i)
      place[i] = pieceInFull(destinations[i], operands[i], index);
    places[index] = cut(place);
    for (const std::vector<Block> &segment : places[index])
      endpoint.expect(group.members[index], tag(MovePhase), segment);
  }
  for (int64_t index = 0; index < group.size(); ++index)
    if (index != group.index)
      postTo(index, MovePhase, cut(offerTo(index)));
  for (size_t i = 0; i < operands.size(); ++i)
    copyBlock(offerTo(group.index)[i],
              pieceInFull(destinations[i], operands[i], group.index));
  // Each member starts with its successor, so that not all read from one.
  for (int64_t step = 1; step < group.size(); ++step) {
    int64_t index = (group.index + step) % group.size();
    int64_t peer = group.members[index];
    for (const std::vector<Block> &segment : places[index]) {
      const std::vector<Block> &theirs = endpoint.acquire(peer, tag(MovePhase));
      for (size_t i = 0; i < segment.size(); ++i)
        copyBlock(theirs[i], segment[i]);
      endpoint.release(peer);
    }
  }
  endpoint.flush();
}

void Runner::gather(const std::vector<Block> &own) { move({own}); }

/// Combines what all members offer of one segment.
void Runner::combineSegment(const std::vector<const std::vector<Block> *> &from,
                            const std::vector<Block> &to) const {
  CombineFunction combine = combiner(collective.dtype, collective.reduction);
  std::vector<const std::byte *> rows(from.size());
  for (size_t block = 0; block < to.size(); ++block)
    for (int64_t row = 0; row < to[block].rows; ++row) {
      for (size_t member = 0; member < from.size(); ++member)
        rows[member] = (*from[member])[block].row(row);
      combine(to[block].writableRow(row), rows,
              to[block].rowBytes / elementBytes);
    }
}

/// Announces the peers' parts of one segment. Two segments are on their way at
/// a time: one is combined while the next arrives.
void Runner::expectSegment(size_t number, const Segments &shapes,
                           std::byte *staging) {
  if (number >= shapes.size())
    return;
  const std::vector<Block> &shape = shapes[number];
  int64_t slotBytes = runtime::bytesOf(shapes.front());
  int64_t slot = static_cast<int64_t>(number % 2) * group.size();
  for (int64_t index = 0; index < group.size(); ++index)
    if (index != group.index)
      endpoint.expect(
          group.members[index], tag(ReducePhase),
          packedAt(staging ? staging + (slot + index) * slotBytes : nullptr,
                   shape));
}

/// Receives and combines, segment by segment, in the order of the index.
void Runner::combineSegments(const Segments &mine, const Segments &results) {
  // The first segment is the longest.
  std::byte *staging =
      endpoint.staging(2 * group.size() * runtime::bytesOf(mine.front()));
  expectSegment(0, mine, staging);
  std::vector<const std::vector<Block> *> offered(group.size());
  for (size_t segment = 0; segment < mine.size(); ++segment) {
    expectSegment(segment + 1, mine, staging);
    for (int64_t index = 0; index < group.size(); ++index)
      offered[index] =
          index == group.index
              ? &mine[segment]
              : &endpoint.acquire(group.members[index], tag(ReducePhase));
    combineSegment(offered, results[segment]);
    for (int64_t index = 0; index < group.size(); ++index)
      if (index != group.index)
        endpoint.release(group.members[index]);
  }
}

/// Combines everybody's part of this member's piece into `own`.
void Runner::reduce(const std::vector<Block> &own) {
  std::vector<Block> blocks(operands.size());
  Segments mine;
  for (int64_t index = 0; index < group.size(); ++index) {
    for (size_t i = 0; i < operands.size(); ++i)
      blocks[i] = pieceInFull(sources[i], operands[i], index);
    if (index == group.index)
      mine = cut(blocks);
    else
      postTo(index, ReducePhase, cut(blocks));
  }
  combineSegments(mine, cut(own));
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

void Runner::allToAll() {
  std::vector<std::vector<Block>> offers(group.size());
  for (int64_t index = 0; index < group.size(); ++index)
    for (size_t i = 0; i < operands.size(); ++i)
      offers[index].push_back(pieceInFull(sources[i], operands[i], index));
  move(offers);
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
  Segments segments = cut(whole);
  for (int64_t index = 0; index < group.size(); ++index)
    if (index != group.index)
      postTo(index, ReducePhase, segments);
  combineSegments(segments, cut(own));
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
  case AMSP_ALL_TO_ALL:
    return runner.allToAll();
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
  if (collective.kind == AMSP_ALL_TO_ALL &&
      (operand.full % groupSize != 0 ||
       operand.piece != operand.full / groupSize))
    return "has pieces of " + std::to_string(operand.piece) +
           ", no equal ones of " + std::to_string(operand.full) +
           " elements over " + std::to_string(groupSize) + " ranks";
  if (operand.piece <
      operand.full / groupSize + (operand.full % groupSize != 0))
    return "has pieces of " + std::to_string(operand.piece) + " for " +
           std::to_string(operand.full) + " elements over " +
           std::to_string(groupSize) + " ranks";
  return {};
}

std::string runtime::checkCollective(const amsp_collective &collective,
                                     int64_t world) {
  if (collective.kind < AMSP_ALL_GATHER || collective.kind > AMSP_ALL_TO_ALL)
    return "unknown kind " + std::to_string(collective.kind);
  if (bytesOf(collective.dtype) == 0)
    return "unknown element type " + std::to_string(collective.dtype);
  if (collective.channel < AMSP_CHANNEL_GATHER ||
      collective.channel > AMSP_CHANNEL_REDUCE)
    return "unknown channel " + std::to_string(collective.channel);
  bool combines = collective.kind == AMSP_REDUCE_SCATTER ||
                  collective.kind == AMSP_ALL_REDUCE;
  if (combines && !combiner(collective.dtype, collective.reduction))
    return "unknown reduction " + std::to_string(collective.reduction);
  Digits digits(collective.digits, collective.digits + collective.num_digits);
  std::string problem = checkDigits(digits, world);
  if (!problem.empty())
    return problem;
  if (collective.contiguous && collective.kind != AMSP_ALL_REDUCE)
    return "is contiguous, which only an all_reduce can be";
  for (int32_t i = 0; i < collective.num_operands; ++i) {
    problem =
        checkOperand(collective, collective.operands[i], groupSize(digits));
    if (!problem.empty())
      return "operand " + std::to_string(i) + " " + problem;
  }
  return {};
}

std::string runtime::checkAddresses(const amsp_collective &collective,
                                    const void *const *sources,
                                    void *const *destinations) {
  if (!collective.contiguous)
    return {};
  int64_t offset = 0;
  for (int32_t i = 0; i < collective.num_operands; ++i) {
    const Operand &operand = collective.operands[i];
    int64_t bytes = operand.rows * operand.full * bytesOf(collective.dtype);
    auto liesBehind = [&](const void *first, const void *own) {
      return static_cast<const std::byte *>(first) + offset == own;
    };
    // Buffers without elements may be anywhere.
    if (bytes > 0 && !(liesBehind(sources[0], sources[i]) &&
                       liesBehind(destinations[0], destinations[i])))
      return "is contiguous, but operand " + std::to_string(i) +
             " does not lie behind those before it";
    offset += bytes;
  }
  return {};
}
