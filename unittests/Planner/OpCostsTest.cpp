//===- OpCostsTest.cpp - Time of one op of a rank's program ---------------===//

#include "amsp/Planner/OpCosts.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/StableHLO/IR/StableHLODialect.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace amsp;

namespace {
class OpCostsTest : public testing::Test {
protected:
  OpCostsTest() {
    context.loadDialect<AMSPDialect, mlir::func::FuncDialect,
                        stablehlo::StableHLODialect>();
    device.memoryBandwidth = 1e9;
    device.peakF32 = 1e12;
    device.achieved = {{1e3, 0.1}, {1e9, 0.5}};
  }

  /// The cost of the last op before the return.
  OpCost getLast(llvm::StringRef body) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        ("func.func @main(%a: tensor<8x64xf32>, %b: tensor<64x16xf32>,"
         " %i: tensor<i32>) { " +
         body + " return }")
            .str(),
        &context);
    EXPECT_TRUE(module);
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    auto op = std::prev(function.getBody().front().end(), 2);
    auto cost = getOpCost(&*op, device);
    EXPECT_TRUE(mlir::succeeded(cost));
    return cost.value_or(OpCost());
  }

  mlir::MLIRContext context;
  Device device;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
} // namespace

TEST_F(OpCostsTest, ContractionRunsAtTheAchievedRateOrTheMemorys) {
  const char *dot =
      "%c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
      " : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>";
  OpCost cost = getLast(dot);
  EXPECT_EQ(cost.operations, 2 * 8 * 64 * 16);
  EXPECT_EQ(cost.bytes, 4 * (8 * 64 + 64 * 16 + 8 * 16));
  EXPECT_DOUBLE_EQ(cost.seconds, cost.bytes / 1e9);
  device.memoryBandwidth = 1e15;
  cost = getLast(dot);
  EXPECT_DOUBLE_EQ(cost.seconds,
                   cost.operations /
                       (1e12 * getAchievedShare(device, cost.operations)));
}

TEST_F(OpCostsTest, FusedOpsCostNothingAndTheirSourcesAreRead) {
  EXPECT_EQ(
      getLast("%c = stablehlo.constant dense<1.0> : tensor<8x64xf32>").seconds,
      0);
  // Reads %a once and writes the result; the constant is no buffer.
  OpCost cost = getLast("%c = stablehlo.constant dense<1.0> : tensor<8x64xf32>"
                        "%d = stablehlo.add %a, %c : tensor<8x64xf32>"
                        "%e = stablehlo.multiply %d, %a : tensor<8x64xf32>");
  EXPECT_EQ(cost.bytes, 2 * 4 * 8 * 64);
}

TEST_F(OpCostsTest, PartsOfBuffersAreWhatIsRead) {
  EXPECT_EQ(getLast("%c = stablehlo.dynamic_slice %b, %i, %i, sizes = [1, 16] "
                    ": (tensor<64x16xf32>, tensor<i32>, tensor<i32>) -> "
                    "tensor<1x16xf32>")
                .bytes,
            2 * 4 * 16);
}

TEST_F(OpCostsTest, AttentionMovesNoScores) {
  device.memoryBandwidth = 1e15;
  const char *attention =
      "%q = stablehlo.reshape %a : (tensor<8x64xf32>) -> tensor<2x4x64xf32>"
      "%k = stablehlo.reshape %a : (tensor<8x64xf32>) -> tensor<1x8x64xf32>"
      "%r, %max, %sum = amsp.attention %q, %k, %k scale = 1.0 causal"
      " masked_score = -1.0"
      " : (tensor<2x4x64xf32>, tensor<1x8x64xf32>, tensor<1x8x64xf32>)"
      " -> (tensor<2x4x64xf32>, tensor<2x4xf32>, tensor<2x4xf32>)";
  // All pairs, two contractions at the rate of their size.
  OpCost cost = getLast(attention);
  double all = 2.0 * 2 * (4 * 8) * (64 + 64);
  EXPECT_EQ(cost.operations, all);
  EXPECT_DOUBLE_EQ(cost.seconds,
                   all / (1e12 * getAchievedShare(device, all / 2)));
  // Queries, keys and values are one buffer here.
  EXPECT_EQ(cost.bytes, 4 * (8 * 64 + 2 * 4 * 64 + 2 * 2 * 4));
  // What a causal mask leaves, at the rate of fused attention.
  device.attentionForward = 0.25;
  cost = getLast(attention);
  EXPECT_EQ(cost.operations, 2.0 * 2 * (1 + 2 + 3 + 4) * (64 + 64));
  EXPECT_DOUBLE_EQ(cost.seconds, cost.operations / 0.25e12);
}
