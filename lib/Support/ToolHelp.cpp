//===- ToolHelp.cpp - What --help says of a tool --------------------------===//

#include "amsp/Support/ToolHelp.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>

using namespace llvm;
using namespace amsp;

/// Columns of a description, beside the options' own.
static constexpr size_t kWidth = 72;

/// Breaks lines between words.
static std::string wrap(StringRef text) {
  std::string wrapped;
  size_t column = 0;
  SmallVector<StringRef> words;
  text.split(words, ' ');
  for (StringRef word : words) {
    if (column > 0 && column + 1 + word.size() > kWidth) {
      wrapped += '\n';
      column = 0;
    } else if (column > 0) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += word.size();
  }
  return wrapped;
}

std::string amsp::prepareHelp(const ToolHelp &help) {
  // Options refer to their text.
  static std::deque<std::string> texts;
  for (auto &[name, option] : cl::getRegisteredOptions()) {
    bool isOurs = any_of(option->Categories, [&](cl::OptionCategory *category) {
      return is_contained(help.groups, category);
    });
    if (isOurs)
      option->setDescription(texts.emplace_back(wrap(option->HelpStr)));
    else if (!name.starts_with("help") && name != "version" &&
             !is_contained(help.others, name))
      option->setHiddenFlag(cl::Hidden);
  }
  return (help.overview + ".\n\nEXAMPLES:\n" + help.examples +
          "\nErrors are one line and a non-zero status; docs/tools.md tells "
          "more, "
          "docs/formats.md of all files.\n")
      .str();
}
