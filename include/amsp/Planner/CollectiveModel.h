//===- CollectiveModel.h - Time of collectives on a cluster -----*- C++ -*-===//

#ifndef AMSP_PLANNER_COLLECTIVEMODEL_H
#define AMSP_PLANNER_COLLECTIVEMODEL_H

#include "amsp/Placement/Cluster.h"
#include "amsp/Planner/CollectiveTable.h"

namespace amsp {

/// The members of a group on each level, innermost first: a group of 4 ranks in
/// each of 2 nodes is {4, 2}.
using GroupShape = llvm::SmallVector<int64_t, 4>;

/// The shape of a group given as digits, which may each span several levels.
GroupShape getGroupShape(llvm::ArrayRef<Digit> digits,
                         llvm::ArrayRef<int64_t> levels);

/// Seconds of a collective, by kind, bytes of the full buffer, and group.
///
/// All ranks run one program, so the sibling groups of a group (those of the
/// other ranks in the members of its outermost level) run the same collective
/// at the same time and share the members' links: k of them move k times the
/// bytes. Two sources of times:
///
/// - measured tables: k sibling groups take as long as one group that fills the
///   inner levels takes for k times the bytes;
/// - else a ring over the whole group: runtime::getRingSeconds. broadcast
/// passes
///   the bytes on, in parts, along the same ring.
class CollectiveModel {
public:
  /// Reads the cluster's tables. The cluster must be complete (see
  /// verifyForPlanning), also for broadcasts if there are any.
  static llvm::Expected<CollectiveModel> create(const Cluster &cluster,
                                                bool broadcasts = false);
  CollectiveModel(const Cluster &cluster, const CollectiveTable &table);

  /// Zero for a group of one rank.
  double getSeconds(TransferKind kind, double bytes,
                    llvm::ArrayRef<int64_t> group) const;
  double getSeconds(CollectiveKind kind, double bytes,
                    llvm::ArrayRef<int64_t> group) const {
    return getSeconds(getTransferKind(kind), bytes, group);
  }

  /// For each level, the share of the time of such a collective in which it
  /// keeps the level's links busy: all of it on the outermost level of the
  /// group, on those below what their bandwidth says, none where the group has
  /// no members. Collectives that run at the same time share links by it.
  llvm::SmallVector<double, 4> getLoads(TransferKind kind, double bytes,
                                        llvm::ArrayRef<int64_t> group) const;

  llvm::ArrayRef<ClusterLevel> getLevels() const { return levels; }
  /// Seconds of each tensor of a collective but the first, beside its bytes.
  double getTensorOverhead() const { return tensorOverhead; }

private:
  double getMeasured(const CollectiveCurve &curve, TransferKind kind,
                     double bytes, llvm::ArrayRef<int64_t> group,
                     size_t outermost) const;
  double getModelled(TransferKind kind, double bytes,
                     llvm::ArrayRef<int64_t> group) const;
  /// Seconds for which the links of a level carry a byte's share of a
  /// collective, sibling groups and congestion included.
  double getLinkSeconds(size_t level, llvm::ArrayRef<int64_t> group) const;

  llvm::SmallVector<ClusterLevel> levels;
  double tensorOverhead;
  /// For each kind and level, by members: the curve of groups that fill the
  /// levels below. Empty where the tables do not speak.
  std::array<std::vector<std::map<int64_t, CollectiveCurve>>, kNumTransferKinds>
      curves;
};

} // namespace amsp

#endif // AMSP_PLANNER_COLLECTIVEMODEL_H
