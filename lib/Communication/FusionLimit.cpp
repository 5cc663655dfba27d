//===- FusionLimit.cpp - How much one collective should move --------------===//

#include "amsp/Communication/FusionLimit.h"

using namespace llvm;
using namespace amsp;

/// The model does not know what each collective costs beside its latency.
static constexpr int64_t kLeastBytes = 1 << 20;

int64_t amsp::getSaturatingBytes(CollectiveKind kind, ArrayRef<Digit> digits,
                                 const CollectiveModel &model, double loss) {
  auto levels = map_to_vector(
      model.getLevels(), [](const ClusterLevel &level) { return level.size; });
  GroupShape group = getGroupShape(digits, levels);
  auto secondsPerByte = [&](int64_t bytes) {
    auto number = static_cast<double>(bytes);
    return model.getSeconds(kind, number, group) / number;
  };
  int64_t largest = int64_t(1) << 40, bytes = largest;
  while (bytes > kLeastBytes &&
         secondsPerByte(bytes / 2) <= (1 + loss) * secondsPerByte(largest))
    bytes /= 2;
  return bytes;
}

Expected<FusionLimit> FusionLimit::create(StringRef cluster, int64_t maxBytes) {
  FusionLimit limit(maxBytes);
  if (cluster.empty())
    return limit;
  Expected<Cluster> parsed = parseCluster(cluster);
  if (!parsed)
    return parsed.takeError();
  Expected<CollectiveModel> model = CollectiveModel::create(*parsed);
  if (!model)
    return model.takeError();
  limit.model = std::move(*model);
  if (parsed->tensorOverhead && parsed->device &&
      parsed->device->memoryBandwidth)
    // Read and written.
    limit.overheadBytes =
        *parsed->tensorOverhead * *parsed->device->memoryBandwidth / 2;
  return limit;
}

int64_t FusionLimit::getBytes(CollectiveKind kind, GroupAttr group, double loss,
                              llvm::DenseMap<Key, int64_t> &known) {
  auto [entry, isNew] = known.try_emplace({static_cast<unsigned>(kind), group});
  if (isNew)
    entry->second = getSaturatingBytes(kind, group.getDigits(), *model, loss);
  return entry->second;
}

int64_t FusionLimit::getBytes(CollectiveKind kind, GroupAttr group) {
  if (!model)
    return maxBytes;
  return std::min(maxBytes, getBytes(kind, group, 0.01, knownWithin));
}

int64_t FusionLimit::getPackBytes(CollectiveKind kind, GroupAttr group) const {
  // The full side is copied on one end, and a piece of it on the other.
  double pieces = kind == CollectiveKind::AllReduce
                      ? 1
                      : static_cast<double>(group.getSize());
  return static_cast<int64_t>(overheadBytes / (1 + 1 / pieces));
}

int64_t FusionLimit::getEndBytes(CollectiveKind kind, GroupAttr group,
                                 int64_t unitBytes) {
  int64_t least = model ? getBytes(kind, group, 0.1, knownAtEnds) : kLeastBytes;
  return std::min(getBytes(kind, group), std::max(unitBytes / 4, least));
}
