//===- TraceSummary.cpp - What a timeline says of communication -----------===//

#include "amsp/Run/TraceSummary.h"

#include <map>
#include <set>
#include <tuple>

using namespace amsp;
using namespace llvm;

namespace {
/// In microseconds, over all ranks and steps.
struct Communication {
  double transfer = 0;
  double exposed = 0;
  double bytes = 0;

  void add(const Communication &other) {
    transfer += other.transfer;
    exposed += other.exposed;
    bytes += other.bytes;
  }
  json::Object perStep(double runs) const {
    return json::Object{{"transfer_seconds", transfer / runs * 1e-6},
                        {"exposed_seconds", exposed / runs * 1e-6},
                        {"bytes", bytes / runs}};
  }
};

/// Unit (or empty), level, channel.
using Key = std::tuple<std::string, int64_t, std::string>;

class Summary {
public:
  void add(const json::Object &event);
  json::Object write() const;

private:
  void addCollective(const json::Object &event, bool isTransfer,
                     double duration);

  std::set<int64_t> ranks;
  double runs = 0; // steps of all ranks
  double step = 0, compute = 0;
  std::map<Key, Communication> parts;
};
} // namespace

void Summary::addCollective(const json::Object &event, bool isTransfer,
                            double duration) {
  const json::Object *args = event.getObject("args");
  if (!args || args->getInteger("id").value_or(-1) < 0)
    return;
  Key key(args->getString("unit").value_or("").str(),
          args->getInteger("level").value_or(-1),
          args->getString("channel").value_or("").str());
  Communication &part = parts[key];
  if (!isTransfer) {
    part.exposed += duration;
    return;
  }
  part.transfer += duration;
  part.bytes += args->getNumber("bytes").value_or(0);
}

void Summary::add(const json::Object &event) {
  std::optional<StringRef> category = event.getString("cat");
  std::optional<double> duration = event.getNumber("dur");
  std::optional<int64_t> rank = event.getInteger("pid");
  if (!category || !duration || !rank)
    return;
  if (*category == "step") {
    ranks.insert(*rank);
    step += *duration;
    ++runs;
  } else if (*category == "gemm" || *category == "compute") {
    compute += *duration;
  } else if (*category == "transfer" || *category == "await") {
    addCollective(event, *category == "transfer", *duration);
  }
}

json::Object Summary::write() const {
  double divisor = std::max(runs, 1.0);
  Communication all;
  std::map<int64_t, Communication> levels;
  json::Array byUnit, byLevel;
  for (const auto &[key, part] : parts) {
    const auto &[unit, level, channel] = key;
    all.add(part);
    levels[level].add(part);
    json::Object entry = part.perStep(divisor);
    entry["unit"] = unit.empty() ? json::Value(nullptr) : json::Value(unit);
    entry["level"] = level;
    entry["channel"] = channel;
    byUnit.push_back(std::move(entry));
  }
  for (const auto &[level, part] : levels) {
    json::Object entry = part.perStep(divisor);
    entry["level"] = level;
    byLevel.push_back(std::move(entry));
  }
  json::Object summary = all.perStep(divisor);
  auto numRanks = static_cast<int64_t>(ranks.size());
  summary["ranks"] = numRanks;
  summary["steps"] =
      numRanks ? static_cast<int64_t>(runs) / numRanks : int64_t(0);
  summary["step_seconds"] = step / divisor * 1e-6;
  summary["compute_seconds"] = compute / divisor * 1e-6;
  summary["levels"] = std::move(byLevel);
  summary["units"] = std::move(byUnit);
  return summary;
}

json::Object run::summarizeTrace(const json::Array &events) {
  Summary summary;
  for (const json::Value &event : events)
    if (const json::Object *object = event.getAsObject())
      summary.add(*object);
  return summary.write();
}
