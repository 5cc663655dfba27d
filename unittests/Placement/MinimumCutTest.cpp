//===- MinimumCutTest.cpp - Against brute force ---------------------------===//

#include "amsp/Placement/MinimumCut.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <random>

using namespace amsp;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(MinimumCut, smallestValueOnTheWay) {
  // A large sum is reduced to a scalar and broadcast again.
  MinimumCut cut;
  unsigned large = cut.addNode(100), scalar = cut.addNode(1),
           broadcast = cut.addNode(100);
  cut.addEdge(large, scalar);
  cut.addEdge(scalar, broadcast);
  cut.addSource(large);
  cut.addSink(broadcast);
  EXPECT_THAT(cut.solve(), ElementsAre(scalar));
}

TEST(MinimumCut, sharedByAllUses) {
  // A gradient and its scaled copy are both needed: one completion serves both.
  MinimumCut cut;
  unsigned gradient = cut.addNode(10), scaled = cut.addNode(10);
  cut.addEdge(gradient, scaled);
  cut.addSource(gradient);
  cut.addSink(gradient);
  cut.addSink(scaled);
  EXPECT_THAT(cut.solve(), ElementsAre(gradient));
}

TEST(MinimumCut, tiesGoToTheLatest) {
  MinimumCut cut;
  unsigned first = cut.addNode(5), second = cut.addNode(5);
  cut.addEdge(first, second);
  cut.addSource(first);
  cut.addSink(second);
  EXPECT_THAT(cut.solve(), ElementsAre(second));
}

TEST(MinimumCut, tiedGradientsAreSummedFirst) {
  MinimumCut cut;
  unsigned a = cut.addNode(5), b = cut.addNode(5), sum = cut.addNode(5);
  cut.addEdge(a, sum);
  cut.addEdge(b, sum);
  cut.addSource(a);
  cut.addSource(b);
  cut.addSink(sum);
  EXPECT_THAT(cut.solve(), ElementsAre(sum));
}

TEST(MinimumCut, nothingNeeded) {
  MinimumCut cut;
  unsigned node = cut.addNode(5);
  cut.addSource(node);
  EXPECT_THAT(cut.solve(), IsEmpty());
}

namespace {
struct RandomGraph {
  std::vector<int64_t> weights;
  std::vector<std::pair<unsigned, unsigned>> edges;
  std::vector<unsigned> sources, sinks;

  explicit RandomGraph(std::mt19937 &random) {
    unsigned size = 2 + random() % 9;
    for (unsigned i = 0; i < size; ++i) {
      weights.push_back(1 + random() % 7);
      if (random() % 3 == 0)
        sources.push_back(i);
      if (random() % 3 == 0)
        sinks.push_back(i);
      for (unsigned j = i + 1; j < size; ++j)
        if (random() % 3 == 0)
          edges.push_back({i, j});
    }
  }

  bool isSeparatedBy(unsigned mask) const {
    std::vector<bool> reached(weights.size(), false);
    for (unsigned source : sources)
      reached[source] = true;
    // Edges lead from lower to higher numbers, in ascending order.
    for (auto [from, to] : edges)
      if (reached[from] && !(mask >> from & 1))
        reached[to] = true;
    for (unsigned sink : sinks)
      if (reached[sink] && !(mask >> sink & 1))
        return false;
    return true;
  }

  int64_t getWeight(unsigned mask) const {
    int64_t weight = 0;
    for (unsigned i = 0; i < weights.size(); ++i)
      weight += mask >> i & 1 ? weights[i] : 0;
    return weight;
  }
};
} // namespace

TEST(MinimumCut, asLightAsBruteForce) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    RandomGraph graph(random);
    MinimumCut cut;
    for (int64_t weight : graph.weights)
      cut.addNode(weight);
    for (auto [from, to] : graph.edges)
      cut.addEdge(from, to);
    for (unsigned source : graph.sources)
      cut.addSource(source);
    for (unsigned sink : graph.sinks)
      cut.addSink(sink);
    unsigned found = 0;
    for (unsigned node : cut.solve())
      found |= 1u << node;
    EXPECT_TRUE(graph.isSeparatedBy(found));
    int64_t best = graph.getWeight(found);
    for (unsigned mask = 0; mask < 1u << graph.weights.size(); ++mask)
      if (graph.isSeparatedBy(mask))
        EXPECT_GE(graph.getWeight(mask), best);
  }
}
