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
    return os << "split(" << placement.dim << ")";
  case Placement::Partial:
    os << "partial(" << stringifyReduction(placement.reduction) << ", ";
    if (placement.over == PartialOver::Batch)
      return os << "batch)";
    os << "states";
    printStrategy();
    return os << ")";
  case Placement::Flat:
    os << "flat(" << states[static_cast<int>(placement.state)];
    printStrategy();
    return os << ")";
  case Placement::PartialFlat:
    os << "flat(g";
    printStrategy();
    return os << ") and partial(sum)";
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
    shape[placement.dim] /= grid.getWorldSize();
    break;
  case Placement::Flat:
  case Placement::PartialFlat:
    // Over no digits, flat is replicated, and keeps its shape.
    if (grid.getPieces(ModelState::OS) == 1)
      break;
    shape = {grid.getPieceElements(global.getNumElements(), placement.state)};
    break;
  }
  return RankedTensorType::get(shape, global.getElementType());
}
