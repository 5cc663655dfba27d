//===- YamlScalar.cpp - Texts as YAML -------------------------------------===//

#include "amsp/Support/YamlScalar.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/YAMLParser.h"

using namespace llvm;

/// True for what means nothing else: not `---`, not `...`.
static bool isPlain(StringRef text) {
  auto isWord = [](char c) { return isAlnum(c) || c == '_' || c == '/'; };
  return !text.empty() && isWord(text.front()) && all_of(text, [&](char c) {
    return isWord(c) || c == '.' || c == '-';
  });
}

std::string amsp::quoteYaml(StringRef text) {
  if (isPlain(text))
    return text.str();
  // Only double quotes have escapes, so that the text stays on its line.
  if (any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return "\"" + yaml::escape(text) + "\"";
  std::string quoted = "'";
  for (char c : text)
    quoted.append(c == '\'' ? 2 : 1, c);
  return quoted + "'";
}
