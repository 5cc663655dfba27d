//===- GroupCheck.h - Groups that partition the world -----------*- C++ -*-===//

#ifndef AMSP_COMMUNICATION_GROUPCHECK_H
#define AMSP_COMMUNICATION_GROUPCHECK_H

#include "amsp/Dialect/AMSP/IR/AMSPAttributes.h"
#include <string>

namespace amsp {

/// Empty if the digits cut a world of these levels (innermost first) into
/// groups of equal size whose bounds follow the levels; else what is wrong.
/// Digits must not overlap, and must end within the world; where a digit begins
/// and where it ends, it must divide the end of each level or be a multiple of
/// it.
std::string checkGroup(llvm::ArrayRef<Digit> digits,
                       llvm::ArrayRef<int64_t> levels);

} // namespace amsp

#endif // AMSP_COMMUNICATION_GROUPCHECK_H
