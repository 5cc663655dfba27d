//===- UpdateOpsTest.cpp - Where an optimizer's part of a step begins -----===//

#include "amsp/Planner/UpdateOps.h"
#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/StableHLO/IR/StableHLODialect.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace amsp;

namespace {
class UpdateOpsTest : public testing::Test {
protected:
  UpdateOpsTest() {
    context.loadDialect<mlir::func::FuncDialect, AMSPDialect,
                        stablehlo::StableHLODialect>();
  }

  /// The names of the update's ops, in program order, of a step that makes `%r`
  /// of a parameter `%w` and a batch `%x`.
  std::string run(llvm::StringRef body) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        ("func.func @main(%w: tensor<4xf32> {amsp.role = #amsp.role<param>, "
         "amsp.result = 0 : i64}, %x: tensor<4xf32> {amsp.role = "
         "#amsp.role<batch>}) -> tensor<4xf32> { " +
         body + " return %r : tensor<4xf32> }")
            .str(),
        &context);
    EXPECT_TRUE(module);
    auto step = *module->getOps<mlir::func::FuncOp>().begin();
    llvm::DenseSet<mlir::Operation *> ops = getUpdateOps(step);
    std::string names;
    for (mlir::Operation &op : step.getBody().front())
      if (ops.contains(&op))
        names += (names.empty() ? "" : " ") + op.getName().stripDialect().str();
    return names;
  }

  mlir::MLIRContext context;
};
} // namespace

static constexpr const char *kForward =
    "%y = stablehlo.multiply %w, %x : tensor<4xf32>\n";
static constexpr const char *kReduce =
    "%g = amsp.all_reduce sum %y group = <[1:4]> : tensor<4xf32>\n";
static constexpr const char *kUpdate =
    "%r = stablehlo.subtract %w, %g : tensor<4xf32>\n";

// Whether a collective says which parameter it is for or not.
TEST_F(UpdateOpsTest, BeginsBehindTheSumOfAGradient) {
  EXPECT_EQ(run(std::string(kForward) + kReduce + kUpdate), "subtract");
}

// The gradient of a table of which the step reads a part.
TEST_F(UpdateOpsTest, GoesOnThroughPadding) {
  EXPECT_EQ(
      run("%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
          "%h = stablehlo.slice %x [0:2] : (tensor<4xf32>) -> tensor<2xf32>\n"
          "%s = amsp.all_reduce sum %h group = <[1:4]> : tensor<2xf32>\n"
          "%g = stablehlo.pad %s, %z, low = [0], high = [2], interior = [0] : "
          "(tensor<2xf32>, tensor<f32>) -> tensor<4xf32>\n" +
          std::string(kUpdate)),
      "constant pad subtract");
}

TEST_F(UpdateOpsTest, ReadsTheLossBehindItsSum) {
  EXPECT_EQ(run(std::string(kForward) + kReduce +
                "%l = stablehlo.exponential %y : tensor<4xf32>\n"
                "%t = amsp.all_reduce sum %l group = <[1:4]> : tensor<4xf32>\n"
                "%c = stablehlo.minimum %t, %w : tensor<4xf32>\n"
                "%d = stablehlo.multiply %c, %g : tensor<4xf32>\n"
                "%r = stablehlo.subtract %w, %d : tensor<4xf32>\n"),
            "minimum multiply subtract");
}

// The norm of all gradients is a sum over ranks of what is summed already.
TEST_F(UpdateOpsTest, GoesOnThroughSumsOfSums) {
  EXPECT_EQ(run(std::string(kForward) + kReduce +
                "%q = stablehlo.multiply %g, %g : tensor<4xf32>\n"
                "%n = amsp.all_reduce sum %q group = <[1:4]> : tensor<4xf32>\n"
                "%d = stablehlo.divide %g, %n : tensor<4xf32>\n"
                "%r = stablehlo.subtract %w, %d : tensor<4xf32>\n"),
            "multiply all_reduce divide subtract");
}

// Rows of other ranks are part of the batch as well.
TEST_F(UpdateOpsTest, GathersOfRowsAreNoSums) {
  EXPECT_EQ(run("%y = amsp.all_gather %x group = <[1:4]> : tensor<4xf32> -> "
                "tensor<16xf32>\n"
                "%e = stablehlo.exponential %y : tensor<16xf32>\n"
                "%s = stablehlo.slice %e [0:4] : (tensor<16xf32>) -> "
                "tensor<4xf32>\n"
                "%g = amsp.all_reduce sum %s group = <[1:4]> : tensor<4xf32>"
                "\n" +
                std::string(kUpdate)),
            "subtract");
}

/// A loop that adds `%v`, made by `value`, to a sum three times.
static std::string getLoop(llvm::StringRef value) {
  return ("%z = stablehlo.constant dense<0.0> : tensor<4xf32>\n"
          "%i = stablehlo.constant dense<0> : tensor<i32>\n"
          "%n = stablehlo.constant dense<3> : tensor<i32>\n"
          "%o = stablehlo.constant dense<1> : tensor<i32>\n"
          "%k:2 = stablehlo.while(%a = %i, %b = %z) : tensor<i32>, "
          "tensor<4xf32> cond { "
          "%p = stablehlo.compare LT, %a, %n, SIGNED : (tensor<i32>, "
          "tensor<i32>) -> tensor<i1> stablehlo.return %p : tensor<i1> } do { "
          "%j = stablehlo.add %a, %o : tensor<i32>\n" +
          value +
          "%c = stablehlo.add %b, %v : tensor<4xf32>\n"
          "stablehlo.return %j, %c : tensor<i32>, tensor<4xf32> }\n")
      .str();
}

TEST_F(UpdateOpsTest, LoopsOverMicrobatchesAreNotOfIt) {
  std::string multiply = "%y = stablehlo.multiply %w, %x : tensor<4xf32>\n";
  std::string update = "%r = stablehlo.subtract %w, %k#1 : tensor<4xf32>\n";
  // Summed in the loop, and behind it.
  EXPECT_EQ(run(getLoop(multiply + "%v = amsp.all_reduce sum %y group = "
                                   "<[1:4]> : tensor<4xf32>\n") +
                update),
            "subtract");
  EXPECT_EQ(run(getLoop(multiply + "%v = stablehlo.negate %y : tensor<4xf32>"
                                   "\n") +
                "%g = amsp.all_reduce sum %k#1 group = <[1:4]> : "
                "tensor<4xf32>\n" +
                kUpdate),
            "subtract");
}

// Iterations of an optimizer.
TEST_F(UpdateOpsTest, LoopsBehindTheSumAreOfIt) {
  EXPECT_EQ(run(std::string(kForward) + kReduce +
                getLoop("%v = stablehlo.negate %g : tensor<4xf32>\n") +
                "%r = stablehlo.subtract %w, %k#1 : tensor<4xf32>\n"),
            "constant constant constant constant while subtract");
}
