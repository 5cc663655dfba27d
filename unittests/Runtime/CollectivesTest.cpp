//===- CollectivesTest.cpp - Every kind, type and group -------------------===//
//
// Each case is compared with the definition in Step.h, computed by plain loops
// in double (or wrapping integers) from the same inputs. Padding is poisoned
// before and compared after: nothing may read or write it.
//
//===----------------------------------------------------------------------===//

#include "TestWorld.h"

#include "amsp/Runtime/DType.h"

#include <cmath>
#include <cstring>
#include <mutex>

using namespace amsp::runtime;

namespace {
struct GroupCase {
  int64_t world;
  Digits digits;
};

/// A buffer of one operand on one rank.
using Bytes = std::vector<unsigned char>;
} // namespace

static const std::vector<GroupCase> groupCases = {
    {1, {}},
    {2, {{1, 2}}},
    {3, {{1, 3}}},
    {4, {{1, 4}}},
    {4, {{1, 2}}},                 // neighbours
    {4, {{2, 2}}},                 // strided
    {4, {{1, 2}, {2, 2}}},         // the inner level more significant
    {6, {{2, 3}}},                 // three of six
    {6, {{3, 2}, {1, 3}}},         // all of 3x2
    {8, {{1, 2}, {4, 2}}},         // a gap between the digits
    {8, {{4, 2}, {2, 2}, {1, 2}}}, // three digits
};

static const std::vector<std::vector<amsp_collective_operand>>
operandsFor(int64_t n) {
  auto piece = [&](int64_t full) { return (full + n - 1) / n; };
  return {
      {{1, 5, piece(5)}},            // ragged
      {{1, 1, 1}},                   // mostly padding
      {{2, 7, piece(7) + 2}},        // rows, extra padding
      {{3, 4 * n, 4}},               // exact
      {{1, 0, 0}, {0, 5, piece(5)}}, // nothing to move
      {{1, 3000, piece(3000)}, {2, 5, piece(5)}, {1, 0, 2}}, // fused
  };
}

/// Small whole numbers, exact in every type, and their order matters to none.
static double valueOf(int64_t rank, size_t operand, int64_t element,
                      int32_t dtype) {
  int64_t value = (rank * 7 + static_cast<int64_t>(operand) * 5 + element * 3) %
                  (dtype == AMSP_I1 ? 2 : 11);
  bool isUnsigned = dtype >= AMSP_U64;
  return static_cast<double>(isUnsigned ? value : value - 5);
}

static void storeValue(Bytes &buffer, int64_t index, int32_t dtype,
                       double value) {
  unsigned char *at = buffer.data() + index * bytesOf(dtype);
  auto put = [&](auto typed) { std::memcpy(at, &typed, sizeof(typed)); };
  switch (dtype) {
  case AMSP_F64:
    return put(value);
  case AMSP_F32:
    return put(static_cast<float>(value));
  case AMSP_BF16: {
    auto narrow = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return put(static_cast<uint16_t>(bits >> 16)); // exact for small numbers
  }
  case AMSP_F16:
    return put(static_cast<_Float16>(value));
  default: {
    auto whole = static_cast<int64_t>(value);
    std::memcpy(at, &whole, bytesOf(dtype)); // little endian, wraps
  }
  }
}

static void poison(Bytes &buffer, int32_t dtype) {
  int64_t count = static_cast<int64_t>(buffer.size()) / bytesOf(dtype);
  for (int64_t i = 0; i < count; ++i)
    storeValue(buffer, i, dtype, dtype <= AMSP_F32 ? 1e30 : 99);
}

static Bytes poisoned(int64_t elements, int32_t dtype) {
  Bytes buffer(elements * bytesOf(dtype));
  poison(buffer, dtype);
  return buffer;
}

/// Element `element` of the result, from the definition.
static double combined(const Group &group, size_t operand, int64_t element,
                       int32_t dtype, int32_t reduction) {
  double result = valueOf(group.members[0], operand, element, dtype);
  for (int64_t i = 1; i < group.size(); ++i) {
    double next = valueOf(group.members[i], operand, element, dtype);
    if (reduction == AMSP_MIN)
      result = std::min(result, next);
    else if (reduction == AMSP_MAX || dtype == AMSP_I1)
      result = std::max(result, next);
    else
      result += next;
  }
  return result;
}

namespace {
/// The buffers of one rank for one operand, as they are and as they should be.
struct OperandBuffers {
  Bytes source, destination, expected;
};
} // namespace

