//===- Decomposition.h - A collective as several, by level ------*- C++ -*-===//
//
// A collective over several levels of a cluster may be faster as a sequence of
// collectives over fewer: the slow links carry what the fast ones have reduced.
// The order of a group's digits makes this free of copies. A piece's index has
// the first digit most significant, so that a reduce_scatter over [a, b] is one
// over a, whose pieces are then cut over b; a gather goes the other way round.
// An all_reduce has no pieces, and so no order: it may reduce_scatter over some
// digits, all_reduce over the others, and gather.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_PLANNER_DECOMPOSITION_H
#define AMSP_PLANNER_DECOMPOSITION_H

#include "amsp/Placement/Digits.h"
#include "amsp/Planner/CollectiveModel.h"

namespace amsp {

struct CollectiveStage {
  CollectiveKind kind;
  llvm::SmallVector<Digit> digits;

  bool operator==(const CollectiveStage &other) const {
    return kind == other.kind && digits == other.digits;
  }
};

/// Collectives that together do what one does, in the order in which they run.
struct Decomposition {
  llvm::SmallVector<CollectiveStage> stages;
  double seconds = 0;
  /// Bytes of the full side of each stage.
  llvm::SmallVector<double> stageBytes;
};

/// The fastest decomposition of a collective under the model, and at least 1 %
/// faster than any with fewer stages; the collective itself is one of them. The
/// full side has `elements` of `width` bytes; that of an all_gather or
/// reduce_scatter includes its padding, and an all_reduce is padded to the
/// pieces it is scattered in.
Decomposition decompose(CollectiveKind kind, llvm::ArrayRef<Digit> digits,
                        int64_t elements, int64_t width,
                        const CollectiveModel &model);

} // namespace amsp

#endif // AMSP_PLANNER_DECOMPOSITION_H
