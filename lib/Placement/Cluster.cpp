//===- Cluster.cpp - The levels of a cluster ------------------------------===//

#include "amsp/Placement/Cluster.h"
#include "ClusterYaml.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
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

static Expected<int64_t> parseSize(StringRef number, StringRef text,
                                   StringRef form) {
  int64_t size;
  if (number.getAsInteger(10, size) || size < 1)
    return createStringError("cluster '" + text + "': '" + number +
                             "' is no positive number; expected the form " +
                             form);
  return size;
}

/// `4x2x2`
static Expected<Cluster> parseLevels(StringRef sizes, StringRef text) {
  Cluster cluster;
  for (StringRef number : split(sizes, 'x')) {
    Expected<int64_t> size = parseSize(number, text, "levels=8x4");
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
    Expected<int64_t> size = parseSize(number, text, "nodes=4,gpus=8");
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

static Expected<Cluster> parseClusterFile(StringRef name) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(name);
  if (!file)
    return createStringError("cluster file '" + name +
                             "': " + file.getError().message());
  return parseClusterYaml((*file)->getBuffer(), name);
}

/// The cluster of a file, in other sizes.
static Expected<Cluster> parseResized(StringRef file, StringRef sizes,
                                      StringRef text) {
  Expected<Cluster> cluster = parseClusterFile(file);
  if (!cluster)
    return cluster;
  Expected<Cluster> resized = parseLevels(sizes, text);
  if (!resized)
    return resized;
  if (resized->levels.size() != cluster->levels.size())
    return createStringError("levels=" + sizes + ": the cluster has " +
                             Twine(cluster->levels.size()) + " levels");
  for (auto [level, other] : zip_equal(cluster->levels, resized->levels))
    level.size = other.size;
  if (Error error = verifyWorld(*cluster, text))
    return error;
  return cluster;
}

Expected<Cluster> amsp::parseCluster(StringRef text) {
  auto isFile = [](StringRef name) {
    return !name.contains('=') || sys::fs::exists(name);
  };
  if (isFile(text))
    return parseClusterFile(text);
  auto [file, others] = text.rsplit(",levels=");
  if (!others.empty() && isFile(file))
    return parseResized(file, others, text);
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

/// Calls `visit` for each number that a planner needs and the cluster does not
/// give: its name, the level that misses it (none: the device), where it goes,
/// and what stands for it if it is assumed.
static void
forEachMissing(Cluster &cluster,
               function_ref<void(const Twine &, std::optional<size_t>,
                                 std::optional<double> &, double)>
                   visit) {
  // Of a rank within a node, and beyond it.
  static constexpr double kBandwidths[] = {240e9, 25e9};
  static constexpr double kLatencies[] = {5e-6, 2e-5};
  if (cluster.collectiveTables.empty())
    for (auto [index, level] : enumerate(cluster.levels)) {
      if (level.size == 1)
        continue;
      size_t kind = std::min<size_t>(index, 1);
      // The ranks inside a member share its bandwidth.
      int64_t ranks = 1;
      for (size_t i = 0; i < index; ++i)
        ranks *= cluster.levels[i].size;
      if (!level.bandwidth)
        visit("bandwidth of level '" + level.name + "'", index, level.bandwidth,
              kBandwidths[kind] * static_cast<double>(ranks));
      if (!level.latency)
        visit("latency of level '" + level.name + "'", index, level.latency,
              kLatencies[kind]);
    }
  if (!cluster.device)
    cluster.device.emplace();
  Device &device = *cluster.device;
  if (!device.memory)
    visit("device.memory", {}, device.memory, 80e9);
  if (!device.memoryBandwidth)
    visit("device.memory_bandwidth", {}, device.memoryBandwidth, 2.0e12);
  if (device.peakF64 || device.peakF32 || device.peakF16 || device.peakBF16)
    return;
  visit("device.peak", {}, device.peakF32, 19.5e12);
  device.peakF64 = 9.7e12;
  device.peakF16 = device.peakBF16 = 312e12;
}

std::string amsp::getErrorPrefix(const Cluster &cluster,
                                 std::optional<size_t> level) {
  const ClusterSource &source = cluster.source;
  if (source.file.empty())
    return "";
  std::optional<unsigned> line =
      level ? source.levelLines.at(*level) : source.deviceLine;
  return source.file + (line ? ":" + std::to_string(*line) : "") + ": ";
}

Error amsp::verifyForPlanning(const Cluster &cluster) {
  SmallVector<std::string> missing;
  std::string prefix;
  Cluster copy = cluster;
  forEachMissing(copy, [&](const Twine &name, std::optional<size_t> level,
                           std::optional<double> &, double) {
    if (missing.empty())
      prefix = getErrorPrefix(cluster, level);
    missing.push_back(name.str());
  });
  if (missing.empty())
    return Error::success();
  return createStringError(prefix + "cluster '" + cluster.name +
                           "' cannot be planned for: it does not give " +
                           join(missing, ", "));
}

Cluster amsp::assumeMissing(Cluster cluster,
                            SmallVectorImpl<std::string> &assumed) {
  forEachMissing(cluster, [&](const Twine &name, std::optional<size_t>,
                              std::optional<double> &number, double value) {
    number = value;
    assumed.push_back(name.str());
  });
  return cluster;
}
