//===- Cluster.h - The levels of a cluster ----------------------*- C++ -*-===//

#ifndef AMSP_PLACEMENT_CLUSTER_H
#define AMSP_PLACEMENT_CLUSTER_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace amsp {

/// One level: `size` members of the level below (ranks, at the innermost).
struct ClusterLevel {
  std::string name;
  int64_t size = 0;
};

struct Cluster {
  llvm::SmallVector<ClusterLevel> levels; // innermost first

  llvm::SmallVector<int64_t> getSizes() const;
  int64_t getWorldSize() const;
};

/// Reads `nodes=2,gpus=4`, `levels=4x2x2`, or the YAML file of that name (see
/// docs/formats.md). Errors name the file and line.
llvm::Expected<Cluster> parseCluster(llvm::StringRef text);

/// Reads the content of a YAML file; `name` is for errors.
llvm::Expected<Cluster> parseClusterYaml(llvm::StringRef content,
                                         llvm::StringRef name);

} // namespace amsp

#endif // AMSP_PLACEMENT_CLUSTER_H
