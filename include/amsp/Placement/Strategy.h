//===- Strategy.h - Factors of P, G and OS ----------------------*- C++ -*-===//
//
// A strategy gives each model state one factor per level of the cluster,
// innermost level first. Factor 1 is a replica, the level's size is full
// sharding, anything between is partial sharding.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_PLACEMENT_STRATEGY_H
#define AMSP_PLACEMENT_STRATEGY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace amsp {

struct Strategy {
  /// Factors of parameters, gradients and optimizer states, one per level.
  /// Per level `p | g | os | size`.
  llvm::SmallVector<int64_t> p, g, os;

  bool operator==(const Strategy &other) const {
    return p == other.p && g == other.g && os == other.os;
  }
  bool operator!=(const Strategy &other) const { return !(*this == other); }
};

/// Reads a preset (`ddp`, `zero1`, `zero2`, `zero3`, `mics:S`, `hpz:S`) or
/// `p=F,g=F,os=F` for a cluster with these level sizes (innermost first), and
/// checks it. See docs/formats.md.
llvm::Expected<Strategy> parseStrategy(llvm::StringRef text,
                                       llvm::ArrayRef<int64_t> levels);

/// Fails unless `p | g | os | size` on every level; names the level and
/// numbers.
llvm::Error verifyStrategy(const Strategy &strategy,
                           llvm::ArrayRef<int64_t> levels);

/// `2x1`
std::string formatFactors(llvm::ArrayRef<int64_t> factors);

} // namespace amsp

#endif // AMSP_PLACEMENT_STRATEGY_H
