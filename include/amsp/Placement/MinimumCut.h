//===- MinimumCut.h - A smallest set of nodes that separates ----*- C++ -*-===//

#ifndef AMSP_PLACEMENT_MINIMUMCUT_H
#define AMSP_PLACEMENT_MINIMUMCUT_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace amsp {

/// A directed graph whose nodes have weights. Finds a set of nodes of least
/// total weight that meets every path from a source to a sink; of several such
/// sets, the one nearest to the sinks.
class MinimumCut {
public:
  /// Adds a node and returns its number; numbers count from 0.
  unsigned addNode(int64_t weight);
  void addEdge(unsigned from, unsigned to);
  /// Paths begin at the node, which may itself be in the set.
  void addSource(unsigned node);
  /// Paths end at the node, which may itself be in the set.
  void addSink(unsigned node);

  /// The nodes of the set, in ascending order. Dinic's algorithm on the graph
  /// with each node split in two: O(V^2 E), in practice near-linear for the
  /// shallow graphs of a training step.
  llvm::SmallVector<unsigned> solve();

private:
  struct Arc {
    unsigned to;
    int64_t capacity;
  };
  void addArc(unsigned from, unsigned to, int64_t capacity);
  bool buildLevels();
  int64_t augment(unsigned vertex, int64_t limit);

  /// Vertex 0 is the source, 1 the sink; node n enters at 2n + 2 and leaves at
  /// 2n + 3. Arc i and its reverse i ^ 1 are neighbours.
  llvm::SmallVector<Arc> arcs;
  llvm::SmallVector<llvm::SmallVector<unsigned, 4>> outgoing{{}, {}};
  llvm::SmallVector<int> levels;
  llvm::SmallVector<unsigned> nextArc;
};

} // namespace amsp

#endif // AMSP_PLACEMENT_MINIMUMCUT_H
