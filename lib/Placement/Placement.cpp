//===- Placement.cpp - How local values relate to global ones -------------===//

#include "amsp/Placement/Placement.h"

using namespace mlir;
using namespace amsp;

llvm::raw_ostream &amsp::operator<<(llvm::raw_ostream &os,
                                    const Placement &placement) {
  static constexpr StringLiteral states[] = {"p", "g", "os"};
  auto printStrategy = [&] {
    if (placement.strategy != 0)
      os << " of strategy " << placement.strategy;
  };
  switch (placement.kind) {
  case Placement::Replicated:
    return os << "replicated";
  case Placement::Split:
    os << "split(" << placement.dim;
    if (placement.rows != 0)
      os << ", rows=" << placement.rows;
    return os << ")";
  case Placement::Partial:
    os << "partial(" << stringifyReduction(placement.reduction) << ", ";
    if (placement.over == PartialOver::Batch)
      return os << "batch)";
    os << "states";
    printStrategy();
    return os << ")";
  case Placement::Flat:
  case Placement::PartialFlat:
    os << "flat(" << states[static_cast<int>(placement.state)];
    if (placement.keep != 0)
      os << ", keep=" << placement.keep;
    printStrategy();
    return os << (placement.isFlat() ? ")" : ") and partial(sum)");
  }
  llvm_unreachable("unknown placement");
}

RankedTensorType amsp::getLocalType(RankedTensorType global,
                                    const Placement &placement,
                                    ArrayRef<Grid> grids) {
  SmallVector<int64_t> shape(global.getShape());
  const Grid &grid = grids[placement.strategy];
  switch (placement.kind) {
  case Placement::Replicated:
  case Placement::Partial:
    break;
  case Placement::Split:
    shape[placement.dim] =
        getPaddedSize(global, placement, grid.getWorldSize()) /
        grid.getWorldSize();
    break;
  case Placement::Flat:
  case Placement::PartialFlat:
    // Over no digits, flat is replicated, and keeps its shape.
    if (grid.getPieces(ModelState::OS) == 1)
      break;
    shape.truncate(placement.keep);
    shape.push_back(grid.getPieceElements(getRowElements(global, placement),
                                          placement.state));
    break;
  }
  return RankedTensorType::get(shape, global.getElementType());
}

int64_t amsp::getPaddedSize(RankedTensorType global, const Placement &placement,
                            int64_t ranks) {
  int64_t size = global.getDimSize(placement.dim);
  if (!placement.hasPaddedRows())
    return size;
  return llvm::alignTo(placement.rows, ranks) * (size / placement.rows);
}

int64_t amsp::getRowElements(RankedTensorType global,
                             const Placement &placement) {
  return ShapedType::getNumElements(
      global.getShape().drop_front(placement.keep));
}

std::optional<int64_t> amsp::mapKeep(RankedTensorType from, RankedTensorType to,
                                     int64_t keep) {
  int64_t rows = ShapedType::getNumElements(from.getShape().take_front(keep));
  int64_t mapped = 0, product = 1;
  while (product != rows && mapped < to.getRank())
    product *= to.getDimSize(mapped++);
  if (product != rows)
    return std::nullopt;
  return mapped;
}
