//===- StallReportTest.cpp - Who holds up a collective --------------------===//

#include "StallReport.h"

#include "gtest/gtest.h"

using namespace amsp::runtime;

static constexpr int32_t gather = 0;
static constexpr int32_t reduce = 1;

namespace {
struct StallReportTest : testing::Test {
  std::vector<RankStatus> statuses = std::vector<RankStatus>(4);

  void waits(int64_t rank, int32_t channel, int64_t peer, int32_t id) {
    statuses[rank].awaits = channel;
    statuses[rank].channels[channel] = {peer, id, "c" + std::to_string(id)};
  }
  std::string explain(int64_t waiter, int32_t channel, int32_t id) {
    return explainStall(statuses,
                        {waiter, 5, channel, id, "c" + std::to_string(id), 0.5})
        .str();
  }
};
} // namespace

TEST_F(StallReportTest, FollowsTheChainOverBothChannels) {
  // 0 waits for 1 in a reduction, 1 awaits a gather from 2, which is nowhere.
  waits(0, reduce, 1, 7);
  waits(1, gather, 2, 4);
  EXPECT_EQ(explain(0, reduce, 7), "rank 2, collective 'c4' (id 4), step 5: "
                                   "stalled: rank 0 waited 0.5 s for it");
}

TEST_F(StallReportTest, NamesTheFirstCollectiveThatMissesTheRank) {
  waits(0, reduce, 3, 9);
  waits(1, gather, 3, 2);
  EXPECT_EQ(explain(0, reduce, 9), "rank 3, collective 'c2' (id 2), step 5: "
                                   "stalled: rank 0 waited 0.5 s for it");
}

TEST_F(StallReportTest, ARankThatDoesNotAnswerIsAtFault) {
  waits(0, reduce, 1, 3);
  waits(1, reduce, 2, 3); // before it was stopped
  statuses[1].responds = false;
  EXPECT_EQ(explain(0, reduce, 3),
            "rank 1, collective 'c3' (id 3), step 5: stalled: its process does "
            "not answer; rank 0 waited 0.5 s for it");
}

TEST_F(StallReportTest, ARingIsADeadlock) {
  waits(0, reduce, 1, 3);
  waits(1, reduce, 0, 4);
  EXPECT_NE(explain(0, reduce, 3).find("deadlock"), std::string::npos);
}

TEST_F(StallReportTest, ADeadRankIsNamedWithWhatMissesIt) {
  statuses[0].step = 6;
  EXPECT_EQ(explainDeath(statuses, 2).str(),
            "rank 2, step 6: its process ended");
  waits(1, reduce, 2, 8);
  waits(3, reduce, 1, 1);
  EXPECT_EQ(explainDeath(statuses, 2).str(),
            "rank 2, collective 'c8' (id 8), step 6: its process ended");
}
