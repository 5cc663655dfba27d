//===- OptionModes.h - Which options a mode reads ---------------*- C++ -*-===//

#ifndef AMSP_TOOLS_AMSP_PLAN_OPTIONMODES_H
#define AMSP_TOOLS_AMSP_PLAN_OPTIONMODES_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace amsp {

/// Fails for the first option, in alphabetical order, that the command line has
/// and its mode, with --executor or without, does not read. `step` is the
/// positional argument; `groups` have all options of the tool.
llvm::Error
verifyModes(llvm::StringRef step,
            llvm::ArrayRef<const llvm::cl::OptionCategory *> groups);

} // namespace amsp

#endif // AMSP_TOOLS_AMSP_PLAN_OPTIONMODES_H
