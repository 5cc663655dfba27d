//===- Cluster.cpp - The levels of a cluster ------------------------------===//

#include "amsp/Placement/Cluster.h"
#include "ClusterYaml.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace amsp;

SmallVector<int64_t> Cluster::getSizes() const {
  return map_to_vector(levels,
                       [](const ClusterLevel &level) { return level.size; });
}

int64_t Cluster::getWorldSize() const {
  int64_t world = 1;
  for (const ClusterLevel &level : levels)
    world *= level.size;
  return world;
}

static Expected<int64_t> parseSize(StringRef number, StringRef text) {
  int64_t size;
  if (number.getAsInteger(10, size) || size < 1)
    return createStringError("cluster '" + text + "': '" + number +
                             "' is no positive number");
  return size;
}

/// `4x2x2`
static Expected<Cluster> parseLevels(StringRef sizes, StringRef text) {
  Cluster cluster;
  for (StringRef number : split(sizes, 'x')) {
    Expected<int64_t> size = parseSize(number, text);
    if (!size)
      return size.takeError();
    std::string name = ("level" + Twine(cluster.levels.size())).str();
    ClusterLevel &level = cluster.levels.emplace_back();
    level.name = std::move(name);
    level.size = *size;
  }
  return cluster;
}

/// `nodes=2,gpus=4`
static Expected<Cluster> parseNodes(StringRef text) {
  int64_t nodes = 0, gpus = 0;
  for (StringRef item : split(text, ',')) {
    auto [key, number] = item.split('=');
    int64_t *level = StringSwitch<int64_t *>(key)
                         .Case("nodes", &nodes)
                         .Case("gpus", &gpus)
                         .Default(nullptr);
    if (!level)
      return createStringError("cluster '" + text + "': unknown key '" + key +
                               "', expected nodes, gpus or levels");
    if (*level != 0)
      return createStringError("cluster '" + text + "': '" + key + "' twice");
    Expected<int64_t> size = parseSize(number, text);
    if (!size)
      return size.takeError();
    *level = *size;
  }
  Cluster cluster;
  auto addLevel = [&](StringRef name, int64_t size) {
    if (size == 0)
      return;
    ClusterLevel &level = cluster.levels.emplace_back();
    level.name = name;
    level.size = size;
  };
  addLevel("gpu", gpus);
  addLevel("node", nodes);
  return cluster;
}

Expected<Cluster> amsp::parseCluster(StringRef text) {
  if (!text.contains('=')) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(text);
    if (!file)
      return createStringError("cluster file '" + text +
                               "': " + file.getError().message());
    return parseClusterYaml((*file)->getBuffer(), text);
  }
  StringRef sizes = text;
  Expected<Cluster> cluster = sizes.consume_front("levels=")
                                  ? parseLevels(sizes, text)
                                  : parseNodes(text);
  if (!cluster)
    return cluster.takeError();
  cluster->name = text;
  if (Error error = verifyWorld(*cluster, text))
    return error;
  return cluster;
}

Error amsp::verifyForPlanning(const Cluster &cluster) {
  SmallVector<std::string> missing;
  if (cluster.collectiveTables.empty())
    for (const ClusterLevel &level : cluster.levels) {
      if (level.size == 1)
        continue;
      if (!level.bandwidth)
        missing.push_back("bandwidth of level '" + level.name + "'");
      if (!level.latency)
        missing.push_back("latency of level '" + level.name + "'");
    }
  Device device = cluster.device.value_or(Device());
  if (!device.memory)
    missing.push_back("device.memory");
  if (!device.memoryBandwidth)
    missing.push_back("device.memory_bandwidth");
  if (!device.peakF64 && !device.peakF32 && !device.peakF16 && !device.peakBF16)
    missing.push_back("device.peak");
  if (missing.empty())
    return Error::success();
  return createStringError("cluster '" + cluster.name +
                           "' cannot be planned for: it does not give " +
                           join(missing, ", "));
}
