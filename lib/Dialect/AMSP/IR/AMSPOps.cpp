//===- AMSPOps.cpp - Rank-local ops ---------------------------------------===//

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "Pieces.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace amsp;

LogicalResult amsp::verifyPieces(Operation *op, RankedTensorType full,
                                 RankedTensorType piece, GroupAttr group,
                                 std::optional<int64_t> dim, int64_t keep) {
  int64_t members = group.getSize();
  if (full.getElementType() != piece.getElementType())
    return op->emitOpError("full side and piece differ in element type");
  if (dim) {
    if (*dim < 0 || *dim >= full.getRank())
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

LogicalResult MaskPaddingOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  int64_t dim = getDim().value_or(0);
  if (dim < 0 || dim >= type.getRank())
    return emitOpError("dim ") << dim << " is out of range for " << type;
  auto value = cast<RankedTensorType>(getValue().getType());
  if (value.getRank() != 0 || value.getElementType() != type.getElementType())
    return emitOpError("expected a value of type ")
           << RankedTensorType::get({}, type.getElementType()) << ", got "
           << value;
  // Of a flat piece, the last dimension holds the elements of a kept row.
  int64_t size = type.getDimSize(getDim().value_or(type.getRank() - 1));
  int64_t all = size * getGroup().getSize();
  int64_t elements = getElements();
  if (elements < 0 || elements > all)
    return emitOpError("expected 0 to ")
           << all << " elements in pieces of " << size << ", got " << elements;
  return success();
}

LogicalResult LocalSliceOp::verify() {
  return verifyPieces(*this, cast<RankedTensorType>(getOperand().getType()),
                      cast<RankedTensorType>(getType()), getGroup(), getDim(),
                      getKeep());
}
