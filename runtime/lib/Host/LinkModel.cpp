//===- LinkModel.cpp - Links slowed to a stated speed ---------------------===//

#include "amsp/Runtime/LinkModel.h"

#include "amsp/Runtime/DType.h"
#include "amsp/Runtime/Group.h"

#include <cstdlib>

using namespace amsp;
using namespace amsp::runtime;

static constexpr double minBandwidth = 1, maxBandwidth = 1e15;
static constexpr double maxLatency = 60;

int64_t runtime::paddedBytes(const amsp_collective &collective) {
  int64_t members = 1;
  if (collective.kind != AMSP_ALL_REDUCE)
    for (int32_t i = 0; i < collective.num_digits; ++i)
      members *= collective.digits[i].size;
  int64_t elements = 0;
  for (int32_t i = 0; i < collective.num_operands; ++i)
    elements +=
        collective.operands[i].rows * collective.operands[i].piece * members;
  return elements * bytesOf(collective.dtype);
}

static Traffic getTraffic(int32_t kind) {
  if (kind == AMSP_ALL_REDUCE)
    return Traffic::TwoPasses;
  return kind == AMSP_ALL_TO_ALL ? Traffic::Exchange : Traffic::OnePass;
}

double LinkModel::seconds(const amsp_collective &collective) const {
  std::vector<int64_t> sizes;
  for (const LinkLevel &level : levels)
    sizes.push_back(level.size);
  std::vector<int64_t> members(levels.size(), 1);
  addMembersByLevel(
      Digits(collective.digits, collective.digits + collective.num_digits),
      sizes, members);
  return getRingSeconds(getTraffic(collective.kind),
                        static_cast<double>(paddedBytes(collective)), members,
                        levels);
}

/// Cuts the part before `separator` off `text`.
static std::string_view takePart(std::string_view &text, char separator) {
  size_t end = text.find(separator);
  std::string_view part = text.substr(0, end);
  text =
      end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return part;
}

/// Sets the key's number; an empty string, or what is wrong.
static std::string parseItem(std::string_view item, LinkLevel &level) {
  std::string_view key = takePart(item, '=');
  std::string value(item);
  char *end = nullptr;
  double number = std::strtod(value.c_str(), &end);
  bool isNumber = !value.empty() && *end == '\0';
  if (key == "bandwidth") {
    level.bandwidth = number;
    // Written so that a NaN fails.
    if (isNumber && number >= minBandwidth && number <= maxBandwidth)
      return {};
    return "bandwidth '" + value + "' is not between 1 and 1e15 bytes/s";
  }
  if (key == "latency") {
    level.latency = number;
    if (isNumber && number >= 0 && number <= maxLatency)
      return {};
    return "latency '" + value + "' is not between 0 and 60 s";
  }
  return "unknown key '" + std::string(key) +
         "', expected bandwidth, latency or shared";
}

static std::string parseLevel(std::string_view text, LinkLevel &level) {
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string problem = parseItem(takePart(rest, ','), level);
    if (!problem.empty())
      return problem;
  }
  if (level.bandwidth == 0)
    return "no bandwidth in '" + std::string(text) + "'";
  return {};
}

std::optional<LinkModel> LinkModel::parse(std::string_view text,
                                          const std::vector<int64_t> &sizes,
                                          std::string &error) {
  LinkModel model;
  std::string_view rest = text;
  do {
    std::string_view item = takePart(rest, ';');
    if (item == "shared") {
      model.isShared = true;
      continue;
    }
    error = parseLevel(item, model.levels.emplace_back());
    if (!error.empty())
      return std::nullopt;
  } while (!rest.empty());
  size_t given = model.levels.size();
  if (given == 1)
    model.levels.resize(sizes.size(), model.levels.front());
  if (model.levels.size() != sizes.size() || given == 0) {
    error = "gives " + std::to_string(given) + " levels, the step has " +
            std::to_string(sizes.size());
    return std::nullopt;
  }
  for (size_t level = 0; level < sizes.size(); ++level)
    model.levels[level].size = sizes[level];
  return model;
}
