//===- ClusterFile.h - A profile as a cluster file --------------*- C++ -*-===//

#ifndef AMSP_TOOLS_AMSP_PROFILE_CLUSTERFILE_H
#define AMSP_TOOLS_AMSP_PROFILE_CLUSTERFILE_H

#include "Measure.h"
#include "llvm/ADT/StringRef.h"

namespace amsp::profile {

struct ClusterDescription {
  std::string name;
  std::string transport;
  int64_t ranks = 0;
  double memory = 0; // bytes that a rank may use
};

/// Writes `path` (YAML) and, where collectives were measured, beside it their
/// table, with the extension csv: both whole or neither.
llvm::Error writeClusterFile(llvm::StringRef path,
                             const ClusterDescription &description,
                             const Profile &profile);

} // namespace amsp::profile

#endif // AMSP_TOOLS_AMSP_PROFILE_CLUSTERFILE_H
