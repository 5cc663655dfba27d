//===- PlanFileTest.cpp - Plans that people edit --------------------------===//

#include "amsp/Planner/PlanFile.h"
#include "amsp/Planner/Planner.h"
#include "amsp/Planner/UnitPattern.h"
#include "gmock/gmock.h"

using namespace llvm;
using namespace amsp;
using testing::ElementsAre;

static const std::vector<StepUnit> kUnits = {
    {"embeddings", 64}, {"h.0", 10}, {"h.1", 10}, {"h.2", 12}, {"rest", 3}};

static Cluster makeCluster(StringRef text) {
  return cantFail(parseCluster(text));
}

static std::string getError(StringRef content,
                            StringRef cluster = "levels=2x2") {
  Expected<PlanFile> plan = parsePlanFile(content, "plan.yaml");
  if (!plan)
    return toString(plan.takeError());
  auto strategies = resolvePlanFile(*plan, kUnits, makeCluster(cluster));
  return strategies ? "" : toString(strategies.takeError());
}

TEST(UnitPattern, Ranges) {
  UnitPattern range = cantFail(UnitPattern::parse("h.1..11"));
  EXPECT_FALSE(range.matches("h.0"));
  EXPECT_TRUE(range.matches("h.1"));
  EXPECT_TRUE(range.matches("h.11"));
  EXPECT_FALSE(range.matches("h.12"));
  EXPECT_FALSE(range.matches("h.01"));
  EXPECT_FALSE(range.matches("k.3"));
  UnitPattern glob = cantFail(UnitPattern::parse("h.[0-2]"));
  EXPECT_TRUE(glob.matches("h.2"));
  EXPECT_FALSE(glob.matches("h.3"));
  EXPECT_EQ(toString(UnitPattern::parse("h.4..2").takeError()),
            "the range 'h.4..2' falls");
}

TEST(UnitPattern, RunsOfEqualUnits) {
  std::vector<std::string> names = {"a", "h.8", "h.9", "h.10", "h.11", "b"};
  EXPECT_EQ(formatUnits(names), "a, h.8..11, b");
  std::vector<std::string> values = {"1", "1", "1", "2", "2", "2"};
  std::vector<std::string> patterns;
  for (const UnitRun &run : findRuns(names, values))
    patterns.push_back(run.pattern);
  EXPECT_THAT(patterns, ElementsAre("a", "h.8..9", "h.10..11", "b"));
}

TEST(PlanFile, IsReadAsItIsWritten) {
  Cluster cluster = makeCluster("levels=2x2");
  Strategy ddp = cantFail(parseStrategy("ddp", cluster.getSizes()));
  Strategy zero3 = cantFail(parseStrategy("zero3", cluster.getSizes()));
  std::vector<Strategy> strategies = {zero3, ddp, ddp, ddp, zero3};
  std::string text;
  raw_string_ostream stream(text);
  printPlanFile(stream, makePlanFile(kUnits, strategies, cluster, "bf16"),
                "A plan");
  EXPECT_EQ(text, "# A plan\n"
                  "version: 1\n"
                  "cluster: {name: 'levels=2x2', levels: 2x2}\n"
                  "model:\n"
                  "  embeddings: 64\n"
                  "  h.0..1: 10\n"
                  "  h.2: 12\n"
                  "  rest: 3\n"
                  "reduce_type: bf16\n"
                  "strategy: p=1x1,g=1x1,os=1x1\n"
                  "units:\n"
                  "  embeddings: p=2x2,g=2x2,os=2x2\n"
                  "  rest: p=2x2,g=2x2,os=2x2\n");
  PlanFile read = cantFail(parsePlanFile(text, "plan.yaml"));
  EXPECT_EQ(read.reduceType, "bf16");
  EXPECT_EQ(cantFail(resolvePlanFile(read, kUnits, cluster)), strategies);
}

TEST(PlanFile, Microbatches) {
  Cluster cluster = makeCluster("levels=2x2");
  std::vector<Strategy> strategies(
      kUnits.size(), cantFail(parseStrategy("ddp", cluster.getSizes())));
  PlanFile plan = makePlanFile(kUnits, strategies, cluster, "f32");
  EXPECT_EQ(plan.microbatches, 1);
  plan.microbatches = 4;
  std::string text;
  raw_string_ostream stream(text);
  printPlanFile(stream, plan, "");
  EXPECT_NE(text.find("\nmicrobatches: 4\n"), std::string::npos);
  EXPECT_EQ(cantFail(parsePlanFile(text, "plan.yaml")).microbatches, 4);
  EXPECT_EQ(getError("version: 1\nstrategy: ddp\nmicrobatches: 0\n"),
            "plan.yaml:3: expected a positive number");
}

