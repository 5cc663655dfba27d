//===- UnitPattern.cpp - Names of several units ---------------------------===//

#include "amsp/Planner/UnitPattern.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;
using namespace amsp;

/// Splits `h.12` into `h.` and 12; nothing for a name that ends otherwise. A
/// number with leading zeros is part of the name.
static std::optional<std::pair<StringRef, uint64_t>>
splitNumber(StringRef name) {
  StringRef prefix = name.rtrim("0123456789");
  StringRef digits = name.substr(prefix.size());
  uint64_t number;
  if (digits.getAsInteger(10, number) ||
      (digits.size() > 1 && digits.front() == '0'))
    return std::nullopt;
  return std::pair(prefix, number);
}

Expected<UnitPattern> UnitPattern::parse(StringRef text) {
  UnitPattern pattern;
  pattern.text = text;
  auto [first, last] = text.rsplit("..");
  auto begin = splitNumber(first);
  uint64_t end;
  if (text.contains("..") && begin && !last.getAsInteger(10, end)) {
    if (end < begin->second)
      return createStringError("the range '" + text + "' falls");
    pattern.range = {begin->first.str(), begin->second, end};
    return pattern;
  }
  if (text.find_first_of("*?[{") == StringRef::npos)
    return pattern;
  Expected<GlobPattern> glob = GlobPattern::create(text);
  if (!glob)
    return createStringError("the pattern '" + text +
                             "': " + toString(glob.takeError()));
  pattern.isGlob = true;
  return pattern;
}

bool UnitPattern::matches(StringRef unit) const {
  // The library's pattern refers to its text, so it cannot be kept here.
  if (isGlob)
    return cantFail(GlobPattern::create(text)).match(unit);
  if (!range)
    return unit == text;
  auto number = splitNumber(unit);
  return number && number->first == range->prefix &&
         number->second >= range->first && number->second <= range->last;
}

std::vector<UnitRun> amsp::findRuns(ArrayRef<std::string> units,
                                    ArrayRef<std::string> values) {
  std::vector<UnitRun> runs;
  for (size_t first = 0, end; first < units.size(); first = end) {
    end = first + 1;
    auto begin = splitNumber(units[first]);
    auto follows = [&](size_t i) {
      auto number = splitNumber(units[i]);
      return number && number->first == begin->first &&
             number->second == begin->second + (i - first) &&
             (values.empty() || values[i] == values[first]);
    };
    while (begin && end < units.size() && follows(end))
      ++end;
    std::string pattern = units[first];
    if (end - first > 1)
      pattern += (".." + Twine(begin->second + (end - 1 - first))).str();
    runs.push_back({pattern, first, end - first});
  }
  return runs;
}

std::string amsp::formatUnits(ArrayRef<std::string> units) {
  std::string text;
  for (const UnitRun &run : findRuns(units, {}))
    text += (text.empty() ? "" : ", ") + run.pattern;
  return text;
}