/// Piece i of a row is what member i has as this member's piece.
static void storeExchanged(Bytes &buffer, const Group &group, size_t operand,
                           const amsp_collective_operand &shape,
                           int64_t element, int32_t dtype) {
  int64_t row = element / shape.full, inRow = element % shape.full;
  int64_t from = inRow / shape.piece;
  int64_t theirs =
      row * shape.full + group.index * shape.piece + inRow % shape.piece;
  storeValue(buffer, element, dtype,
             valueOf(group.members[from], operand, theirs, dtype));
}

static OperandBuffers makeBuffers(const Description &description, int64_t rank,
                                  size_t operandIndex) {
  const amsp_collective &collective = description.collective;
  const amsp_collective_operand &operand = description.operands[operandIndex];
  int32_t dtype = collective.dtype;
  Group group = groupOf(rank, description.digits);
  bool gathers = collective.kind == AMSP_ALL_GATHER;
  bool scatters = collective.kind == AMSP_REDUCE_SCATTER;
  bool exchanges = collective.kind == AMSP_ALL_TO_ALL;
  int64_t sourceRow = gathers ? operand.piece : operand.full;
  int64_t resultRow = scatters ? operand.piece : operand.full;
  OperandBuffers buffers;
  buffers.source = poisoned(operand.rows * sourceRow, dtype);
  buffers.destination = poisoned(operand.rows * resultRow, dtype);
  buffers.expected = buffers.destination;
  for (int64_t row = 0; row < operand.rows; ++row) {
    for (int64_t i = 0; i < operand.full; ++i) {
      int64_t owner = operand.piece ? i / operand.piece : 0;
      int64_t element = row * operand.full + i;
      int64_t inPiece =
          row * operand.piece + i % std::max<int64_t>(operand.piece, 1);
      bool isOwn = owner == group.index;
      double own = valueOf(rank, operandIndex, element, dtype);
      if (!gathers)
        storeValue(buffers.source, element, dtype, own);
      else if (isOwn)
        storeValue(buffers.source, inPiece, dtype, own);
      if (gathers)
        storeValue(buffers.expected, element, dtype,
                   valueOf(group.members[owner], operandIndex, element, dtype));
      else if (exchanges)
        storeExchanged(buffers.expected, group, operandIndex, operand, element,
                       dtype);
      else if (!scatters || isOwn)
        storeValue(buffers.expected, scatters ? inPiece : element, dtype,
                   combined(group, operandIndex, element, dtype,
                            collective.reduction));
    }
  }
  return buffers;
}

namespace {
/// A collective and its buffers, by rank and operand.
struct CollectiveCase {
  std::unique_ptr<Description> description;
  std::vector<std::vector<OperandBuffers>> buffers;
};
} // namespace

static CollectiveCase makeCase(std::unique_ptr<Description> description,
                               int64_t world, bool inPlace) {
  CollectiveCase result{std::move(description), {}};
  for (int64_t rank = 0; rank < world; ++rank) {
    std::vector<OperandBuffers> &own = result.buffers.emplace_back();
    for (size_t i = 0; i < result.description->operands.size(); ++i) {
      own.push_back(makeBuffers(*result.description, rank, i));
      if (inPlace)
        own.back().destination = own.back().source;
    }
  }
  return result;
}

static void runCase(amsp_rank *rank, CollectiveCase &collectiveCase,
                    bool inPlace) {
  std::vector<const void *> sources;
  std::vector<void *> destinations;
  for (OperandBuffers &each : collectiveCase.buffers[amsp_rank_number(rank)]) {
    sources.push_back(inPlace ? each.destination.data() : each.source.data());
    destinations.push_back(each.destination.data());
  }
  runCollective(rank, collectiveCase.description->get(), sources, destinations);
}

/// All shapes over one group, in one world.
static void runShapes(int32_t kind, int32_t reduction, int32_t dtype,
                      const GroupCase &groups, bool inPlace) {
  std::vector<CollectiveCase> cases;
  for (auto operands : operandsFor(groupSize(groups.digits))) {
    for (amsp_collective_operand &operand : operands) {
      if (kind == AMSP_ALL_REDUCE)
        operand.piece = operand.full;
      if (kind == AMSP_ALL_TO_ALL) // no padding
        operand.full = operand.piece * groupSize(groups.digits);
    }
    cases.push_back(makeCase(
        std::make_unique<Description>(kind, reduction, dtype, groups.digits,
                                      operands, "shape",
                                      static_cast<int32_t>(cases.size())),
        groups.world, inPlace));
  }
  std::optional<RunError> error =
      runOnRanks(groups.world, [&](amsp_rank *rank) {
        for (CollectiveCase &each : cases)
          runCase(rank, each, inPlace);
      });
  ASSERT_FALSE(error) << error->str();
  for (const CollectiveCase &each : cases)
    for (size_t rank = 0; rank < each.buffers.size(); ++rank)
      for (size_t i = 0; i < each.buffers[rank].size(); ++i)
        ASSERT_EQ(each.buffers[rank][i].destination,
                  each.buffers[rank][i].expected)
            << "full " << each.description->operands[i].full << " rank " << rank
            << " operand " << i;
}

