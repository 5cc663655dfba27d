//===- OpCostsTest.cpp - Time of one op of a rank's program ---------------===//

#include "amsp/Planner/OpCosts.h"
#include "amsp/Dialect/StableHLO/IR/StableHLODialect.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace amsp;

namespace {
class OpCostsTest : public testing::Test {
protected:
  OpCostsTest() {
    context.loadDialect<mlir::func::FuncDialect, stablehlo::StableHLODialect>();
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
