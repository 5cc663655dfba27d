//===- Passes.h - Planning as a pass ----------------------------*- C++ -*-===//

#ifndef AMSP_COMPILE_PASSES_H
#define AMSP_COMPILE_PASSES_H

#include "amsp/Support/PassStatistic.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace amsp {

class AMSPDialect;

#define GEN_PASS_DECL
#include "amsp/Compile/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "amsp/Compile/Passes.h.inc"

} // namespace amsp

#endif // AMSP_COMPILE_PASSES_H
