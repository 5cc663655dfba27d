//===- BlockOrderTest.cpp - The order of a block that changes -------------===//

#include "../../lib/Communication/BlockOrder.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace amsp;

namespace {
/// A block of ops whose order is compared with what MLIR tells.
class BlockOrderTest : public ::testing::Test {
protected:
  BlockOrderTest()
      : builder(&context),
        module(ModuleOp::create(builder, builder.getUnknownLoc())) {
    for (int i = 0; i < 40; ++i)
      ops.push_back(createBefore(nullptr));
  }

  /// At the end of the block if `place` is null.
  Operation *createBefore(Operation *place) {
    if (place)
      builder.setInsertionPoint(place);
    else
      builder.setInsertionPointToEnd(module->getBody());
    return ModuleOp::create(builder, builder.getUnknownLoc());
  }

  void expectSame(const BlockOrder &order) {
    for (Operation *lhs : ops)
      for (Operation *rhs : ops)
        ASSERT_EQ(order.isBefore(lhs, rhs),
                  lhs != rhs && lhs->isBeforeInBlock(rhs));
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  std::vector<Operation *> ops;
};
} // namespace

TEST_F(BlockOrderTest, MovesAndInsertionsAndErasures) {
  BlockOrder order(*module->getBody());
  std::mt19937 random(0);
  for (int i = 0; i < 200; ++i) {
    std::shuffle(ops.begin(), ops.end(), random);
    order.moveBefore({ops[0], ops[1], ops[2]}, ops[3]);
    EXPECT_EQ(ops[2]->getNextNode(), ops[3]);
    ops.push_back(createBefore(ops[4]));
    ops.push_back(createBefore(ops[4]));
    order.insert(ops[ops.size() - 2], ops[4]);
    for (int erased = 0; erased < 2; ++erased) {
      order.erase(ops[5]);
      ops.erase(ops.begin() + 5);
    }
    expectSame(order);
  }
}

/// More than there is room for between two numbers.
TEST_F(BlockOrderTest, ManyInFrontOfOne) {
  BlockOrder order(*module->getBody());
  for (int i = 0; i < 100; ++i) {
    Operation *op = createBefore(ops[7]);
    order.insert(op, ops[7]);
    ops.push_back(op);
  }
  expectSame(order);
}

/// In front of all others, where there is none before.
TEST_F(BlockOrderTest, ToTheBegin) {
  BlockOrder order(*module->getBody());
  for (int i = 1; i < 40; ++i)
    order.moveBefore(ops[i], &module->getBody()->front());
  expectSame(order);
}