TEST(PlanFile, UnitsToComputeAgain) {
  Cluster cluster = makeCluster("levels=2x2");
  std::vector<Strategy> strategies(
      kUnits.size(), cantFail(parseStrategy("ddp", cluster.getSizes())));
  std::vector<std::string> units = {"h.0", "h.1", "rest"};
  std::string text;
  raw_string_ostream stream(text);
  printPlanFile(stream, makePlanFile(kUnits, strategies, cluster, "f32", units),
                "");
  EXPECT_NE(text.find("\nrecompute: [h.0..1, rest]\n"), std::string::npos);
  PlanFile plan = cantFail(parsePlanFile(text, "plan.yaml"));
  EXPECT_EQ(cantFail(resolveRecompute(plan, kUnits)), units);
  plan.recompute = {PlanText("rest"), PlanText("h.*"), PlanText("h.1")};
  EXPECT_THAT(cantFail(resolveRecompute(plan, kUnits)),
              ElementsAre("h.0", "h.1", "h.2", "rest"));
  plan.recompute = {PlanText("k.0")};
  EXPECT_EQ(toString(resolveRecompute(plan, kUnits).takeError()),
            "plan 'plan.yaml': recompute: no unit is named 'k.0'; the step has "
            "embeddings, h.0..2, rest");
  plan = cantFail(parsePlanFile(
      "version: 1\nstrategy: ddp\nrecompute:\n  - h.0\n  - k.0\n", "p.yaml"));
  EXPECT_EQ(toString(resolveRecompute(plan, kUnits).takeError()),
            "p.yaml:5: recompute: no unit is named 'k.0'; the step has "
            "embeddings, h.0..2, rest");
}

TEST(PlanFile, HowLoopsAreWritten) {
  Cluster cluster = makeCluster("levels=2x2");
  std::vector<Strategy> strategies(
      kUnits.size(), cantFail(parseStrategy("ddp", cluster.getSizes())));
  for (auto [form, text] :
       {std::pair(LoopForm{false, false}, "\nloops: []\n"),
        {LoopForm{true, false}, "\nloops: [peeled]\n"},
        {LoopForm{true, true}, "\nloops: [peeled, pipelined]\n"}}) {
    PlanFile plan = makePlanFile(kUnits, strategies, cluster, "f32");
    plan.loops = form;
    std::string printed;
    raw_string_ostream stream(printed);
    printPlanFile(stream, plan, "");
    EXPECT_THAT(printed, testing::HasSubstr(text));
    PlanFile read = cantFail(parsePlanFile(printed, "plan.yaml"));
    EXPECT_EQ(read.loops, form);
  }
  EXPECT_EQ(cantFail(parsePlanFile("version: 1\n", "plan.yaml")).loops,
            std::nullopt);
  EXPECT_EQ(getError("version: 1\nstrategy: ddp\nloops: [unrolled]\n"),
            "plan.yaml:3: loops are peeled or pipelined");
}

TEST(PlanFile, AnotherModelOrClusterIsRefused) {
  EXPECT_EQ(getError("version: 1\nstrategy: ddp\nmodel: {embeddings: 64, "
                     "h.0..2: 10, rest: 3}\n"),
            "plan.yaml:3: for another model: its unit 'h.2' has 10 "
            "parameters, here 12");
  EXPECT_EQ(getError("version: 1\nstrategy: ddp\nmodel: {embeddings: 64}\n"),
            "plan 'plan.yaml': for another model: it has no unit 'h.0'");
  EXPECT_EQ(getError("version: 1\nstrategy: ddp\nmodel: {embeddings: 64, "
                     "h.0..1: 10, h.2: 12, h.3: 12, rest: 3}\n"),
            "plan.yaml:3: for another model: the step has no unit "
            "'h.3', but embeddings, h.0..2, rest");
  EXPECT_EQ(getError("version: 1\nstrategy: ddp\ncluster: {levels: 2x3}\n"),
            "plan 'plan.yaml' is for another cluster: its level 1 is 3, here "
            "it is 2");
  EXPECT_EQ(getError("version: 1\nstrategy: ddp\ncluster: {levels: 4}\n"),
            "plan 'plan.yaml' is for another cluster: its number of levels is "
            "1, here it is 2");
}

