//===- ChoiceSearchTest.cpp - Against brute force -------------------------===//

#include "amsp/Planner/ChoiceSearch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace amsp;

/// The least time over all selections, unit by unit.
static double searchAll(llvm::ArrayRef<ChoiceClass> classes, double limit) {
  std::vector<const ChoiceClass *> units;
  for (const ChoiceClass &choiceClass : classes)
    units.insert(units.end(), choiceClass.units, &choiceClass);
  double best = std::numeric_limits<double>::infinity();
  auto visit = [&](auto &self, size_t unit, double bytes,
                   double seconds) -> void {
    if (bytes > limit)
      return;
    if (unit == units.size()) {
      best = std::min(best, seconds);
      return;
    }
    for (const Choice &choice : units[unit]->choices)
      self(self, unit + 1, bytes + choice.bytes, seconds + choice.seconds);
  };
  visit(visit, 0, 0, 0);
  return best;
}

/// Checks that the counts are a selection with the stated sums.
static void expectConsistent(llvm::ArrayRef<ChoiceClass> classes,
                             const ChoiceCounts &result) {
  double bytes = 0, seconds = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    int64_t units = 0;
    for (size_t j = 0; j < classes[i].choices.size(); ++j) {
      int64_t count = result.counts[i][j];
      EXPECT_GE(count, 0);
      units += count;
      bytes += static_cast<double>(count) * classes[i].choices[j].bytes;
      seconds += static_cast<double>(count) * classes[i].choices[j].seconds;
    }
    EXPECT_EQ(units, classes[i].units);
  }
  EXPECT_NEAR(result.bytes, bytes, 1e-9 * (1 + bytes));
  EXPECT_NEAR(result.seconds, seconds, 1e-9 * (1 + seconds));
}

TEST(ChoiceSearchTest, FrontHasNoBeatenChoice) {
  std::vector<Choice> choices = {{4, 1}, {1, 9}, {2, 9},
                                 {3, 2}, {3, 3}, {1, 8}};
  EXPECT_THAT(getFront(choices), testing::ElementsAre(5, 3, 0));
}

TEST(ChoiceSearchTest, SomeOfEqualUnits) {
  // Twelve equal layers; memory for five of them unsharded.
  ChoiceClass layers{12, {{1, 2}, {3, 1}}};
  ChoiceCounts result = selectChoices({layers}, 23);
  EXPECT_TRUE(result.fits);
  EXPECT_THAT(result.counts[0], testing::ElementsAre(7, 5));
  EXPECT_DOUBLE_EQ(result.seconds, 7 * 2 + 5);
}

TEST(ChoiceSearchTest, NothingFits) {
  ChoiceClass layers{3, {{5, 1}, {4, 2}}};
  ChoiceCounts result = selectChoices({layers}, 11);
  EXPECT_FALSE(result.fits);
  EXPECT_DOUBLE_EQ(result.bytes, 12);
}

TEST(ChoiceSearchTest, EqualsBruteForce) {
  std::mt19937 random(7);
  auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  int64_t states = 0;
  for (int round = 0; round < 3000; ++round) {
    bool isSmooth = round % 2 == 0;
    std::vector<ChoiceClass> classes(draw(1, 4));
    double least = 0, most = 0;
    for (ChoiceClass &choiceClass : classes) {
      choiceClass.units = draw(1, 3);
      for (int i = draw(1, 4); i > 0; --i) {
        // Whole numbers give ties and collinear choices.
        double bytes = draw(1, 12), seconds = draw(1, 12);
        choiceClass.choices.push_back(
            {bytes, isSmooth ? seconds + 1e-3 * draw(0, 999) : 13 - bytes});
      }
      auto [first, last] = std::minmax_element(
          choiceClass.choices.begin(), choiceClass.choices.end(),
          [](const Choice &a, const Choice &b) { return a.bytes < b.bytes; });
      least += static_cast<double>(choiceClass.units) * first->bytes;
      most += static_cast<double>(choiceClass.units) * last->bytes;
    }
    double limit = draw(static_cast<int>(least) - 1, static_cast<int>(most));
    double expected = searchAll(classes, limit);
    ChoiceCounts result = selectChoices(classes, limit);
    expectConsistent(classes, result);
    ASSERT_EQ(result.fits, limit >= least);
    if (!result.fits)
      continue;
    ASSERT_NEAR(result.seconds, expected, 2e-6 * expected) << round;
    states += result.states;
    ASSERT_LE(result.bytes, limit);
    ASSERT_LE(result.leastSeconds, expected * (1 + 1e-9));
  }
  // The relaxation alone does not decide these.
  EXPECT_GT(states, 1000);
}

TEST(ChoiceSearchTest, MoreMemoryIsNeverSlower) {
  ChoiceClass layers{24, {{10, 9.5}, {23, 6.1}, {39, 4.2}, {81, 1.7}}};
  ChoiceClass ends{3, {{20, 20}, {50, 11}, {110, 3}}};
  double last = std::numeric_limits<double>::infinity();
  for (double limit = 300; limit < 2400; limit += 7) {
    ChoiceCounts result = selectChoices({layers, ends}, limit);
    EXPECT_LE(result.seconds, last * (1 + 1e-6));
    EXPECT_LE(result.bytes, limit);
    last = result.seconds;
  }
}

TEST(ChoiceSearchTest, ManyDifferentUnits) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> draw(0.5, 1.5);
  std::vector<ChoiceClass> classes(1000);
  double least = 0, most = 0;
  for (ChoiceClass &choiceClass : classes) {
    double scale = draw(random), bytes = std::round(1e6 * scale);
    double seconds = 40 * scale;
    least += bytes;
    for (int i = 0; i < 30; ++i) {
      choiceClass.choices.push_back({bytes, seconds});
      bytes += std::round(1e6 * scale * draw(random) * (1 + i));
      seconds *= 0.85 + 0.1 * draw(random);
    }
    most += choiceClass.choices.back().bytes;
  }
  ChoiceCounts result = selectChoices(classes, least + 0.3 * (most - least));
  expectConsistent(classes, result);
  EXPECT_TRUE(result.fits);
  EXPECT_DOUBLE_EQ(result.leastSeconds, result.seconds);
  EXPECT_LT(result.states, 2000000);
}

TEST(ChoiceSearchTest, ProportionalUnits) {
  // All choices of all units save as much per byte: a subset sum.
  std::mt19937 random(5);
  std::vector<ChoiceClass> classes(20);
  double most = 0;
  for (ChoiceClass &choiceClass : classes) {
    double size = std::uniform_int_distribution<int>(1e6, 1e8)(random);
    choiceClass.units = 50;
    for (int pieces : {16, 8, 4, 2, 1})
      choiceClass.choices.push_back(
          {std::round(size / pieces), 2 * size - std::round(size / pieces)});
    most += 50 * size;
  }
  ChoiceCounts result = selectChoices(classes, 0.41 * most);
  expectConsistent(classes, result);
  EXPECT_TRUE(result.fits);
  EXPECT_LE(result.seconds, result.leastSeconds * (1 + 2e-6));
  EXPECT_LT(result.states, 2000000);
}
