//===- FormatLocation.cpp - Where a value comes from ----------------------===//

#include "amsp/Compile/FormatLocation.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

std::string amsp::formatLocation(Location location, StringRef input) {
  FileLineColLoc found;
  NameLoc name;
  location->walk([&](Location nested) {
    if (auto named = dyn_cast<NameLoc>(nested); named && !name)
      name = named;
    found = dyn_cast<FileLineColLoc>(nested);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (found)
    return llvm::formatv("{0}:{1}:{2}: ", found.getFilename().getValue(),
                         found.getLine(), found.getColumn());
  if (name && !input.empty())
    return llvm::formatv("{0}: at '{1}': ", input, name.getName().getValue());
  return "";
}
