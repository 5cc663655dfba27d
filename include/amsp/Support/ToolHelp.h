//===- ToolHelp.h - What --help says of a tool ------------------*- C++ -*-===//

#ifndef AMSP_SUPPORT_TOOLHELP_H
#define AMSP_SUPPORT_TOOLHELP_H

#include "llvm/Support/CommandLine.h"

namespace amsp {

struct ToolHelp {
  /// A sentence.
  llvm::StringRef overview;
  /// Calls that one makes most, a line each, with what they are for.
  llvm::StringRef examples;
  /// What --help shows, under the groups' names.
  std::vector<const llvm::cl::OptionCategory *> groups;
  /// Options of other libraries that --help shows too; it leaves the rest of
  /// them to --help-hidden.
  std::vector<llvm::StringRef> others;
};

/// Sets what --help prints, with descriptions wrapped, and returns its head.
/// Before the command line is parsed; after all options are registered.
std::string prepareHelp(const ToolHelp &help);

} // namespace amsp

#endif // AMSP_SUPPORT_TOOLHELP_H
