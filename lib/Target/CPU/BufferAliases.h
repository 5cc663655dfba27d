//===- BufferAliases.h - Which buffer a memref is a view of -----*- C++ -*-===//

#ifndef AMSP_LIB_TARGET_CPU_BUFFERALIASES_H
#define AMSP_LIB_TARGET_CPU_BUFFERALIASES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace amsp {

/// The memref that `op` is a view of; null if it is no view.
mlir::Value getViewSource(mlir::Operation *op);

/// The buffer below all views: an allocation, a constant, or an argument.
mlir::Value getRootBuffer(mlir::Value memref);

/// Calls `visit` for each op that may touch the memory of `buffer`, directly or
/// through a view.
void forEachAccess(mlir::Value buffer,
                   llvm::function_ref<void(mlir::OpOperand &)> visit);

/// Bytes of a buffer of this type.
int64_t getBufferBytes(mlir::MemRefType type);

} // namespace amsp

#endif // AMSP_LIB_TARGET_CPU_BUFFERALIASES_H
