//===- Passes.h - From a per-rank tensor program to CPU code ----*- C++ -*-===//

#ifndef AMSP_TARGET_CPU_PASSES_H
#define AMSP_TARGET_CPU_PASSES_H

#include "amsp/Support/PassStatistic.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace amsp {

/// Index of the result whose buffer an argument of a bufferized step is.
constexpr llvm::StringLiteral kResultBufferAttr = "amsp.result_buffer";
/// Size of the arena, on the function of a step with a planned arena.
constexpr llvm::StringLiteral kArenaBytesAttr = "amsp.arena_bytes";
/// The manifest, on the module; without the arena's size until that is known.
constexpr llvm::StringLiteral kManifestAttr = "amsp.manifest";
/// Name of the step's function, and of what it becomes.
constexpr llvm::StringLiteral kMainFunction = "main";
constexpr llvm::StringLiteral kExecuteFunction = "amsp_execute";

#define GEN_PASS_DECL
#include "amsp/Target/CPU/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "amsp/Target/CPU/Passes.h.inc"

/// How `amsp.exchange_start`, `amsp.exchange_await` and `amsp.contract`
/// bufferize.
void registerBufferizableOpInterfaceModels(mlir::DialectRegistry &registry);

/// Tensors -> buffers in one arena, kernels and launches.
void buildBufferizePipeline(mlir::OpPassManager &pm);
/// Buffers -> LLVM dialect.
void buildLowerToLLVMPipeline(mlir::OpPassManager &pm);
/// Registers both as `amsp-bufferize` and `amsp-lower-to-llvm`.
void registerCPUPipelines();

} // namespace amsp

#endif // AMSP_TARGET_CPU_PASSES_H
