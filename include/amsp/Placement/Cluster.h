//===- Cluster.h - The levels of a cluster ----------------------*- C++ -*-===//

#ifndef AMSP_PLACEMENT_CLUSTER_H
#define AMSP_PLACEMENT_CLUSTER_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace amsp {

/// One level: `size` members of the level below (ranks, at the innermost).
struct ClusterLevel {
  std::string name;
  int64_t size = 0;
  /// Bytes/s that one member sends to its siblings (and receives at the same
  /// time): a rank at the innermost level, all network cards of a node at the
  /// next. The ranks inside a member share it.
  std::optional<double> bandwidth;
  /// Seconds until a message between two members begins to arrive.
  std::optional<double> latency;
  /// Share of the transfer time that is added for each doubling of the members
  /// that take part.
  std::optional<double> congestion;
};

/// One point of a curve: contractions of so many operations run at that share
/// of the peak rate.
struct AchievedRate {
  double operations = 0;
  double share = 0;
};

/// The device of one rank.
struct Device {
  std::string name;
  std::optional<double> memory;          // bytes
  std::optional<double> memoryBandwidth; // bytes/s
  /// Peak rates of contractions in operations/s.
  std::optional<double> peakF64, peakF32, peakF16, peakBF16;
  /// Ascending in operations; may be empty.
  std::vector<AchievedRate> achieved;
  /// Shares of the peak rate at which fused attention runs.
  std::optional<double> attentionForward, attentionBackward;
};

/// Where a file says what.
struct ClusterSource {
  std::string file; // empty: no file
  std::vector<unsigned> levelLines;
  std::optional<unsigned> deviceLine;
};

struct Cluster {
  std::string name;
  llvm::SmallVector<ClusterLevel> levels; // innermost first
  std::optional<Device> device;
  /// Compute takes 1 + interference times as long while the device
  /// communicates.
  double interference = 0;
  /// The standard deviation of compute time between nodes, as a share of it.
  double spread = 0;
  /// Seconds that each further tensor of a collective takes a rank.
  std::optional<double> tensorOverhead;
  /// Files of measured collectives, as paths from the working directory; where
  /// two speak, the earlier one wins.
  std::vector<std::string> collectiveTables;
  ClusterSource source;

  llvm::SmallVector<int64_t> getSizes() const;
  int64_t getWorldSize() const;
};

/// Reads `nodes=2,gpus=4`, `levels=4x2`, a YAML file, or one in other sizes,
/// `FILE,levels=8x4` (see docs/formats.md). What is the name of a file that
/// exists is one. Errors name the file and line.
llvm::Expected<Cluster> parseCluster(llvm::StringRef text);

/// Reads the content of a YAML file; `name` is for errors, and tables are found
/// relative to its directory.
llvm::Expected<Cluster> parseClusterYaml(llvm::StringRef content,
                                         llvm::StringRef name);

/// `FILE:LINE: ` of a level or, without an index, of the device, before an
/// error; without a line, only the file's; nothing without a file.
std::string getErrorPrefix(const Cluster &cluster, std::optional<size_t> level);

/// Fails unless the cluster says all that a planner needs; lists what is
/// missing, with the line where the first of it belongs.
llvm::Error verifyForPlanning(const Cluster &cluster);

/// The cluster with what a planner needs and the file does not give: links and
/// device of a node of A100 with 80 GB, and 200 Gb/s of network for each. What
/// was assumed is added to `assumed`.
Cluster assumeMissing(Cluster cluster,
                      llvm::SmallVectorImpl<std::string> &assumed);

} // namespace amsp

#endif // AMSP_PLACEMENT_CLUSTER_H
