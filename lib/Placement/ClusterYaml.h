//===- ClusterYaml.h - Checks shared by the forms of a cluster --*- C++ -*-===//

#ifndef AMSP_LIB_PLACEMENT_CLUSTERYAML_H
#define AMSP_LIB_PLACEMENT_CLUSTERYAML_H

#include "amsp/Placement/Cluster.h"

namespace amsp {

/// Fails if there are more ranks than any cluster has; `text` is for errors.
llvm::Error verifyWorld(const Cluster &cluster, llvm::StringRef text);

} // namespace amsp

#endif // AMSP_LIB_PLACEMENT_CLUSTERYAML_H
