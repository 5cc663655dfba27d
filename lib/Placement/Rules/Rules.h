//===- Rules.h - Placement rules of compute ops, by concern -*- C++ -*-//

#ifndef AMSP_LIB_PLACEMENT_RULES_H
#define AMSP_LIB_PLACEMENT_RULES_H

#include "amsp/Placement/PlacementOpInterface.h"
#include "amsp/Support/TensorType.h"

namespace amsp::rules {

void attachAttention(mlir::MLIRContext &context);
void attachElementwise(mlir::MLIRContext &context);
void attachCHLO(mlir::MLIRContext &context);
void attachShape(mlir::MLIRContext &context);
void attachContraction(mlir::MLIRContext &context);
void attachIndexing(mlir::MLIRContext &context);
void attachWindow(mlir::MLIRContext &context);

/// The first operand (with its number) whose placement satisfies the
/// predicate.
template <typename Predicate>
std::optional<unsigned> findPlacement(llvm::ArrayRef<Placement> placements,
                                      Predicate predicate) {
  for (auto [index, placement] : llvm::enumerate(placements))
    if (predicate(placement))
      return index;
  return std::nullopt;
}

/// For an op that is linear in each operand that may be partial: asks for all
/// operands in the first partial placement among them (a replicated operand
/// joins by being kept on one member of the group) and gives that. Sums over
/// different digits meet as one over all ranks.
std::optional<Placement>
joinPartialOperands(llvm::ArrayRef<Placement> operands);

/// Of an op that is linear in each of its two operands while the other one is
/// whole: keeps the partial sum of one, if the other is replicated.
Transfer transferBilinear(mlir::Operation *op,
                          llvm::ArrayRef<Placement> operands);

/// True if the region, of two arguments, is their sum.
bool isSum(mlir::Region &region);

} // namespace amsp::rules

#endif // AMSP_LIB_PLACEMENT_RULES_H
