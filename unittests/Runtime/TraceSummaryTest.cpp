//===- TraceSummaryTest.cpp - What a timeline says of communication -------===//

#include "amsp/Run/TraceSummary.h"

#include "gtest/gtest.h"

using namespace amsp::run;
using namespace llvm;

static json::Object summarize(StringRef events) {
  Expected<json::Value> parsed = json::parse(events);
  EXPECT_TRUE(bool(parsed));
  return summarizeTrace(*parsed->getAsArray());
}

/// Two ranks, one step each; times in microseconds.
static constexpr StringRef twoRanks = R"([
  {"cat": "step", "pid": 0, "tid": 0, "ts": 0, "dur": 1000},
  {"cat": "step", "pid": 1, "tid": 0, "ts": 0, "dur": 3000},
  {"cat": "gemm", "pid": 0, "tid": 0, "ts": 0, "dur": 400},
  {"cat": "await", "pid": 0, "tid": 0, "ts": 0, "dur": 100,
   "args": {"id": 0, "unit": "a", "level": 0, "channel": "gather", "bytes": 8}},
  {"cat": "await", "pid": 1, "tid": 0, "ts": 0, "dur": 300,
   "args": {"id": 0, "unit": "a", "level": 0, "channel": "gather", "bytes": 8}},
  {"cat": "transfer", "pid": 0, "tid": 1, "ts": 0, "dur": 500,
   "args": {"id": 0, "unit": "a", "level": 0, "channel": "gather", "bytes": 8}},
  {"cat": "await", "pid": 0, "tid": 0, "ts": 0, "dur": 60,
   "args": {"id": 1, "level": 1, "channel": "reduce", "bytes": 4}},
  {"cat": "await", "pid": 0, "tid": 0, "ts": 0, "dur": 1e6,
   "args": {"id": -1, "channel": "gather", "bytes": 128}},
  {"cat": "unknown", "pid": 0, "dur": 5}, {"cat": "await"}
])";

TEST(TraceSummaryTest, AveragesOverRanksAndSteps) {
  json::Object summary = summarize(twoRanks);
  EXPECT_EQ(summary.getInteger("ranks"), 2);
  EXPECT_EQ(summary.getInteger("steps"), 1);
  EXPECT_DOUBLE_EQ(*summary.getNumber("step_seconds"), 2e-3);
  EXPECT_DOUBLE_EQ(*summary.getNumber("compute_seconds"), 2e-4);
  EXPECT_DOUBLE_EQ(*summary.getNumber("exposed_seconds"), 230e-6);
  EXPECT_DOUBLE_EQ(*summary.getNumber("transfer_seconds"), 250e-6);
  const json::Array &levels = *summary.getArray("levels");
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_DOUBLE_EQ(*levels[0].getAsObject()->getNumber("exposed_seconds"),
                   200e-6);
  EXPECT_EQ(levels[1].getAsObject()->getInteger("level"), 1);
  const json::Array &units = *summary.getArray("units");
  ASSERT_EQ(units.size(), 2U);
  EXPECT_TRUE(units[0].getAsObject()->get("unit")->getAsNull());
  EXPECT_EQ(units[1].getAsObject()->getString("unit"), "a");
  EXPECT_EQ(units[1].getAsObject()->getString("channel"), "gather");
  EXPECT_DOUBLE_EQ(*units[1].getAsObject()->getNumber("bytes"), 4);
}

TEST(TraceSummaryTest, OfNothingIsZero) {
  json::Object summary = summarize("[]");
  EXPECT_EQ(summary.getInteger("steps"), 0);
  EXPECT_EQ(*summary.getNumber("exposed_seconds"), 0);
}
