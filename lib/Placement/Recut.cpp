//===- Recut.cpp - Rows that are cut anew ---------------------------------===//

#include "amsp/Placement/Recut.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "amsp/Support/TensorType.h"

using namespace mlir;
using namespace amsp;

/// True if the uses take the value apart along the dimension, at once or
/// transposed.
static bool isTakenApart(Value value, int64_t dim) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [&](auto *user) {
    if (auto transpose = dyn_cast<stablehlo::TransposeOp>(user))
      return isTakenApart(transpose.getResult(),
                          llvm::find(transpose.getPermutation(), dim) -
                              transpose.getPermutation().begin());
    return isa<stablehlo::SliceOp, stablehlo::DynamicSliceOp>(user) &&
           getTensorType(user->getResult(0)).getDimSize(dim) <
               getTensorType(value).getDimSize(dim);
  });
}

/// The dimension of a microbatch's rows, where a reshape makes microbatches of
/// the batch: `microbatches x rows` of dimension `dim`, or `rows x
/// microbatches`, where each has every k-th row.
static std::optional<int64_t> getMicrobatchRows(stablehlo::ReshapeOp reshape,
                                                int64_t dim) {
  RankedTensorType from = getTensorType(reshape.getOperand());
  RankedTensorType to = getTensorType(reshape.getResult());
  if (to.getRank() != from.getRank() + 1 ||
      to.getShape().take_front(dim) != from.getShape().take_front(dim) ||
      to.getShape().drop_front(dim + 2) != from.getShape().drop_front(dim + 1))
    return std::nullopt;
  return isTakenApart(reshape.getResult(), dim + 1) ? dim : dim + 1;
}

/// The dimension of the result along which the rows can be cut anew.
static std::optional<int64_t> findRows(Operation *op,
                                       ArrayRef<Placement> operands,
                                       const Transfer &transfer) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  const auto *split =
      llvm::find_if(operands, [](const Placement &p) { return p.isSplit(); });
  if (split == operands.end())
    return std::nullopt;
  const Placement &made = transfer.results.front();
  std::optional<int64_t> rows;
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op)) {
    // Microbatches that lie on some ranks only are of no use one by one.
    if (made.isReplicated() ||
        (made.isSplit() && isTakenApart(op->getResult(0), made.dim)))
      rows = getMicrobatchRows(reshape, split->dim);
  } else if (isa<stablehlo::SliceOp, stablehlo::DynamicSliceOp,
                 stablehlo::ConcatenateOp, stablehlo::ReverseOp>(op)) {
    if (made.isReplicated())
      rows = split->dim;
  }
  if (rows && made.isSplit() && made.dim == *rows)
    return std::nullopt;
  return rows;
}

static int64_t countRows(Operation *op, int64_t rows) {
  return getTensorType(op->getResult(0)).getDimSize(rows);
}

std::optional<Placement> amsp::getRecut(Operation *op,
                                        ArrayRef<Placement> operands,
                                        const Transfer &transfer,
                                        const PlacementContext &context) {
  std::optional<int64_t> rows = findRows(op, operands, transfer);
  if (!rows)
    return std::nullopt;
  int64_t count = countRows(op, *rows);
  if (count == 0)
    return std::nullopt;
  if (count % context.batchPieces == 0)
    return Placement::split(*rows);
  // A single row is looked up, not computed with; a microbatch of one would be
  // cut into padding.
  if (count == 1 || !context.padsRows)
    return std::nullopt;
  return Placement::split(*rows, count);
}

std::optional<int64_t> amsp::getUnevenRows(Operation *op,
                                           ArrayRef<Placement> operands,
                                           const Transfer &transfer,
                                           const PlacementContext &context) {
  std::optional<int64_t> rows = findRows(op, operands, transfer);
  int64_t count = rows ? countRows(op, *rows) : 0;
  if (count <= 1 || count % context.batchPieces == 0)
    return std::nullopt;
  return count;
}

bool amsp::takesSingleRows(Operation *op, int64_t dim) {
  if (!isa<stablehlo::SliceOp, stablehlo::DynamicSliceOp>(op))
    return false;
  Value value = op->getOperand(0);
  while (auto transpose = value.getDefiningOp<stablehlo::TransposeOp>()) {
    dim = transpose.getPermutation()[dim];
    value = transpose.getOperand();
  }
  auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>();
  if (!reshape)
    return false;
  // The rows are before or behind the dimension that is taken apart.
  for (int64_t from : {dim, dim - 1}) {
    if (from < 0)
      continue;
    std::optional<int64_t> rows = getMicrobatchRows(reshape, from);
    if (rows && *rows != dim && countRows(reshape, *rows) == 1)
      return true;
  }
  return false;
}
