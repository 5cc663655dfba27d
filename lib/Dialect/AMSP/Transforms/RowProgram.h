//===- RowProgram.h - What a step does with rows of its batch ---*- C++ -*-===//

#ifndef AMSP_LIB_DIALECT_AMSP_TRANSFORMS_ROWPROGRAM_H
#define AMSP_LIB_DIALECT_AMSP_TRANSFORMS_ROWPROGRAM_H

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Placement/Partitioner.h"
#include "mlir/IR/OwningOpRef.h"

namespace amsp {

/// How errors about steps that are no sum over rows begin.
inline constexpr llvm::StringLiteral kCannotSplit =
    "the step cannot be split into microbatches: ";

/// The step as a rank of so many would run it, with nothing but the batch cut.
struct RowProgram {
  mlir::OwningOpRef<mlir::func::FuncOp> function;
  RowOrder order = RowOrder::Blocks;
  /// By result: the dimension along which it is split, if it is.
  llvm::SmallVector<std::optional<int64_t>> splitResults;
};

/// Partitions a copy of the step for `count` ranks. `rows`: of the batch
/// arguments, which `count` divides. Rows are interleaved where that is right.
RowProgram partitionRows(mlir::func::FuncOp step, int64_t count,
                         llvm::ArrayRef<int64_t> rows);

/// Tells the ops of a rank's program apart: those that compute with its rows,
/// those that need sums over all rows, and the others.
class RowAnalysis {
public:
  explicit RowAnalysis(mlir::func::FuncOp program) : program(program) {}

  /// Fails if the loss is not proved to be a sum over rows: an op needs rows
  /// and a sum over all of them, or rows of other ranks.
  mlir::LogicalResult run();
  bool isOfRows(mlir::Operation *op) const { return ofRows.contains(op); }
  bool isOfRows(mlir::Value value) const {
    if (mlir::Operation *op = value.getDefiningOp())
      return isOfRows(op) && !mlir::isa<AllReduceOp>(op);
    return isBatch(value);
  }
  llvm::ArrayRef<AllReduceOp> getSums() const { return sums; }

private:
  bool isBatch(mlir::Value value) const;
  mlir::LogicalResult verifyCollectives();
  mlir::LogicalResult visit(mlir::Operation &op);

  mutable mlir::func::FuncOp program;
  llvm::DenseSet<mlir::Operation *> ofRows;
  /// The sum that an op needs, the first of them.
  llvm::DenseMap<mlir::Operation *, AllReduceOp> sumOf;
  llvm::SmallVector<AllReduceOp> sums;
};

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_TRANSFORMS_ROWPROGRAM_H
