//===- MinimumCut.cpp - A smallest set of nodes that separates ------------===//

#include "amsp/Placement/MinimumCut.h"
#include <limits>

using namespace amsp;

static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;
static constexpr unsigned kSource = 0;
static constexpr unsigned kSink = 1;

static unsigned getEntry(unsigned node) { return 2 * node + 2; }
static unsigned getExit(unsigned node) { return 2 * node + 3; }

void MinimumCut::addArc(unsigned from, unsigned to, int64_t capacity) {
  outgoing[from].push_back(arcs.size());
  arcs.push_back({to, capacity});
  outgoing[to].push_back(arcs.size());
  arcs.push_back({from, 0});
}

unsigned MinimumCut::addNode(int64_t weight) {
  unsigned node = outgoing.size() / 2 - 1;
  outgoing.emplace_back();
  outgoing.emplace_back();
  addArc(getEntry(node), getExit(node), weight);
  return node;
}

void MinimumCut::addEdge(unsigned from, unsigned to) {
  addArc(getExit(from), getEntry(to), kUnlimited);
}
void MinimumCut::addSource(unsigned node) {
  addArc(kSource, getEntry(node), kUnlimited);
}
void MinimumCut::addSink(unsigned node) {
  addArc(getExit(node), kSink, kUnlimited);
}

bool MinimumCut::buildLevels() {
  levels.assign(outgoing.size(), -1);
  levels[kSource] = 0;
  llvm::SmallVector<unsigned> queue = {kSource};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (unsigned index : outgoing[queue[i]]) {
      const Arc &arc = arcs[index];
      if (arc.capacity == 0 || levels[arc.to] >= 0)
        continue;
      levels[arc.to] = levels[queue[i]] + 1;
      queue.push_back(arc.to);
    }
  }
  return levels[kSink] >= 0;
}

int64_t MinimumCut::augment(unsigned vertex, int64_t limit) {
  if (vertex == kSink)
    return limit;
  for (unsigned &next = nextArc[vertex]; next < outgoing[vertex].size();
       ++next) {
    unsigned index = outgoing[vertex][next];
    Arc arc = arcs[index];
    if (arc.capacity == 0 || levels[arc.to] != levels[vertex] + 1)
      continue;
    int64_t flow = augment(arc.to, std::min(limit, arc.capacity));
    if (flow == 0)
      continue;
    arcs[index].capacity -= flow;
    arcs[index ^ 1].capacity += flow;
    return flow;
  }
  return 0;
}

llvm::SmallVector<unsigned> MinimumCut::solve() {
  while (buildLevels()) {
    nextArc.assign(outgoing.size(), 0);
    while (augment(kSource, kUnlimited) > 0)
      ;
  }
  // What still reaches the sink is its side; the set nearest to the sinks
  // leaves it as small as possible.
  llvm::SmallVector<bool> reaches(outgoing.size(), false);
  reaches[kSink] = true;
  llvm::SmallVector<unsigned> queue = {kSink};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (unsigned index : outgoing[queue[i]]) {
      unsigned from = arcs[index].to;
      if (reaches[from] || arcs[index ^ 1].capacity == 0)
        continue;
      reaches[from] = true;
      queue.push_back(from);
    }
  }
  llvm::SmallVector<unsigned> cut;
  for (unsigned node = 0; getExit(node) < outgoing.size(); ++node)
    if (!reaches[getEntry(node)] && reaches[getExit(node)])
      cut.push_back(node);
  return cut;
}
