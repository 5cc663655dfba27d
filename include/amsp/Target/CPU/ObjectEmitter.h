//===- ObjectEmitter.h - LLVM dialect to object and library -----*- C++ -*-===//

#ifndef AMSP_TARGET_CPU_OBJECTEMITTER_H
#define AMSP_TARGET_CPU_OBJECTEMITTER_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace amsp {

/// A machine for code that is loaded as a shared library on this host's kind of
/// system. `cpu`: a name that LLVM knows, or `native`.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(llvm::StringRef cpu);

/// The module as LLVM IR, optimised at level 3, with loops over libmvec's
/// functions vectorised. Only `amsp_step_v1` is visible.
llvm::Expected<std::unique_ptr<llvm::Module>>
translateAndOptimize(mlir::ModuleOp module, llvm::LLVMContext &context,
                     llvm::TargetMachine &machine);

/// Writes an object file.
llvm::Error emitObject(llvm::Module &module, llvm::TargetMachine &machine,
                       llvm::raw_pwrite_stream &output);

/// Links an object to a shared library with the system's linker.
llvm::Error linkSharedLibrary(llvm::StringRef object, llvm::StringRef library);

} // namespace amsp

#endif // AMSP_TARGET_CPU_OBJECTEMITTER_H
