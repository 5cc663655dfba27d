//===- FormatLocation.h - Where a value comes from --------------*- C++ -*-===//

#ifndef AMSP_COMPILE_FORMATLOCATION_H
#define AMSP_COMPILE_FORMATLOCATION_H

#include "mlir/IR/Location.h"

namespace amsp {

/// Where a value comes from in a file, as `file:line:column: `; else, by the
/// name that the export of the file `input` gave it, as `input: at 'name': `.
/// Empty if nothing says it, or only a name where no file is given.
std::string formatLocation(mlir::Location location, llvm::StringRef input = "");

} // namespace amsp

#endif // AMSP_COMPILE_FORMATLOCATION_H