static void runAllShapes(int32_t kind, int32_t reduction, int32_t dtype,
                         bool inPlace = false) {
  for (const GroupCase &groups : groupCases) {
    SCOPED_TRACE(testing::Message()
                 << "kind " << kind << " reduction " << reduction << " "
                 << nameOf(dtype) << " world " << groups.world << " group "
                 << groupSize(groups.digits));
    runShapes(kind, reduction, dtype, groups, inPlace);
    if (testing::Test::HasFatalFailure())
      return;
  }
}

class CollectivesTest : public testing::TestWithParam<int32_t> {};

TEST_P(CollectivesTest, AllGather) {
  runAllShapes(AMSP_ALL_GATHER, AMSP_SUM, GetParam());
}

TEST_P(CollectivesTest, ReduceScatter) {
  for (int32_t reduction : {AMSP_SUM, AMSP_MAX, AMSP_MIN})
    runAllShapes(AMSP_REDUCE_SCATTER, reduction, GetParam());
}

TEST_P(CollectivesTest, AllReduce) {
  for (int32_t reduction : {AMSP_SUM, AMSP_MAX, AMSP_MIN})
    runAllShapes(AMSP_ALL_REDUCE, reduction, GetParam());
  runAllShapes(AMSP_ALL_REDUCE, AMSP_SUM, GetParam(), /*inPlace=*/true);
}

