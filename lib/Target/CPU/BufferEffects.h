//===- BufferEffects.h - Which operands an op reads and writes --*- C++ -*-===//

#ifndef AMSP_LIB_TARGET_CPU_BUFFEREFFECTS_H
#define AMSP_LIB_TARGET_CPU_BUFFEREFFECTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"

namespace amsp {

/// Tells which memref operands of an op of the host program are written. An op
/// that does not say so is taken to write; of a kernel, its body says it.
class BufferEffects {
public:
  explicit BufferEffects(mlir::ModuleOp module) : symbols(module) {}

  bool writes(mlir::OpOperand &operand);

private:
  const llvm::BitVector &getWrittenArguments(mlir::func::FuncOp kernel);

  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Operation *, llvm::BitVector> kernels;
};

} // namespace amsp

#endif // AMSP_LIB_TARGET_CPU_BUFFEREFFECTS_H
