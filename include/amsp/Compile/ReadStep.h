//===- ReadStep.h - An exported step from its file --------------*- C++ -*-===//

#ifndef AMSP_COMPILE_READSTEP_H
#define AMSP_COMPILE_READSTEP_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

namespace amsp {

/// Reads a step's text, or bytecode of this MLIR, from a file; `-` is standard
/// input. Fails for a file that cannot be read, and for bytecode of other
/// dialects or versions (JAX's portable one), naming what makes text of it;
/// with an empty message where a diagnostic has said what is wrong.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
readStep(mlir::MLIRContext &context, llvm::StringRef path);

} // namespace amsp

#endif // AMSP_COMPILE_READSTEP_H
