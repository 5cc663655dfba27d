//===- CollectiveModel.cpp - Time of collectives on a cluster -------------===//

#include "amsp/Planner/CollectiveModel.h"
#include "amsp/Runtime/RingModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <numeric>

using namespace llvm;
using namespace amsp;

GroupShape amsp::getGroupShape(ArrayRef<Digit> digits,
                               ArrayRef<int64_t> levels) {
  GroupShape shape(levels.size(), 1);
  runtime::addMembersByLevel(digits, levels, shape);
  return shape;
}

Expected<CollectiveModel> CollectiveModel::create(const Cluster &cluster,
                                                  bool broadcasts) {
  CollectiveTable table;
  for (const std::string &path : cluster.collectiveTables) {
    auto file = MemoryBuffer::getFile(path);
    if (!file)
      return createStringError("table '" + path + "' of cluster '" +
                               cluster.name +
                               "': " + file.getError().message());
    if (Error error = table.addCsv((*file)->getBuffer(), path))
      return error;
  }
  for (TransferKind kind :
       {TransferKind::AllGather, TransferKind::ReduceScatter,
        TransferKind::AllReduce, TransferKind::Broadcast}) {
    if (table.hasMeasurements(kind) ||
        (kind == TransferKind::Broadcast && !broadcasts))
      continue;
    for (auto [index, level] : enumerate(cluster.levels))
      if (level.size > 1 && !(level.bandwidth && level.latency))
        return createStringError(
            getErrorPrefix(cluster, index) + "cluster '" + cluster.name +
            "' cannot be planned for: no table " + "measures " +
            stringifyTransferKind(kind) + ", and level '" + level.name +
            "' has no bandwidth or no latency");
  }
  return CollectiveModel(cluster, table);
}

CollectiveModel::CollectiveModel(const Cluster &cluster,
                                 const CollectiveTable &table)
    : levels(cluster.levels),
      tensorOverhead(cluster.tensorOverhead.value_or(0)) {
  for (auto [index, of] : enumerate(curves)) {
    auto kind = static_cast<TransferKind>(index);
    of.resize(levels.size());
    // Tables without it: as a reduction, which sends each peer its piece, too.
    if (kind == TransferKind::AllToAll && !table.hasMeasurements(kind))
      kind = TransferKind::ReduceScatter;
    if (!table.hasMeasurements(kind))
      continue;
    int64_t below = 1;
    for (auto [level, byMembers] : zip(levels, of)) {
      for (int64_t members = 2; members <= level.size; ++members)
        if (level.size % members == 0)
          byMembers[members] = table.getCurve(kind, below * members);
      below *= level.size;
    }
  }
}

static double toDouble(int64_t number) { return static_cast<double>(number); }

static int64_t getRanks(ArrayRef<int64_t> group) {
  return std::accumulate(group.begin(), group.end(), int64_t(1),
                         std::multiplies<>());
}

double CollectiveModel::getSeconds(TransferKind kind, double bytes,
                                   ArrayRef<int64_t> group) const {
  assert(group.size() == levels.size() && "one number of members per level");
  size_t outermost = levels.size();
  while (outermost > 0 && group[outermost - 1] == 1)
    --outermost;
  if (outermost == 0)
    return 0;
  --outermost;
  const auto &byMembers = curves[static_cast<size_t>(kind)][outermost];
  auto curve = byMembers.find(group[outermost]);
  if (curve != byMembers.end())
    return getMeasured(curve->second, kind, bytes, group, outermost);
  return getModelled(kind, bytes, group);
}

double CollectiveModel::getMeasured(const CollectiveCurve &curve,
                                    TransferKind kind, double bytes,
                                    ArrayRef<int64_t> group,
                                    size_t outermost) const {
  int64_t siblings = 1, filled = group[outermost];
  for (size_t level = 0; level < outermost; ++level) {
    siblings *= levels[level].size / group[level];
    filled *= levels[level].size;
  }
  double share =
      getBusFactor(kind, getRanks(group)) / getBusFactor(kind, filled);
  return curve.getSeconds(bytes * toDouble(siblings) * share);
}

double CollectiveModel::getModelled(TransferKind kind, double bytes,
                                    ArrayRef<int64_t> group) const {
  SmallVector<runtime::LinkLevel, 4> links;
  for (const ClusterLevel &level : levels)
    links.push_back({level.size, level.bandwidth.value_or(0),
                     level.latency.value_or(0), level.congestion.value_or(0)});
  // Every link carries all bytes of a broadcast.
  int64_t ranks = getRanks(group);
  if (kind == TransferKind::Broadcast && ranks > 1)
    bytes /= getBusFactor(TransferKind::AllGather, ranks);
  auto traffic = kind == TransferKind::AllReduce  ? runtime::Traffic::TwoPasses
                 : kind == TransferKind::AllToAll ? runtime::Traffic::Exchange
                                                  : runtime::Traffic::OnePass;
  return runtime::getRingSeconds(traffic, bytes, group, links);
}

double CollectiveModel::getLinkSeconds(size_t index,
                                       ArrayRef<int64_t> group) const {
  const ClusterLevel &level = levels[index];
  double siblings = 1;
  for (size_t below = 0; below < index; ++below)
    siblings *= toDouble(levels[below].size) / toDouble(group[below]);
  double doublings = std::log2(toDouble(group[index]));
  double congestion = 1 + level.congestion.value_or(0) * doublings;
  return siblings * congestion / *level.bandwidth;
}

SmallVector<double, 4>
CollectiveModel::getLoads(TransferKind kind, double bytes,
                          ArrayRef<int64_t> group) const {
  SmallVector<double, 4> loads(levels.size());
  double seconds = getSeconds(kind, bytes, group);
  double moved = bytes * getBusFactor(kind, getRanks(group));
  bool isOutermost = true;
  for (size_t index = levels.size(); index-- > 0;) {
    if (group[index] == 1)
      continue;
    bool isKnown = levels[index].bandwidth.has_value() && seconds > 0;
    loads[index] =
        isOutermost || !isKnown
            ? 1
            : std::min(1.0, moved * getLinkSeconds(index, group) / seconds);
    isOutermost = false;
  }
  return loads;
}
