//===- Cluster.cpp - The levels of a cluster ------------------------------===//

#include "amsp/Placement/Cluster.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/YAMLTraits.h"

using namespace llvm;
using namespace amsp;

LLVM_YAML_IS_SEQUENCE_VECTOR(amsp::ClusterLevel)

namespace llvm::yaml {
template <> struct MappingTraits<ClusterLevel> {
  static void mapping(IO &io, ClusterLevel &level) {
    io.mapOptional("name", level.name);
    io.mapRequired("size", level.size);
  }
  static std::string validate(IO &, ClusterLevel &level) {
    return level.size < 1 ? "the size of a level must be positive" : "";
  }
};

template <> struct MappingTraits<Cluster> {
  static void mapping(IO &io, Cluster &cluster) {
    io.mapRequired("levels", cluster.levels);
  }
};
} // namespace llvm::yaml

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

/// Worlds larger than this are typing errors.
static constexpr int64_t kMaxWorld = int64_t(1) << 24;

static Expected<Cluster> checkWorld(Cluster cluster, StringRef text) {
  int64_t world = 1;
  for (const ClusterLevel &level : cluster.levels)
    if (MulOverflow(world, level.size, world) || world > kMaxWorld)
      return createStringError("cluster '" + text + "' has more than " +
                               Twine(kMaxWorld) + " ranks");
  return cluster;
}

Expected<Cluster> amsp::parseClusterYaml(StringRef content, StringRef name) {
  std::string message;
  auto keepFirst = [](const SMDiagnostic &diagnostic, void *context) {
    auto &message = *static_cast<std::string *>(context);
    if (message.empty())
      message = (diagnostic.getFilename() + ":" +
                 Twine(diagnostic.getLineNo()) + ": " + diagnostic.getMessage())
                    .str();
  };
  yaml::Input input(MemoryBufferRef(content, name), nullptr, keepFirst,
                    &message);
  Cluster cluster;
  input >> cluster;
  if (input.error())
    return createStringError(message.empty() ? name + ": no cluster" : message);
  if (cluster.levels.empty())
    return createStringError(name + ": no levels");
  return checkWorld(std::move(cluster), name);
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
    cluster.levels.push_back({name, *size});
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
  if (gpus != 0)
    cluster.levels.push_back({"gpu", gpus});
  if (nodes != 0)
    cluster.levels.push_back({"node", nodes});
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
  return checkWorld(std::move(*cluster), text);
}
