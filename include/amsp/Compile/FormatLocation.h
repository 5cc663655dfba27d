//===- FormatLocation.h - Where a value comes from --------------*- C++ -*-===//

#ifndef AMSP_COMPILE_FORMATLOCATION_H
#define AMSP_COMPILE_FORMATLOCATION_H

#include "mlir/IR/Location.h"
#include "llvm/Support/FormatVariadic.h"

namespace amsp {

/// Where a value comes from in a file, as `file:line:column: `; empty if
/// nothing says it.
inline std::string formatLocation(mlir::Location location) {
  mlir::FileLineColLoc found;
  location->walk([&](mlir::Location nested) {
    found = llvm::dyn_cast<mlir::FileLineColLoc>(nested);
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  if (!found)
    return "";
  return llvm::formatv("{0}:{1}:{2}: ", found.getFilename().getValue(),
                       found.getLine(), found.getColumn());
}

} // namespace amsp

#endif // AMSP_COMPILE_FORMATLOCATION_H
