//===- PromptThread.cpp - Threads that run as soon as they wake -----------===//

#include "PromptThread.h"

#if defined(__linux__)
#include <algorithm>
#include <cstdint>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
/// The first version of Linux's sched_attr, which C libraries declare from
/// different headers or not at all.
struct SchedulingAttributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period; // ns
};
} // namespace
#endif

void amsp::runtime::becomePrompt() {
#if defined(__linux__)
  // The default slack of 50 us delays every sleep that ends by time.
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
  SchedulingAttributes attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0)
    return;
  if (attributes.policy == SCHED_FIFO || attributes.policy == SCHED_RR) {
    auto highest = static_cast<uint32_t>(
        sched_get_priority_max(static_cast<int>(attributes.policy)));
    attributes.priority = std::min(attributes.priority + 1, highest);
  } else if (attributes.policy == SCHED_OTHER ||
             attributes.policy == SCHED_BATCH) {
    // Of the threads that want a core, the one whose slice would end first
    // gets it (Linux 6.12; others take no notice). 0.1 ms is the least.
    attributes.runtime = 100'000;
  } else {
    return; // a deadline's run time is the reservation
  }
  syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}
