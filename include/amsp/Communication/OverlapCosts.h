//===- OverlapCosts.h - Times that decide what overlaps ---------*- C++ -*-===//

#ifndef AMSP_COMMUNICATION_OVERLAPCOSTS_H
#define AMSP_COMMUNICATION_OVERLAPCOSTS_H

#include "amsp/Dialect/AMSP/IR/AMSPOps.h"
#include "amsp/Placement/Cluster.h"
#include "amsp/Planner/CollectiveModel.h"

namespace amsp {

/// Times of ops and collectives on a cluster; if that does not tell its links
/// and its device, on a nominal one, whose times are in proportion to bytes.
class OverlapCosts {
public:
  /// `cluster` as parseCluster takes it; empty: none.
  static llvm::Expected<OverlapCosts> create(llvm::StringRef cluster);

  bool isOfCluster() const { return model.has_value(); }

  /// Seconds of one run of an op, all that is in it included.
  double getSeconds(mlir::Operation &op) const;
  double getSeconds(CollectiveOpInterface op) const;
  /// Bytes of the full sides, padding included, as the manifest counts them.
  int64_t getBytes(CollectiveOpInterface op) const;

private:
  OverlapCosts();
  void setDevice(const Device &given);

  Device device;
  std::optional<CollectiveModel> model;
};

} // namespace amsp

#endif // AMSP_COMMUNICATION_OVERLAPCOSTS_H
