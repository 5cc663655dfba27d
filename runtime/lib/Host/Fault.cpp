//===- Fault.cpp - Injected faults ----------------------------------------===//

#include "amsp/Runtime/Fault.h"

#include <charconv>

using namespace amsp::runtime;

bool Fault::names(int32_t id, std::string_view name) const {
  return collective == name || collective == std::to_string(id);
}

bool Fault::hits(int64_t onRank, const amsp_collective &at) const {
  return rank == onRank && names(at.id, at.name);
}

static std::optional<Fault::Kind> parseKind(std::string_view text) {
  if (text == "fail")
    return Fault::Kind::Fail;
  if (text == "stall")
    return Fault::Kind::Stall;
  if (text == "delay")
    return Fault::Kind::Delay;
  if (text == "lag")
    return Fault::Kind::Lag;
  return std::nullopt;
}

std::optional<Fault> Fault::parse(std::string_view text, std::string &error) {
  size_t first = text.find(',');
  size_t last = text.rfind(',');
  if (first == last || first == std::string_view::npos) {
    error = "expected RANK,COLLECTIVE,KIND, got '" + std::string(text) + "'";
    return std::nullopt;
  }
  Fault fault;
  std::string_view rankText = text.substr(0, first);
  auto [end, code] = std::from_chars(
      rankText.data(), rankText.data() + rankText.size(), fault.rank);
  if (code != std::errc() || end != rankText.data() + rankText.size() ||
      fault.rank < 0) {
    error = "'" + std::string(rankText) + "' is not the number of a rank";
    return std::nullopt;
  }
  fault.collective = text.substr(first + 1, last - first - 1);
  std::optional<Kind> kind = parseKind(text.substr(last + 1));
  if (!kind) {
    error = "expected fail, stall, delay or lag, got '" +
            std::string(text.substr(last + 1)) + "'";
    return std::nullopt;
  }
  fault.kind = *kind;
  return fault;
}
