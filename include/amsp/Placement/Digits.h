//===- Digits.h - Arithmetic on lists of digits -----------------*- C++ -*-===//

#ifndef AMSP_PLACEMENT_DIGITS_H
#define AMSP_PLACEMENT_DIGITS_H

#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include <optional>

namespace amsp {

/// The digits, each cut where the levels' sizes (innermost first) end; of such
/// a digit the outermost part is the most significant, so that the index of a
/// rank stays what it is. Digits of size 1 are left out.
llvm::SmallVector<Digit> splitAtLevels(llvm::ArrayRef<Digit> digits,
                                       llvm::ArrayRef<int64_t> levels);

/// The digits as above, those of one level next to each other in a list.
llvm::SmallVector<llvm::SmallVector<Digit>>
cutByLevel(llvm::ArrayRef<Digit> digits, llvm::ArrayRef<int64_t> levels);

/// The same members as a list in rank order, digits that continue each other
/// joined: one list for each set of ranks, where the order has no meaning.
llvm::SmallVector<Digit> sortByRank(llvm::ArrayRef<Digit> digits);

/// What is left of a group, in rank order, when the members are told apart by
/// `removed`; none if `removed` is no part of it.
std::optional<llvm::SmallVector<Digit>>
removeDigits(llvm::ArrayRef<Digit> digits, llvm::ArrayRef<Digit> removed);

} // namespace amsp

#endif // AMSP_PLACEMENT_DIGITS_H
