//===- InitAllPasses.h - Registers the project's passes ---------*- C++ -*-===//

#ifndef AMSP_INITALLPASSES_H
#define AMSP_INITALLPASSES_H

#include "amsp/Dialect/AMSP/Transforms/Passes.h"

namespace amsp {

/// Every pass and pipeline that the project declares.
inline void registerAllPasses() {
  registerAMSPPasses();
  registerPartitionPipeline();
}

} // namespace amsp

#endif // AMSP_INITALLPASSES_H
