//===- StallReport.cpp - Who holds up a collective ------------------------===//

#include "StallReport.h"

#include <algorithm>

using namespace amsp;
using namespace amsp::runtime;

namespace {
struct Culprit {
  int64_t rank;
  RankStatus::Channel missed; // the first collective that misses it
  bool isDeadlock = false;    // the chain leads back to itself
};
} // namespace

/// Several collectives may wait for the culprit: it stopped before the first
/// of them. Ids follow the program's order.
static RankStatus::Channel firstMissed(const std::vector<RankStatus> &statuses,
                                       int64_t culprit,
                                       RankStatus::Channel first) {
  for (const RankStatus &status : statuses)
    for (const RankStatus::Channel &channel : status.channels)
      if (channel.waitsFor == culprit && !channel.collective.empty() &&
          (first.collective.empty() ||
           channel.collectiveId < first.collectiveId))
        first = channel;
  return first;
}

static Culprit findCulprit(const std::vector<RankStatus> &statuses,
                           const Stall &stall) {
  Culprit culprit{stall.waiter, {-1, stall.collectiveId, stall.collective}};
  int32_t channel = stall.channel;
  // Each rank and channel is visited at most once, unless the chain is a ring.
  size_t limit = statuses.size() * numChannels;
  for (size_t hop = 0; hop <= limit; ++hop) {
    const RankStatus &status = statuses[culprit.rank];
    const RankStatus::Channel &own = status.channels[channel];
    if (own.waitsFor >= 0) {
      if (!own.collective.empty())
        culprit.missed = own;
      culprit.rank = own.waitsFor;
      const RankStatus &peer = statuses[culprit.rank];
      if (peer.responds && peer.channels[channel].waitsFor >= 0)
        continue;
    }
    // Nothing runs on this channel of the rank: has its compute thread come
    // as far, or does it wait on the other channel?
    const RankStatus &last = statuses[culprit.rank];
    if (!last.responds || last.awaits < 0 || last.awaits == channel) {
      culprit.missed = firstMissed(statuses, culprit.rank, culprit.missed);
      return culprit;
    }
    channel = last.awaits;
  }
  culprit.isDeadlock = true;
  return culprit;
}

std::string runtime::shortNumber(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text;
}

RunError runtime::explainStall(const std::vector<RankStatus> &statuses,
                               const Stall &stall) {
  Culprit culprit = findCulprit(statuses, stall);
  RunError error;
  error.rank = culprit.rank;
  error.step = stall.step;
  error.collectiveId = culprit.missed.collectiveId;
  error.collective = culprit.missed.collective;
  error.message = culprit.isDeadlock ? "deadlock: ranks wait for each other; "
                                     : "stalled: ";
  if (!statuses[culprit.rank].responds)
    error.message += "its process does not answer; ";
  error.message += "rank " + std::to_string(stall.waiter) + " waited " +
                   shortNumber(stall.limitSeconds) + " s for it";
  return error;
}

RunError runtime::explainDeath(const std::vector<RankStatus> &statuses,
                               int64_t rank) {
  RankStatus::Channel missed = firstMissed(statuses, rank, {});
  RunError error;
  error.rank = rank;
  for (const RankStatus &status : statuses)
    error.step = std::max(error.step, status.step);
  error.collectiveId = missed.collectiveId;
  error.collective = missed.collective;
  error.message = "its process ended";
  return error;
}
