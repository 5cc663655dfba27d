//===- LoopStacks.h - What a scan saves of each iteration -------*- C++ -*-===//

#ifndef AMSP_LIB_DIALECT_AMSP_TRANSFORMS_LOOPSTACKS_H
#define AMSP_LIB_DIALECT_AMSP_TRANSFORMS_LOOPSTACKS_H

#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"

namespace amsp {

/// A carry of which each iteration of a loop writes its slice, and nothing else
/// reads within the loop.
struct Stack {
  unsigned carry;
  stablehlo::DynamicUpdateSliceOp store;
};

/// The stacks of a loop that writes all of their slices.
class LoopStacks {
public:
  explicit LoopStacks(stablehlo::WhileOp loop);

  llvm::ArrayRef<Stack> getStacks() const { return stacks; }
  /// The stack in whose slices a value is saved, in its own type or with a
  /// dimension of size 1 in front.
  const Stack *lookup(mlir::Value value) const;
  /// Whether the stack's slices hold the value, in such a type.
  static bool holds(const Stack &stack, mlir::Value value);
  /// The carry that counts the iterations, from 0.
  mlir::BlockArgument getCounter() const { return counter; }
  int64_t getTrips() const { return trips; }
  /// Says that nothing reads a stack any more.
  void drop(const Stack &stack);

  stablehlo::WhileOp loop;

private:
  mlir::BlockArgument counter;
  int64_t trips = 0;
  llvm::SmallVector<Stack> stacks;
  llvm::DenseMap<mlir::Value, unsigned> saved;
};

/// True if an op reads whole slices, and nothing else, of a stack.
bool isSliceRead(stablehlo::DynamicSliceOp slice, mlir::Value stack);

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_TRANSFORMS_LOOPSTACKS_H
