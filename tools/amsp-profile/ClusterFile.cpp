//===- ClusterFile.cpp - A profile as a cluster file ----------------------===//

#include "ClusterFile.h"
#include "amsp/Placement/AchievedCurve.h"
#include "amsp/Support/OutputFiles.h"
#include "amsp/Support/YamlScalar.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace amsp;
using namespace amsp::profile;
using namespace llvm;

/// Shares of the peak. What was measured while the machine was disturbed is no
/// reason for a larger contraction to take less time than a smaller one.
static std::vector<AchievedRate> getCurve(const std::vector<GemmRate> &rates,
                                          double peak) {
  std::vector<AchievedRate> curve;
  for (const GemmRate &each : rates) {
    AchievedRate point{double(each.operations),
                       std::max(each.rate / peak, 0.001)};
    if (!curve.empty())
      point.share = std::min(point.share,
                             getLargestShare(curve.back(), point.operations));
    curve.push_back(point);
  }
  return curve;
}

static double getPeak(const std::vector<GemmRate> &rates) {
  double peak = 0;
  for (const GemmRate &each : rates)
    peak = std::max(peak, each.rate);
  return peak;
}

/// What links would give the measured times: latency from the smallest gather
/// of the smallest group, bandwidth from the largest one of the largest.
static void writeLink(raw_ostream &os, const Profile &profile) {
  const CollectiveTime *small = nullptr, *large = nullptr;
  for (const CollectiveTime &each : profile.collectives) {
    if (StringRef(each.kind) != "all_gather")
      continue;
    if (!small)
      small = &each;
    large = &each;
  }
  if (!small)
    return;
  double sent = double(large->bytes) * (large->ranks - 1) / large->ranks;
  os << formatv(", bandwidth: {0:e3}, latency: {1:e3}", sent / large->seconds,
                small->seconds / (small->ranks - 1));
}

static void writeTable(raw_ostream &os, const Profile &profile) {
  os << "collective,ranks,bytes,seconds\n";
  for (const CollectiveTime &each : profile.collectives)
    os << formatv("{0},{1},{2},{3:e4}\n", each.kind, each.ranks, each.bytes,
                  each.seconds);
}

static void writeYaml(raw_ostream &os, const ClusterDescription &description,
                      const Profile &profile, StringRef table) {
  double f32 = getPeak(profile.f32), f64 = getPeak(profile.f64);
  os << formatv("# Measured by amsp-profile: {0} ranks, transport {1}.\n",
                description.ranks, description.transport);
  os << "name: " << quoteYaml(description.name) << "\n";
  os << "levels:\n  - {name: rank, size: " << description.ranks;
  writeLink(os, profile);
  os << "}\ndevice:\n  name: " << quoteYaml(description.name) << "\n";
  os << formatv("  memory: {0:e3}\n", description.memory);
  os << formatv("  memory_bandwidth: {0:e3}\n", profile.memoryBandwidth);
  os << formatv("  peak: {{f32: {0:e3}, f64: {1:e3}}\n", f32, f64);
  os << "  achieved: # f32, square contractions\n";
  for (const AchievedRate &point : getCurve(profile.f32, f32))
    os << formatv("    - {{operations: {0:e3}, share: {1:f3}}\n",
                  point.operations, point.share);
  if (!table.empty())
    os << formatv("tensor_overhead: {0:e3}\n", profile.tensorOverhead);
  if (!table.empty())
    os << "collectives: [" << quoteYaml(sys::path::filename(table)) << "]\n";
}

Error profile::writeClusterFile(StringRef path,
                                const ClusterDescription &description,
                                const Profile &profile) {
  OutputFiles files;
  SmallString<128> table;
  if (Error error = files.create(path))
    return error;
  std::string text;
  raw_string_ostream os(text);
  if (!profile.collectives.empty()) {
    table = path;
    sys::path::replace_extension(table, "csv");
    if (Error error = files.create(table))
      return error;
    writeTable(os, profile);
    if (Error error = files.write(table, text))
      return error;
    text.clear();
  }
  writeYaml(os, description, profile, table);
  if (Error error = files.write(path, text))
    return error;
  return files.commit();
}
