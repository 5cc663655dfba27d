//===- StrategyTest.cpp - Reading strategies ------------------------------===//

#include "amsp/Placement/Strategy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace amsp;
using testing::ElementsAre;
using testing::HasSubstr;

static Strategy parse(llvm::StringRef text, llvm::ArrayRef<int64_t> levels) {
  llvm::Expected<Strategy> strategy = parseStrategy(text, levels);
  if (strategy)
    return *strategy;
  ADD_FAILURE() << llvm::toString(strategy.takeError());
  return {};
}

static std::string getError(llvm::StringRef text,
                            llvm::ArrayRef<int64_t> levels) {
  llvm::Expected<Strategy> strategy = parseStrategy(text, levels);
  if (!strategy)
    return llvm::toString(strategy.takeError());
  ADD_FAILURE() << text.str() << " was accepted";
  return "";
}

TEST(Strategy, presets) {
  int64_t levels[] = {4, 2};
  Strategy ddp = parse("ddp", levels);
  EXPECT_THAT(ddp.os, ElementsAre(1, 1));
  Strategy zero1 = parse("zero1", levels);
  EXPECT_THAT(zero1.g, ElementsAre(1, 1));
  EXPECT_THAT(zero1.os, ElementsAre(4, 2));
  Strategy zero2 = parse("zero2", levels);
  EXPECT_THAT(zero2.p, ElementsAre(1, 1));
  EXPECT_THAT(zero2.g, ElementsAre(4, 2));
  Strategy zero3 = parse("zero3", levels);
  EXPECT_THAT(zero3.p, ElementsAre(4, 2));
  Strategy mics = parse("mics:4", levels);
  EXPECT_THAT(mics.p, ElementsAre(4, 1));
  EXPECT_THAT(mics.os, ElementsAre(4, 1));
  Strategy hpz = parse("hpz:4x1", levels);
  EXPECT_THAT(hpz.p, ElementsAre(4, 1));
  EXPECT_THAT(hpz.g, ElementsAre(4, 2));
}

TEST(Strategy, explicitFactors) {
  int64_t levels[] = {2, 3};
  Strategy mixed = parse("p=1,g=2,os=6", levels);
  EXPECT_THAT(mixed.p, ElementsAre(1, 1));
  EXPECT_THAT(mixed.g, ElementsAre(2, 1));
  EXPECT_THAT(mixed.os, ElementsAre(2, 3));
  Strategy omitted = parse("os=all", levels);
  EXPECT_THAT(omitted.p, ElementsAre(1, 1));
  EXPECT_THAT(omitted.g, ElementsAre(1, 1));
  Strategy outer = parse("p=1x3,os=2x3", levels);
  EXPECT_THAT(outer.g, ElementsAre(1, 3));
}

TEST(Strategy, groupThatDoesNotDivideItsLevel) {
  // 2 nodes x 3 GPUs with factor 2; a group of 8 on 2 ranks.
  EXPECT_EQ(getError("os=2x1", {3, 2}),
            "strategy 'os=2x1': level 0: os=2 does not divide size=3 (p | g | "
            "os | size must hold "
            "on every level)");
  EXPECT_THAT(getError("mics:2", {3, 2}),
              HasSubstr("2 does not divide a level of size 3"));
  EXPECT_THAT(getError("mics:8", {2}),
              HasSubstr("more than the levels 2 hold"));
  EXPECT_EQ(getError("p=4x1,g=2x1,os=4x1", {4, 2}),
            "strategy 'p=4x1,g=2x1,os=4x1': level 0: p=4 does not divide g=2 "
            "(p | g | os | size must hold on "
            "every level)");
}

TEST(Strategy, malformed) {
  EXPECT_THAT(getError("zero3x", {2}), HasSubstr("strategy 'zero3x': unknown"));
  EXPECT_THAT(getError("p=x,os=2", {2}), HasSubstr("'x' is not a factor"));
  EXPECT_THAT(getError("p=0,os=2", {2}), HasSubstr("'0' is not a factor"));
  EXPECT_THAT(getError("p=1", {2}), HasSubstr("no os is given"));
  EXPECT_THAT(getError("q=1,os=2", {2}), HasSubstr("unknown key 'q'"));
  EXPECT_THAT(getError("os=2,os=2", {2}), HasSubstr("'os' is given twice"));
  EXPECT_THAT(getError("os=1x1x1", {2, 2}), HasSubstr("has 3 levels"));
  EXPECT_THAT(getError("mics", {2}), HasSubstr("needs a factor"));
  EXPECT_THAT(getError("zero3:2", {2}), HasSubstr("takes no factor"));
}
