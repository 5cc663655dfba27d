//===- StallReport.cpp - Who holds up a collective ------------------------===//

#include "StallReport.h"

#include "ChannelWorker.h"

using namespace amsp::runtime;

/// Several collectives may wait for the culprit: it stopped before the first
/// of them. Ids follow the program's order.
const amsp_collective *
StallReport::firstMissed(int64_t culprit, const amsp_collective &known) const {
  const amsp_collective *first = &known;
  for (const RankState &state : ranks)
    for (const ChannelWorker *worker : state.workers) {
      if (worker->waitsFor() != culprit)
        continue;
      const amsp_collective *current = worker->current();
      if (current && current->id < first->id)
        first = current;
    }
  return first;
}

StallReport::Culprit
StallReport::findCulprit(int64_t waiter, const amsp_collective &awaited) const {
  int64_t rank = waiter;
  int32_t channel = awaited.channel;
  const amsp_collective *collective = &awaited;
  // Each rank and channel is visited at most once, unless the chain is a ring.
  size_t limit = ranks.size() * numChannels;
  for (size_t hop = 0; hop <= limit; ++hop) {
    const ChannelWorker &worker = *ranks[rank].workers[channel];
    int64_t peer = worker.waitsFor();
    if (peer >= 0) {
      if (const amsp_collective *current = worker.current())
        collective = current;
      rank = peer;
      if (ranks[peer].workers[channel]->waitsFor() >= 0)
        continue;
    }
    // Nothing runs on this channel of the rank: has its compute thread come
    // as far, or does it wait on the other channel?
    int32_t awaits = ranks[rank].awaits.load();
    if (awaits < 0 || awaits == channel)
      return {rank, firstMissed(rank, *collective), false};
    channel = awaits;
  }
  return {rank, collective, true};
}
