//===- OverlapSelection.h - Which collectives may be split ------*- C++ -*-===//

#ifndef AMSP_LIB_COMMUNICATION_OVERLAPSELECTION_H
#define AMSP_LIB_COMMUNICATION_OVERLAPSELECTION_H

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Placement/OverlapSet.h"
#include "amsp/Placement/UnitStrategies.h"
#include "llvm/ADT/DenseMap.h"

namespace amsp {

/// Tells the collectives of an OverlapSet apart, by their digits: a gather over
/// digits of P alone is of each use, and a reduction over digits of G alone of
/// each microbatch; what has others is once a step. In a program that does not
/// say its strategies all are of each use.
class OverlapSelection {
public:
  /// Fails, with a diagnostic, where the set tells collectives apart and the
  /// program's strategies are none, or a collective is for an argument that the
  /// step does not have.
  static mlir::FailureOr<OverlapSelection> create(mlir::func::FuncOp step,
                                                  const OverlapSet &set);

  bool includes(CollectiveOpInterface op) const;

private:
  explicit OverlapSelection(const OverlapSet &set) : set(set) {}
  /// That of the parameter or, of one packed of several, of their unit; null if
  /// it is for the sake of none.
  const Strategy *getStrategy(PartAttr part) const;
  bool isWithin(llvm::ArrayRef<Digit> digits,
                llvm::ArrayRef<int64_t> factors) const;

  OverlapSet set;
  llvm::SmallVector<int64_t> levels; // none: strategies are not known
  UnitStrategies strategies;
  llvm::DenseMap<mlir::StringAttr, unsigned> ofUnit; // strategies by unit
};

} // namespace amsp

#endif // AMSP_LIB_COMMUNICATION_OVERLAPSELECTION_H
