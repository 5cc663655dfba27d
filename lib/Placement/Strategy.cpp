//===- Strategy.cpp - Factors of P, G and OS ------------------------------===//

#include "amsp/Placement/Strategy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace amsp;

using Factors = SmallVector<int64_t>;

template <typename... Args>
static Error makeError(const char *format, Args &&...args) {
  return createStringError(inconvertibleErrorCode(), format,
                           std::forward<Args>(args)...);
}

std::string amsp::formatFactors(ArrayRef<int64_t> factors) {
  std::string text;
  raw_string_ostream os(text);
  interleave(factors, os, "x");
  return text;
}

/// A number that fills the inner levels first: 4 on 2x2 is 2x2.
static Expected<Factors> fillInnerLevels(int64_t number,
                                         ArrayRef<int64_t> levels) {
  Factors factors(levels.size(), 1);
  int64_t rest = number;
  for (auto [factor, size] : zip(factors, levels)) {
    if (rest == 1)
      break;
    factor = rest % size == 0 ? size : rest;
    if (size % factor != 0)
      return makeError("factor %lld does not fill the levels %s: %lld does not "
                       "divide a level of size %lld",
                       (long long)number, formatFactors(levels).c_str(),
                       (long long)factor, (long long)size);
    rest /= factor;
  }
  if (rest != 1)
    return makeError("factor %lld is more than the levels %s hold",
                     (long long)number, formatFactors(levels).c_str());
  return factors;
}

static Expected<Factors> parseFactors(StringRef text,
                                      ArrayRef<int64_t> levels) {
  if (text == "all")
    return Factors(levels);
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  Factors factors;
  for (StringRef part : parts) {
    int64_t value;
    if (part.getAsInteger(10, value) || value < 1)
      return makeError("'%s' is not a factor: expected positive numbers joined "
                       "by 'x', or 'all'",
                       text.str().c_str());
    factors.push_back(value);
  }
  if (factors.size() == 1)
    return fillInnerLevels(factors.front(), levels);
  if (factors.size() > levels.size())
    return makeError("factor %s has %zu levels, the cluster %s has %zu",
                     text.str().c_str(), factors.size(),
                     formatFactors(levels).c_str(), levels.size());
  factors.resize(levels.size(), 1);
  return factors;
}

static Expected<Strategy> parsePreset(StringRef text,
                                      ArrayRef<int64_t> levels) {
  auto [name, argument] = text.split(':');
  Factors one(levels.size(), 1), all(levels);
  bool takesArgument = name == "mics" || name == "hpz";
  if (takesArgument != text.contains(':'))
    return takesArgument
               ? makeError("preset '%s' needs a factor, such as %s:%lld",
                           name.str().c_str(), name.str().c_str(),
                           (long long)levels.front())
               : makeError("preset '%s' takes no factor", name.str().c_str());
  if (takesArgument) {
    Expected<Factors> shard = parseFactors(argument, levels);
    if (!shard)
      return shard.takeError();
    return name == "mics" ? Strategy{*shard, *shard, *shard}
                          : Strategy{*shard, all, all};
  }
  if (name == "ddp")
    return Strategy{one, one, one};
  if (name == "zero1")
    return Strategy{one, one, all};
  if (name == "zero2")
    return Strategy{one, all, all};
  if (name == "zero3")
    return Strategy{all, all, all};
  return makeError("unknown: expected ddp, zero1, zero2, zero3, mics:S, hpz:S "
                   "or p=F,g=F,os=F");
}

/// Reads `p=F,g=F,os=F`.
static Expected<Strategy> parseExplicit(StringRef text,
                                        ArrayRef<int64_t> levels) {
  Strategy strategy;
  SmallVector<StringRef> items;
  text.split(items, ',');
  for (StringRef item : items) {
    auto [key, value] = item.split('=');
    Factors *target = StringSwitch<Factors *>(key)
                          .Case("p", &strategy.p)
                          .Case("g", &strategy.g)
                          .Case("os", &strategy.os)
                          .Default(nullptr);
    if (!target)
      return makeError("unknown key '%s': expected p, g, os",
                       key.str().c_str());
    if (!target->empty())
      return makeError("'%s' is given twice", key.str().c_str());
    Expected<Factors> factors = parseFactors(value, levels);
    if (!factors)
      return factors.takeError();
    *target = *factors;
  }
  if (strategy.p.empty())
    strategy.p.assign(levels.size(), 1);
  if (strategy.g.empty())
    strategy.g = strategy.p;
  if (strategy.os.empty())
    return makeError("no os is given");
  return strategy;
}

Expected<Strategy> amsp::parseStrategy(StringRef text,
                                       ArrayRef<int64_t> levels) {
  Expected<Strategy> strategy = text.contains('=') ? parseExplicit(text, levels)
                                                   : parsePreset(text, levels);
  Error error =
      strategy ? verifyStrategy(*strategy, levels) : strategy.takeError();
  if (error)
    return makeError("strategy '%s': %s", text.str().c_str(),
                     toString(std::move(error)).c_str());
  return strategy;
}

Error amsp::verifyStrategy(const Strategy &strategy, ArrayRef<int64_t> levels) {
  for (auto [level, p, g, os, size] :
       enumerate(strategy.p, strategy.g, strategy.os, levels)) {
    auto check = [&, level = level](const char *inner, int64_t factor,
                                    const char *outer,
                                    int64_t multiple) -> Error {
      if (multiple % factor == 0)
        return Error::success();
      return makeError("level %zu: %s=%lld does not divide %s=%lld "
                       "(p | g | os | size must hold on every level)",
                       level, inner, (long long)factor, outer,
                       (long long)multiple);
    };
    if (Error error = check("os", os, "size", size))
      return error;
    if (Error error = check("g", g, "os", os))
      return error;
    if (Error error = check("p", p, "g", g))
      return error;
  }
  return Error::success();
}
