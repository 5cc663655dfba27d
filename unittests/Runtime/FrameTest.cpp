//===- FrameTest.cpp - Messages of the control link -----------------------===//

#include "Frame.h"

#include "gtest/gtest.h"

#include <stdexcept>

using namespace amsp::runtime;

TEST(FrameTest, ComesBackWholeHoweverItArrives) {
  Frame frame;
  frame.kind = Frame::Kind::Failed;
  frame.rank = 1;
  frame.error = {2, 3, 4, "reduce.w", "injected failure", {}};
  frame.status.channels[1] = {3, 9, "gather.w"};
  frame.stall.limitSeconds = 0.5;
  std::string bytes = frame.encode() + Frame().encode();
  std::string buffer;
  std::vector<Frame> taken;
  for (char byte : bytes) {
    buffer += byte;
    if (std::optional<Frame> next = Frame::take(buffer))
      taken.push_back(*next);
  }
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(taken[0].kind, Frame::Kind::Failed);
  EXPECT_EQ(taken[0].error.str(), frame.error.str());
  EXPECT_EQ(taken[0].status.channels[1].collective, "gather.w");
  EXPECT_EQ(taken[0].stall.limitSeconds, 0.5);
  EXPECT_EQ(taken[1].kind, Frame::Kind::Bye);
}

TEST(FrameTest, RefusesWhatIsNoFrame) {
  std::string tooLong = "\xFF\xFF\xFF\xFF";
  EXPECT_THROW(Frame::take(tooLong), std::runtime_error);
  std::string tooShort("\x03\x00\x00\x00"
                       "abc",
                       7);
  EXPECT_THROW(Frame::take(tooShort), std::runtime_error);
}
