//===- AMSPOps.cpp - Collectives and rank-local ops -----------------------===//

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace amsp;

#define GET_OP_CLASSES
#include "amsp/Dialect/AMSP/IR/AMSPOps.cpp.inc"

/// Checks that `piece` is what a member of a group holds of `full`.
static LogicalResult verifyPieces(Operation *op, Type fullType, Type pieceType,
                                  GroupAttr group, std::optional<uint64_t> dim,
                                  int64_t keep) {
  auto full = cast<RankedTensorType>(fullType);
  auto piece = cast<RankedTensorType>(pieceType);
  int64_t members = group.getSize();
  if (full.getElementType() != piece.getElementType())
    return op->emitOpError("full side and piece differ in element type");
  if (dim) {
    if (static_cast<int64_t>(*dim) >= full.getRank())
      return op->emitOpError("dim ") << *dim << " is out of range for " << full;
    SmallVector<int64_t> expected(full.getShape());
    if (expected[*dim] % members != 0)
      return op->emitOpError("a group of ")
             << members << " does not divide dimension " << *dim << " of "
             << full;
    expected[*dim] /= members;
    if (expected != piece.getShape())
      return op->emitOpError("expected a piece of shape [")
             << expected << "], got " << piece;
    return success();
  }
  if (keep < 0 || keep > full.getRank())
    return op->emitOpError("keep ") << keep << " is out of range for " << full;
  if (piece.getRank() != keep + 1 ||
      piece.getShape().take_front(keep) != full.getShape().take_front(keep))
    return op->emitOpError("a flat piece of ")
           << full << " has its " << keep
           << " kept dimensions and one more, got " << piece;
  int64_t row = ShapedType::getNumElements(full.getShape().drop_front(keep));
  if (piece.getShape().back() * members < row)
    return op->emitOpError("pieces of ")
           << piece.getShape().back() << " elements on " << members
           << " ranks cannot hold " << row;
  return success();
}

LogicalResult AllGatherOp::verify() {
  return verifyPieces(*this, getType(), getOperand().getType(), getGroup(),
                      getDim(), getKeep());
}
LogicalResult ReduceScatterOp::verify() {
  return verifyPieces(*this, getOperand().getType(), getType(), getGroup(),
                      getDim(), getKeep());
}
LogicalResult LocalSliceOp::verify() {
  return verifyPieces(*this, getOperand().getType(), getType(), getGroup(),
                      getDim(), getKeep());
}
LogicalResult AllReduceOp::verify() { return success(); }
