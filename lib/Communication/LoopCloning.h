//===- LoopCloning.h - Iterations beside their loop -------------*- C++ -*-===//

#ifndef AMSP_LIB_COMMUNICATION_LOOPCLONING_H
#define AMSP_LIB_COMMUNICATION_LOOPCLONING_H

#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Placement/CountedLoop.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace amsp {

/// Makes copies of a counted loop's ops.
class LoopCloner {
public:
  LoopCloner(stablehlo::WhileOp loop, const CountedLoop &counted);

  /// A constant of the counter's type: its value in an iteration.
  mlir::Value getCount(mlir::OpBuilder &builder, int64_t iteration) const;
  /// By how much the counter grows in an iteration.
  mlir::Value getStep(mlir::OpBuilder &builder) const;

  /// Copies the ops of the body that satisfy the predicate, in their order, to
  /// the builder's place. `mapping` says what stands for values of the body,
  /// and is extended by the copies' results. The gathers among them get windows
  /// of their own, so that none is merged with that of another iteration.
  void cloneBody(mlir::OpBuilder &builder, mlir::IRMapping &mapping,
                 llvm::function_ref<bool(mlir::Operation *)> predicate);

  /// Keeps what is cloned next beside the loop from being fused with what
  /// stands around it, as the loop's body is. What `mapping` has, and what the
  /// ops that satisfy the predicate read from outside the body, goes through
  /// barriers of an iteration of its own. Not so constants, nor the counter and
  /// other scalar integers, which say where slices are.
  void separate(mlir::OpBuilder &builder, mlir::IRMapping &mapping,
                llvm::function_ref<bool(mlir::Operation *)> predicate);
  /// The same for what comes out of the last iteration.
  void separate(mlir::OpBuilder &builder,
                llvm::MutableArrayRef<mlir::Value> values);

  /// What the body hands on to its carries, as mapped.
  llvm::SmallVector<mlir::Value>
  getYielded(const mlir::IRMapping &mapping) const;

  /// A loop without a body's ops over `carries`, of which the one numbered like
  /// the original's counter counts up to iteration `end`. The builder is left
  /// in its body.
  stablehlo::WhileOp createLoop(mlir::OpBuilder &builder,
                                llvm::ArrayRef<mlir::Value> carries,
                                int64_t end) const;

private:
  mlir::Value getConstant(mlir::OpBuilder &builder, int64_t value) const;
  mlir::Value getSeparated(mlir::OpBuilder &builder, mlir::Value value) const;

  mutable stablehlo::WhileOp loop; // accessors of ops are not const
  CountedLoop counted;
  int64_t nextWindow = 0;
  int64_t iteration = 0; // of barriers
};

} // namespace amsp

#endif // AMSP_LIB_COMMUNICATION_LOOPCLONING_H
