//===- StatePairs.h - State arguments and their new values ------*- C++ -*-===//

#ifndef AMSP_LIB_DIALECT_AMSP_TRANSFORMS_STATEPAIRS_H
#define AMSP_LIB_DIALECT_AMSP_TRANSFORMS_STATEPAIRS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp {

/// An argument, and the result that is its new value.
using StatePair = std::pair<unsigned, unsigned>;

/// Finds the state of a step whose arguments alias no results: pairs of equal
/// type whose result depends on the argument. Steps return their state in the
/// order in which they take it, so of all sets of pairs in order the one is
/// taken that explains most: a result that is computed elementwise from the
/// argument (`w - rate * g`) counts three, any other dependence one. A float
/// scalar must be computed elementwise from its old value, and not weigh a sum
/// over data by it, as losses depend on scalars too. Names say nothing: the
/// weights of losses have the names of the losses. `isCandidate`: arguments
/// that may be state.
llvm::SmallVector<StatePair>
findStatePairs(mlir::func::FuncOp step,
               llvm::function_ref<bool(unsigned)> isCandidate);

/// The results that a float scalar which is in none of the pairs could have for
/// its new value, if it were state: of its type, in no pair, and in order with
/// the pairs.
llvm::SmallVector<unsigned> findPossibleResults(mlir::func::FuncOp step,
                                                llvm::ArrayRef<StatePair> pairs,
                                                unsigned argument);

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_TRANSFORMS_STATEPAIRS_H
