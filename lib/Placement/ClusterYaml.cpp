//===- ClusterYaml.cpp - Cluster files ------------------------------------===//

#include "ClusterYaml.h"
#include "amsp/Placement/AchievedCurve.h"
#include "amsp/Support/YamlFile.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace amsp;

/// Worlds larger than this are typing errors.
static constexpr int64_t kMaxWorld = int64_t(1) << 24;

//===----------------------------------------------------------------------===//
// Numbers with a unit
//===----------------------------------------------------------------------===//

namespace {
// What a number in a file measures. Values outside the range are wrong by a
// unit or a sign, whatever the machine.
struct Bandwidth {
  static constexpr double least = 1e3, most = 1e17;
  static constexpr const char *error =
      "a bandwidth is a number of bytes per second from 1e3 to 1e17";
};
struct Latency {
  static constexpr double least = 1e-9, most = 10;
  static constexpr const char *error =
      "a latency is a number of seconds from 1e-9 to 10";
};
struct Congestion {
  static constexpr double least = 0, most = 10;
  static constexpr const char *error =
      "congestion is a share of the transfer time from 0 to 10";
};
struct Interference {
  static constexpr double least = 0, most = 10;
  static constexpr const char *error =
      "interference is a share of the compute time from 0 to 10";
};
struct Spread {
  static constexpr double least = 0, most = 1;
  static constexpr const char *error =
      "spread is a share of the compute time from 0 to 1";
};
struct Overhead {
  static constexpr double least = 0, most = 1;
  static constexpr const char *error =
      "an overhead is a number of seconds from 0 to 1";
};
struct Memory {
  static constexpr double least = 1024, most = 1e16;
  static constexpr const char *error =
      "memory is a number of bytes from 1024 to 1e16";
};
struct Rate {
  static constexpr double least = 1e6, most = 1e19;
  static constexpr const char *error =
      "a rate is a number of operations per second from 1e6 to 1e19";
};
struct Operations {
  static constexpr double least = 1, most = 1e21;
  static constexpr const char *error = "operations are a number from 1 to 1e21";
};
struct Share {
  static constexpr double least = 1e-6, most = 1;
  static constexpr const char *error = "a share is a number from 1e-6 to 1";
};
} // namespace

//===----------------------------------------------------------------------===//
// The file's structure
//===----------------------------------------------------------------------===//

namespace {
/// `peak`, within a device.
struct PeakRates {
  Device &device;
};
/// `attention`, within a device.
struct AttentionShares {
  Device &device;
};
} // namespace

namespace {
/// What is known of the file while it is read.
struct ReadContext {
  StringRef content;
  ClusterSource source;
};
} // namespace

/// The line of what is read.
static unsigned getLine(yaml::IO &io) {
  const yaml::Node *node = static_cast<yaml::Input &>(io).getCurrentNode();
  auto &context = *static_cast<ReadContext *>(io.getContext());
  const char *start = node->getSourceRange().Start.getPointer();
  size_t offset = start - context.content.begin();
  return 1 + context.content.take_front(offset).count('\n');
}

static ClusterSource &getSource(yaml::IO &io) {
  return static_cast<ReadContext *>(io.getContext())->source;
}

LLVM_YAML_IS_SEQUENCE_VECTOR(amsp::ClusterLevel)
LLVM_YAML_IS_SEQUENCE_VECTOR(amsp::AchievedRate)

