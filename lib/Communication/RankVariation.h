//===- RankVariation.h - Which values differ between ranks ------*- C++ -*-===//

#ifndef AMSP_LIB_COMMUNICATION_RANKVARIATION_H
#define AMSP_LIB_COMMUNICATION_RANKVARIATION_H

#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp {

/// Along which digits of the rank's number the values of a rank's program may
/// differ. Arguments differ along the digits of their placements, a group's
/// index along the group's; a gather or an all_reduce makes its results equal
/// along its group, a reduce_scatter or all_to_all makes them differ; all else
/// differs as its operands and the predicates around it do.
class RankVariation {
public:
  /// A set of factors of the rank's number: the bounds of all digits in the
  /// program and of the levels cut it, innermost first.
  using Set = uint64_t;

  RankVariation(mlir::func::FuncOp program, llvm::ArrayRef<int64_t> levels);

  Set get(mlir::Value value) const { return sets.lookup(value); }
  Set getDigits(llvm::ArrayRef<Digit> digits) const;

  /// True for loops and branches, which getControl knows.
  static bool isControl(mlir::Operation *op);
  /// Of what decides which regions of a loop or branch run, and how often.
  Set getControl(mlir::Operation *op) const;

  /// `1:2, 4:2`: the ranks along which values of a set differ.
  std::string describe(Set set) const;

private:
  void collectBounds(mlir::func::FuncOp program,
                     llvm::ArrayRef<int64_t> levels);
  void join(mlir::Value value, Set set);
  Set getOperands(mlir::Operation *op) const;
  void visit(mlir::Block &block);
  void visit(mlir::Operation &op);
  bool visitAMSPOp(mlir::Operation &op);
  void visitLoop(mlir::Operation &op);
  void visitLoopOnce(mlir::Operation &op);
  void visitBranch(mlir::Operation &op);
  void visitLinalg(mlir::Operation &op);
  void visitOpaque(mlir::Operation &op);

  llvm::SmallVector<int64_t> bounds; // ascending, from 1 to the world's size
  llvm::DenseMap<mlir::Value, Set> sets;
  bool changed = false;
};

} // namespace amsp

#endif // AMSP_LIB_COMMUNICATION_RANKVARIATION_H
