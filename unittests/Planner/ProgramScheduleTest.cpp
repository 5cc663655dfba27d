//===- ProgramScheduleTest.cpp - A rank's program, simulated --------------===//

#include "amsp/Planner/ProgramSchedule.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/StableHLO/IR/StableHLODialect.h"
#include "amsp/Placement/CountedLoop.h"
#include "amsp/Planner/OpCosts.h"
#include "amsp/Planner/ProgramCosts.h"
#include "amsp/Planner/StepModel.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace amsp;

namespace {
class ProgramScheduleTest : public testing::Test {
protected:
  ProgramScheduleTest() {
    context.loadDialect<mlir::func::FuncDialect, AMSPDialect,
                        stablehlo::StableHLODialect>();
    cluster.levels.resize(2);
    cluster.levels[0] = {"gpu", 2, 1e9, 1e-6, std::nullopt};
    cluster.levels[1] = {"node", 2, 1e8, 1e-5, std::nullopt};
    cluster.device.emplace();
    cluster.device->memoryBandwidth = 1e9;
    cluster.device->peakF32 = 1e10;
    cluster.interference = 0.5;
  }

  ProgramSimulation run(llvm::StringRef body) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        ("func.func @main(%w: tensor<1024xf32>, %x: tensor<64x64xf32>) -> "
         "tensor<64x64xf32> { " +
         body + " return %r : tensor<64x64xf32> }")
            .str(),
        &context);
    EXPECT_TRUE(module);
    step = *module->getOps<mlir::func::FuncOp>().begin();
    auto simulation = simulateStep(step, cluster, getCollectives());
    EXPECT_TRUE(mlir::succeeded(simulation));
    return std::move(*simulation);
  }
  CollectiveModel getCollectives() const {
    return CollectiveModel(cluster, CollectiveTable());
  }
  double getDotSeconds() const { return 2.0 * 64 * 64 * 64 / 1e10; }
  double getGatherSeconds() const {
    return getCollectives().getSeconds(CollectiveKind::AllGather, 4 * 4096,
                                       GroupShape{2, 2});
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp step;
  Cluster cluster;
};
} // namespace

static constexpr const char *kGather =
    "%g = amsp.all_gather %w group = <[1:4]> : tensor<1024xf32> -> "
    "tensor<64x64xf32>\n";
static constexpr const char *kDot =
    "%r = stablehlo.dot_general %x, %g, contracting_dims = [1] x [0] : "
    "(tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n";

TEST_F(ProgramScheduleTest, WholeCollectivesAreExposed) {
  SimulatedStep simulated = run(std::string(kGather) + kDot).step;
  EXPECT_DOUBLE_EQ(simulated.computeSeconds, getDotSeconds());
  EXPECT_DOUBLE_EQ(simulated.exposedSeconds, getGatherSeconds());
  EXPECT_DOUBLE_EQ(simulated.interferenceSeconds, 0);
  EXPECT_DOUBLE_EQ(simulated.seconds, getDotSeconds() + getGatherSeconds());
}

TEST_F(ProgramScheduleTest, StartedCollectivesOverlap) {
  std::string body =
      "%p = amsp.all_gather_start %w group = <[1:4]> : tensor<1024xf32> -> "
      "!amsp.pending<tensor<64x64xf32>>\n"
      "%s = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : "
      "(tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n"
      "%g = amsp.await %p : !amsp.pending<tensor<64x64xf32>>\n";
  SimulatedStep simulated = run(body + kDot).step;
  // The gather outlasts the first product, which it slows down.
  EXPECT_GT(getGatherSeconds(), 1.5 * getDotSeconds());
  EXPECT_DOUBLE_EQ(simulated.interferenceSeconds, 0.5 * getDotSeconds());
  EXPECT_DOUBLE_EQ(simulated.seconds, getGatherSeconds() + getDotSeconds());
}

/// A loop of a gather and a product over seven numbers.
static std::string getLoop(const std::string &condition) {
  return R"(
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %last = stablehlo.constant dense<7> : tensor<i32>
    %n, %r = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<64x64xf32>
    cond {
      %c = stablehlo.compare )" +
         condition + R"(, %i, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %g = amsp.all_gather %w group = <[1:4]> : tensor<1024xf32> -> tensor<64x64xf32>
      %z = stablehlo.dot_general %y, %g, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %z : tensor<i32>, tensor<64x64xf32>
    })";
}

TEST_F(ProgramScheduleTest, LoopsRunAsOftenAsTheyCount) {
  ProgramSimulation simulation = run(getLoop("LT"));
  const SimulatedStep &simulated = simulation.step;
  EXPECT_NEAR(simulated.exposedSeconds, 7 * getGatherSeconds(), 1e-12);
  EXPECT_EQ(simulated.runs.front(), 7);
  EXPECT_EQ(simulation.schedule.transfers.front().level, 1u);
  // What the search adds up is the same where nothing overlaps.
  auto costs = estimateProgram(step, *cluster.device);
  ASSERT_TRUE(mlir::succeeded(costs));
  EXPECT_NEAR(simulated.computeSeconds, costs->computeSeconds, 1e-12);
  auto [ofParameters, others] =
      getSeconds(collectCollectives(step), getCollectives());
  EXPECT_NEAR(simulated.exposedSeconds, ofParameters + others, 1e-12);
}

// As the plan and the manifest take it.
TEST_F(ProgramScheduleTest, LoopsOfUnknownCountRunMoreThanOnce) {
  ProgramSimulation simulation = run(getLoop("NE"));
  const SimulatedStep &simulated = simulation.step;
  EXPECT_EQ(simulated.runs.front(), kUnknownTripCount);
  EXPECT_NEAR(simulated.exposedSeconds, kUnknownTripCount * getGatherSeconds(),
              1e-12);
  auto costs = estimateProgram(step, *cluster.device);
  ASSERT_TRUE(mlir::succeeded(costs));
  EXPECT_NEAR(simulated.computeSeconds, costs->computeSeconds, 1e-12);
}