TEST_P(CollectivesTest, AllToAll) {
  runAllShapes(AMSP_ALL_TO_ALL, AMSP_SUM, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Types, CollectivesTest,
                         testing::Range(int32_t{0}, numDTypes),
                         [](const testing::TestParamInfo<int32_t> &info) {
                           return std::string(nameOf(info.param));
                         });

/// Operands behind each other, below and above the size of one phase, give the
/// bits of operands apart.
TEST(CollectivesTest, ContiguousOperandsAreOne) {
  for (int64_t large : {int64_t{5}, int64_t{3000}}) {
    std::vector<amsp_collective_operand> operands = {
        {1, 3, 3}, {1, 0, 0}, {2, large, large}};
    Description joined(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_F32, {{1, 3}}, operands,
                       "joined", 0);
    Description apart(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_F32, {{1, 3}}, operands,
                      "apart", 1);
    joined.collective.contiguous = 1;
    size_t count = 3 + 2 * large;
    std::vector<std::vector<float>> found(3), expected(3);
    auto error = runOnRanks(3, [&](amsp_rank *rank) {
      int64_t number = amsp_rank_number(rank);
      std::vector<float> source(count);
      for (size_t i = 0; i < count; ++i)
        source[i] = 1.0f / static_cast<float>(3 + i * 7 + number);
      auto runInto = [&](const Description &description,
                         std::vector<float> &to) {
        to.assign(count, -1);
        runCollective(rank, description.get(),
                      {source.data(), source.data() + 3, source.data() + 3},
                      {to.data(), to.data() + 3, to.data() + 3});
      };
      runInto(joined, found[number]);
      runInto(apart, expected[number]);
    });
    ASSERT_FALSE(error) << error->str();
    EXPECT_EQ(found, expected);
    EXPECT_EQ(found[0], found[2]);
  }
}

TEST(CollectivesTest, OnlyAnAllReduceIsContiguous) {
  Description gather(AMSP_ALL_GATHER, AMSP_SUM, AMSP_F32, {{1, 2}},
                     {{1, 4, 2}, {1, 4, 2}});
  gather.collective.contiguous = 1;
  auto error = runOnRanks(2, [&](amsp_rank *rank) {
    std::vector<float> pieces(4), full(8);
    runCollective(rank, gather.get(), {pieces.data(), pieces.data() + 2},
                  {full.data(), full.data() + 4});
  });
  ASSERT_TRUE(error);
  EXPECT_NE(error->str().find("only an all_reduce"), std::string::npos)
      << error->str();
}

/// On one rank, where sources are copied, too.
TEST(CollectivesTest, ContiguousOperandsLieBehindEachOther) {
  for (int ranks : {1, 2})
    for (bool isSource : {true, false}) {
      Description joined(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_F32, {{1, ranks}},
                         {{1, 2, 2}, {1, 0, 0}, {1, 2, 2}});
      joined.collective.contiguous = 1;
      auto error = runOnRanks(ranks, [&](amsp_rank *rank) {
        std::vector<float> source(5), to(5);
        runCollective(rank, joined.get(),
                      {source.data(), nullptr, source.data() + 2 + isSource},
                      {to.data(), nullptr, to.data() + 2 + !isSource});
      });
      ASSERT_TRUE(error);
      EXPECT_NE(error->str().find("operand 2 does not lie behind"),
                std::string::npos)
          << error->str();
    }
}

TEST(CollectivesTest, GatherIntoTheBufferOfThePiece) {
  Description gather(AMSP_ALL_GATHER, AMSP_SUM, AMSP_F32, {{1, 4}},
                     {{1, 10, 3}});
  std::vector<std::vector<float>> full(4, std::vector<float>(12, -1));
  for (int rank = 0; rank < 4; ++rank)
    for (int i = 0; i < 3; ++i)
      full[rank][rank * 3 + i] = static_cast<float>(rank * 3 + i);
  auto error = runOnRanks(4, [&](amsp_rank *rank) {
    int64_t number = amsp_rank_number(rank);
    float *buffer = full[number].data();
    runCollective(rank, gather.get(), {buffer + number * 3}, {buffer});
  });
  ASSERT_FALSE(error);
  for (int rank = 0; rank < 4; ++rank)
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(full[rank][i], i);
}

TEST(CollectivesTest, SixteenBitSumsRoundOnce) {
  // 256 + 1 + 1 + 1: rounding after each addition would stay at 256, as bf16
  // has 8 bits; in f32 it is 259, which rounds to 260.
  std::vector<uint16_t> inputs = {0x4380, 0x3F80, 0x3F80, 0x3F80};
  std::vector<uint16_t> results(4);
  Description sum(AMSP_ALL_REDUCE, AMSP_SUM, AMSP_BF16, {{1, 4}}, {{1, 1, 1}});
  auto error = runOnRanks(4, [&](amsp_rank *rank) {
    int64_t number = amsp_rank_number(rank);
    runCollective(rank, sum.get(), {&inputs[number]}, {&results[number]});
  });
  ASSERT_FALSE(error);
  EXPECT_EQ(results, std::vector<uint16_t>(4, 0x4382));
}

TEST(CollectivesTest, MaximumKeepsNaN) {
  std::vector<float> inputs = {1, NAN, 3};
  for (int32_t reduction : {AMSP_MAX, AMSP_MIN}) {
    std::vector<float> results(3);
    Description most(AMSP_ALL_REDUCE, reduction, AMSP_F32, {{1, 3}},
                     {{1, 1, 1}});
    auto error = runOnRanks(3, [&](amsp_rank *rank) {
      int64_t number = amsp_rank_number(rank);
      runCollective(rank, most.get(), {&inputs[number]}, {&results[number]});
    });
    ASSERT_FALSE(error);
    for (float result : results)
      EXPECT_TRUE(std::isnan(result));
  }
}

TEST(CollectivesTest, RefusesDescriptionsThatMeanNothing) {
  auto errorOf = [](const Description &description) {
    auto error = runOnRanks(2, [&](amsp_rank *rank) {
      static float buffer[64];
      const void *sources[] = {buffer};
      void *destinations[] = {buffer};
      amsp_collective_start(rank, description.get(), sources, destinations);
      amsp_collective_await(rank, description.get());
    });
    return error ? error->message : "none";
  };
  using D = Description;
  EXPECT_EQ(errorOf(D(7, 0, AMSP_F32, {{1, 2}}, {{1, 2, 1}})),
            "unknown kind 7");
  EXPECT_EQ(errorOf(D(AMSP_ALL_REDUCE, 5, AMSP_F32, {{1, 2}}, {{1, 2, 2}})),
            "unknown reduction 5");
  EXPECT_EQ(errorOf(D(AMSP_ALL_REDUCE, 0, 13, {{1, 2}}, {{1, 2, 2}})),
            "unknown element type 13");
  EXPECT_EQ(errorOf(D(AMSP_ALL_GATHER, 0, AMSP_F32, {{1, 3}}, {{1, 3, 1}})),
            "digit [1, 3] does not fit a world of 2 ranks");
  EXPECT_EQ(errorOf(D(AMSP_ALL_GATHER, 0, AMSP_F32, {{1, 2}}, {{1, 5, 2}})),
            "operand 0 has pieces of 2 for 5 elements over 2 ranks");
  EXPECT_EQ(errorOf(D(AMSP_ALL_TO_ALL, 0, AMSP_F32, {{1, 2}}, {{1, 5, 3}})),
            "operand 0 has pieces of 3, no equal ones of 5 elements over 2 "
            "ranks");
  EXPECT_EQ(errorOf(D(AMSP_ALL_REDUCE, 0, AMSP_F32, {{1, 2}}, {{1, 2, 1}})),
            "operand 0 has a piece that is not the full size in an all_reduce");
}
