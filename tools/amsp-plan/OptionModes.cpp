//===- OptionModes.cpp - Which options a mode reads -----------------------===//

#include "OptionModes.h"
#include "ExecutorMode.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace amsp;

/// Beside the options of ExecutorMode.cpp, which are read with --executor only,
/// those that are read with it too. All others are of a step.
static constexpr StringRef kOfBothModes[] = {
    "cluster", "levels",   "interference", "spread",  "memory",
    "format",  "timeline", "strategy",     "overlap",
};

/// An option that is read if another one is given.
static constexpr std::pair<StringRef, StringRef> kDependent[] = {
    {"trace", "report"},
};

static bool isGiven(const cl::Option &option) {
  return option.getNumOccurrences() > 0;
}

/// The options of the command line by name, in alphabetical order.
static std::vector<StringRef>
getGiven(ArrayRef<const cl::OptionCategory *> groups,
         function_ref<bool(const cl::Option &)> isWanted) {
  std::vector<StringRef> names;
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (isGiven(*option) && isWanted(*option) &&
        any_of(option->Categories, [&](cl::OptionCategory *category) {
          return is_contained(groups, category);
        }))
      names.push_back(name);
  sort(names);
  return names;
}

/// The option as one types it.
static std::string spell(StringRef name) {
  return ((name.size() > 1 ? "--" : "-") + name).str();
}

Error amsp::verifyModes(StringRef step,
                        ArrayRef<const cl::OptionCategory *> groups) {
  bool isExecutor = isExecutorMode();
  auto isForeign = [&](const cl::Option &option) {
    if (is_contained(option.Categories, &getExecutorCategory()))
      return !isExecutor;
    return isExecutor && !is_contained(kOfBothModes, option.ArgStr);
  };
  for (StringRef name : getGiven(groups, isForeign))
    return createStringError(spell(name) + (isExecutor
                                                ? ": not read with --executor"
                                                : " needs --executor"));
  if (isExecutor && !step.empty())
    return createStringError("'" + step + "': no step is read with --executor");
  std::vector<StringRef> given =
      getGiven(groups, [](const cl::Option &) { return true; });
  for (auto [name, other] : kDependent)
    if (is_contained(given, name) && !is_contained(given, other))
      return createStringError(spell(name) + " needs " + spell(other));
  return Error::success();
}
