//===- FusionLimit.h - How much one collective should move ------*- C++ -*-===//

#ifndef AMSP_COMMUNICATION_FUSIONLIMIT_H
#define AMSP_COMMUNICATION_FUSIONLIMIT_H

#include "amsp/Planner/CollectiveModel.h"
#include "llvm/ADT/StringRef.h"

namespace amsp {

/// Bytes from which a collective gains nothing from growing: the smallest power
/// of two, 1 MiB or more, that the model moves within a share `loss` of the
/// rate of 1 TiB. What is larger only makes its users wait longer for its first
/// tensor.
int64_t getSaturatingBytes(CollectiveKind kind, llvm::ArrayRef<Digit> digits,
                           const CollectiveModel &model, double loss = 0.01);

/// The bytes that a fused collective may have on its full side.
class FusionLimit {
public:
  /// At most `maxBytes`; of a cluster, as `--cluster` names it, no more than
  /// saturate its links. An empty name stands for no cluster.
  static llvm::Expected<FusionLimit> create(llvm::StringRef cluster,
                                            int64_t maxBytes);

  int64_t getBytes(CollectiveKind kind, GroupAttr group);

  /// Bytes of the full side up to which a tensor is copied into a buffer with
  /// others in less time than it takes as a tensor of its own. 0 where the
  /// cluster gives no tensor_overhead or no memory bandwidth.
  int64_t getPackBytes(CollectiveKind kind, GroupAttr group) const;

  /// Where nothing hides a unit of so many bytes: about a quarter of it, so
  /// that most is hidden by the unit's own computation. 1 MiB at least, and
  /// enough for the links' rate within 10 %.
  int64_t getEndBytes(CollectiveKind kind, GroupAttr group, int64_t unitBytes);

private:
  explicit FusionLimit(int64_t maxBytes) : maxBytes(maxBytes) {}

  using Key = std::pair<unsigned, GroupAttr>;
  int64_t getBytes(CollectiveKind kind, GroupAttr group, double loss,
                   llvm::DenseMap<Key, int64_t> &known);

  int64_t maxBytes;
  std::optional<CollectiveModel> model;
  /// Bytes that a rank copies in the time of a tensor.
  double overheadBytes = 0;
  llvm::DenseMap<Key, int64_t> knownWithin, knownAtEnds;
};

} // namespace amsp

#endif // AMSP_COMMUNICATION_FUSIONLIMIT_H
