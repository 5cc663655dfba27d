//===- LoopInvariants.h - Carries that never change -------------*- C++ -*-===//

#ifndef AMSP_LIB_DIALECT_AMSP_TRANSFORMS_LOOPINVARIANTS_H
#define AMSP_LIB_DIALECT_AMSP_TRANSFORMS_LOOPINVARIANTS_H

#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"

namespace amsp {

/// Removes the carries that the body hands on as it got them, replacing all
/// that stands for them by the initial value. Returns how many there were; if
/// there were any, the loop is another op then.
unsigned hoistInvariants(stablehlo::WhileOp loop);

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_TRANSFORMS_LOOPINVARIANTS_H