TEST(PlanFile, UnitsAreNamedOnce) {
  EXPECT_EQ(getError("version: 1\nstrategy: ddp\nunits: {h.3: zero3}\n"),
            "plan.yaml:3: no unit is named 'h.3'; the step has "
            "embeddings, h.0..2, rest");
  EXPECT_EQ(getError("version: 1\nstrategy: ddp\nunits: {'h.*': zero3, h.1: "
                     "zero1}\n"),
            "plan.yaml:3: unit 'h.1' is named twice, by 'h.*' and by "
            "'h.1'");
  EXPECT_EQ(getError("version: 1\nunits: {'h.*': zero3}\n"),
            "plan 'plan.yaml': it gives unit 'embeddings' no strategy, and "
            "none for all others");
  EXPECT_THAT(getError("version: 1\nstrategy: p=3\n"),
              testing::StartsWith("plan.yaml:2: strategy 'p=3': "));
  EXPECT_THAT(getError("version: 1\nstrategy: ddp\nunits:\n  rest: zero1\n"
                       "  h.0..2: 'p=3' # none\n"),
              testing::StartsWith("plan.yaml:5: units 'h.0..2': strategy "
                                  "'p=3': "));
  // What has escapes is a copy, of which the line is not known.
  EXPECT_THAT(getError("version: 1\nstrategy: \"p\\x3D3\"\n"),
              testing::StartsWith("plan 'plan.yaml': strategy 'p=3': "));
}

TEST(PlanFile, ErrorsOfFormNameTheLine) {
  EXPECT_EQ(getError("version: 2\nstrategy: ddp\n"),
            "plan.yaml:1: this build reads plans of version 1 only");
  EXPECT_EQ(getError("version: 1\nstrategies: ddp\n"),
            "plan.yaml:2: unknown key 'strategies'");
  EXPECT_EQ(getError("version: 1\nmodel: {a: many}\n"),
            "plan.yaml:2: invalid number");
  EXPECT_EQ(getError("strategy: ddp\n"),
            "plan.yaml:1: missing required key 'version'");
  EXPECT_EQ(getError("version: 1\ncluster: {levels: 2,2}\n"),
            "plan.yaml:2: unknown key '2'");
  for (StringRef wrong : {"", "2x", "2x0", "x", "-2"})
    EXPECT_EQ(
        getError(("version: 1\ncluster:\n  levels: '" + wrong + "'\n").str()),
        "plan.yaml:3: levels are positive sizes joined by 'x', as 8x4");
  EXPECT_EQ(getError("version: 1\nstrategy: ddp\nreduce_type: f8\n"),
            "plan.yaml:3: reduce_type is f32, bf16 or graph");
}

TEST(PlanFile, AFileOfNothingIsNoPlan) {
  for (StringRef content : {"", "\n", "# nothing but a comment\n", "---\n"})
    EXPECT_EQ(getError(content), "plan.yaml: no plan") << content.str();
}

TEST(PlanFile, AnyNameIsReadAsItIsWritten) {
  for (StringRef name :
       {"bob's", "a b: c", "", "---", "...", "-", "#", "{[", "a\nb\t'\"\\",
        "two-levels", "a, b", "\xc3\xbc", "null", "~"}) {
    Cluster cluster = makeCluster("levels=2x2");
    cluster.name = name;
    std::vector<StepUnit> units = {{("u" + name).str(), 3},
                                   {("v" + name).str(), 4}};
    std::vector<Strategy> strategies = {
        cantFail(parseStrategy("ddp", cluster.getSizes())),
        cantFail(parseStrategy("zero3", cluster.getSizes()))};
    std::string text;
    raw_string_ostream stream(text);
    printPlanFile(stream, makePlanFile(units, strategies, cluster, "f32"),
                  ("A plan on " + name).str());
    Expected<PlanFile> plan = parsePlanFile(text, "plan.yaml");
    ASSERT_TRUE(static_cast<bool>(plan)) << text << toString(plan.takeError());
    EXPECT_EQ(plan->cluster, name);
    ASSERT_EQ(plan->model.size(), 2u);
    EXPECT_EQ(plan->model[0].pattern, units[0].name);
    ASSERT_EQ(plan->units.size(), 1u);
    EXPECT_EQ(plan->units[0].pattern, units[1].name);
  }
}