namespace llvm::yaml {
template <> struct MappingTraits<ClusterLevel> {
  static void mapping(IO &io, ClusterLevel &level) {
    io.mapOptional("name", level.name);
    io.mapRequired("size", level.size);
    mapOptionalMeasure<Bandwidth>(io, "bandwidth", level.bandwidth);
    mapOptionalMeasure<Latency>(io, "latency", level.latency);
    mapOptionalMeasure<Congestion>(io, "congestion", level.congestion);
    getSource(io).levelLines.push_back(getLine(io));
  }
  static std::string validate(IO &, ClusterLevel &level) {
    return level.size < 1 ? "the size of a level must be positive" : "";
  }
};

template <> struct MappingTraits<AchievedRate> {
  static void mapping(IO &io, AchievedRate &rate) {
    mapMeasure<Operations>(io, "operations", rate.operations);
    mapMeasure<Share>(io, "share", rate.share);
  }
};

template <> struct MappingTraits<PeakRates> {
  static void mapping(IO &io, PeakRates &peak) {
    mapOptionalMeasure<Rate>(io, "f64", peak.device.peakF64);
    mapOptionalMeasure<Rate>(io, "f32", peak.device.peakF32);
    mapOptionalMeasure<Rate>(io, "f16", peak.device.peakF16);
    mapOptionalMeasure<Rate>(io, "bf16", peak.device.peakBF16);
  }
};

template <> struct MappingTraits<AttentionShares> {
  static void mapping(IO &io, AttentionShares &shares) {
    mapOptionalMeasure<Share>(io, "forward", shares.device.attentionForward);
    mapOptionalMeasure<Share>(io, "backward", shares.device.attentionBackward);
  }
};

template <> struct MappingTraits<Device> {
  static void mapping(IO &io, Device &device) {
    io.mapOptional("name", device.name);
    mapOptionalMeasure<Memory>(io, "memory", device.memory);
    mapOptionalMeasure<Bandwidth>(io, "memory_bandwidth",
                                  device.memoryBandwidth);
    PeakRates peak{device};
    io.mapOptional("peak", peak);
    io.mapOptional("achieved", device.achieved);
    AttentionShares shares{device};
    io.mapOptional("attention", shares);
    getSource(io).deviceLine = getLine(io);
  }
  static std::string validate(IO &, Device &device) {
    for (size_t i = 1; i < device.achieved.size(); ++i) {
      const AchievedRate &last = device.achieved[i - 1];
      const AchievedRate &next = device.achieved[i];
      if (next.operations <= last.operations)
        return "'achieved' must ascend in operations";
      // What is written with a few digits may be at the limit.
      if (next.share > 1.01 * getLargestShare(last, next.operations))
        return formatv("'achieved': by a share of {0} after one of {1}, more "
                       "operations would take less time",
                       next.share, last.share);
    }
    return "";
  }
};

template <> struct MappingTraits<Cluster> {
  static void mapping(IO &io, Cluster &cluster) {
    io.mapOptional("name", cluster.name);
    io.mapRequired("levels", cluster.levels);
    io.mapOptional("device", cluster.device);
    mapOptionalMeasure<Interference>(io, "interference", cluster.interference);
    mapOptionalMeasure<Spread>(io, "spread", cluster.spread);
    mapOptionalMeasure<Overhead>(io, "tensor_overhead", cluster.tensorOverhead);
    io.mapOptional("collectives", cluster.collectiveTables);
  }
  static std::string validate(IO &io, Cluster &cluster) {
    // An error that there is already may be of a document without a node.
    bool isEmpty = !io.error() && cluster.levels.empty();
    return isEmpty ? "a cluster needs at least one level" : "";
  }
};
} // namespace llvm::yaml

Error amsp::verifyWorld(const Cluster &cluster, StringRef text) {
  int64_t world = 1;
  for (const ClusterLevel &level : cluster.levels)
    if (MulOverflow(world, level.size, world) || world > kMaxWorld)
      return createStringError("cluster '" + text + "' has more than " +
                               Twine(kMaxWorld) + " ranks");
  return Error::success();
}

/// Gives what has no name one, and tables their path from the working
/// directory.
static void completeNames(Cluster &cluster, StringRef file) {
  if (cluster.name.empty())
    cluster.name = sys::path::stem(file);
  for (size_t i = 0; i < cluster.levels.size(); ++i)
    if (cluster.levels[i].name.empty())
      cluster.levels[i].name = ("level" + Twine(i)).str();
  for (std::string &table : cluster.collectiveTables) {
    if (sys::path::is_absolute(table))
      continue;
    SmallString<128> path(sys::path::parent_path(file));
    sys::path::append(path, table);
    table = path.str();
  }
}

Expected<Cluster> amsp::parseClusterYaml(StringRef content, StringRef name) {
  ReadContext context{content, {name.str(), {}, std::nullopt}};
  Expected<Cluster> cluster =
      parseYaml<Cluster>(content, name, "cluster", &context);
  if (!cluster)
    return cluster;
  if (Error error = verifyWorld(*cluster, name))
    return error;
  completeNames(*cluster, name);
  cluster->source = std::move(context.source);
  return cluster;
}
