//===- PromptThreadTest.cpp - What the system knows of a prompt thread ----===//

#include "PromptThread.h"
#include "gtest/gtest.h"

#if defined(__linux__)
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace amsp::runtime;

/// In a thread of its own, which no other test runs in.
template <typename Body> static void inThread(Body body) {
  std::thread(body).join();
}

TEST(PromptThreadTest, SleepsEndInTime) {
  inThread([] {
    becomePrompt();
    EXPECT_EQ(prctl(PR_GET_TIMERSLACK), 1000);
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
  });
}

TEST(PromptThreadTest, SlicesAreShort) {
  inThread([] {
    // sched_attr: size, policy, flags, nice, priority, runtime; as of 5.3.
    uint64_t words[6] = {};
    auto getSlice = [&] {
      EXPECT_EQ(syscall(SYS_sched_getattr, 0, words, sizeof(words), 0), 0);
      return words[3];
    };
    if (getSlice() == 0)
      GTEST_SKIP() << "this system has no slices of a thread's own";
    becomePrompt();
    EXPECT_EQ(getSlice(), 100'000u);
  });
}

TEST(PromptThreadTest, ReservationsStay) {
  inThread([] {
    // sched_attr: size, policy, flags, nice, priority, runtime, deadline,
    // period; 1 ms of 100.
    uint64_t words[6] = {};
    constexpr uint64_t deadline = 6;
    words[0] = sizeof(words) | deadline << 32;
    words[3] = 1'000'000;
    words[4] = words[5] = 100'000'000;
    if (syscall(SYS_sched_setattr, 0, words, 0) != 0)
      GTEST_SKIP() << "no right to deadlines";
    becomePrompt();
    EXPECT_EQ(syscall(SYS_sched_getattr, 0, words, sizeof(words), 0), 0);
    EXPECT_EQ(words[3], 1'000'000u);
  });
}

TEST(PromptThreadTest, RealtimeThreadsGoBeforeTheirPeers) {
  inThread([] {
    sched_param parameters{};
    parameters.sched_priority = 5;
    if (sched_setscheduler(0, SCHED_FIFO, &parameters) != 0)
      GTEST_SKIP() << "no right to realtime policies";
    becomePrompt();
    EXPECT_EQ(sched_getscheduler(0), SCHED_FIFO);
    EXPECT_EQ(sched_getparam(0, &parameters), 0);
    EXPECT_EQ(parameters.sched_priority, 6);
  });
}
#endif
