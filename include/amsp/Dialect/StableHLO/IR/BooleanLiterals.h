//===- BooleanLiterals.h - Large constants of i1 ----------------*- C++ -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_BOOLEANLITERALS_H
#define AMSP_DIALECT_STABLEHLO_IR_BOOLEANLITERALS_H

#include "llvm/Support/MemoryBuffer.h"

namespace amsp::stablehlo {

/// Rewrites the large `i1` constants of a module's text, as later versions of
/// MLIR print them (JAX holds one), as this one reads them: `dense<"0x...">`
/// with a bit for each element instead of a byte. Lines stay lines. Returns the
/// buffer itself if it has none, or is bytecode.
std::unique_ptr<llvm::MemoryBuffer>
packBooleanLiterals(std::unique_ptr<llvm::MemoryBuffer> module);

} // namespace amsp::stablehlo

#endif // AMSP_DIALECT_STABLEHLO_IR_BOOLEANLITERALS_H
