//===- LinkModel.h - Links slowed to a stated speed -------------*- C++ -*-===//
//
// For tests and benchmarks of overlap: the threads of one process imitate
// ranks of a cluster.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_RUNTIME_LINKMODEL_H
#define AMSP_RUNTIME_LINKMODEL_H

#include "amsp-c/Step.h"
#include "amsp/Runtime/RingModel.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amsp::runtime {

/// With it, a collective ends no earlier than getRingSeconds after its last
/// member began it. The two channels do not slow each other, unless they share
/// the links: then a rank's collectives take the links one after the other, in
/// the order in which they begin.
struct LinkModel {
  std::vector<LinkLevel> levels; // innermost first
  bool isShared = false;

  /// Of the padded full buffers; 0 for a group of one.
  double seconds(const amsp_collective &collective) const;

  /// Parses `bandwidth=B,latency=L[;bandwidth=B,latency=L...][;shared]`, in
  /// bytes/s (1 to 1e15) and seconds (0 to 60), one item for each level of
  /// `sizes` or one for all. Sets `error` where the text is something else.
  static std::optional<LinkModel> parse(std::string_view text,
                                        const std::vector<int64_t> &sizes,
                                        std::string &error);
};

/// Bytes of the full buffers of all operands, padding included.
int64_t paddedBytes(const amsp_collective &collective);

} // namespace amsp::runtime

#endif // AMSP_RUNTIME_LINKMODEL_H
