//===- BufferOverwrites.h - Ops that give a buffer new content --*- C++ -*-===//

#ifndef AMSP_LIB_TARGET_CPU_BUFFEROVERWRITES_H
#define AMSP_LIB_TARGET_CPU_BUFFEROVERWRITES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp {

/// Tells through which operands ops of the host program write all of a buffer
/// and read nothing of it. What cannot be told is taken to read.
class BufferOverwrites {
public:
  explicit BufferOverwrites(mlir::ModuleOp module) : symbols(module) {}

  /// Of the operand alone: the op may read the buffer through another one.
  bool overwrites(mlir::OpOperand &operand);

private:
  bool isOverwrittenBy(mlir::func::FuncOp kernel, unsigned argument);

  mlir::SymbolTable symbols;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, bool> arguments;
};

} // namespace amsp

#endif // AMSP_LIB_TARGET_CPU_BUFFEROVERWRITES_H
