//===- InitAllPasses.h - Registers the project's passes ---------*- C++ -*-===//

#ifndef AMSP_INITALLPASSES_H
#define AMSP_INITALLPASSES_H

#include "amsp/Dialect/StableHLO/Transforms/Passes.h"

namespace amsp {

/// Every pass that the project declares; upstream's are not among them.
inline void registerAllPasses() { stablehlo::registerStableHLOPasses(); }

} // namespace amsp

#endif // AMSP_INITALLPASSES_H
