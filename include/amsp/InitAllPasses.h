//===- InitAllPasses.h - Registers the project's passes ---------*- C++ -*-===//

#ifndef AMSP_INITALLPASSES_H
#define AMSP_INITALLPASSES_H

#include "amsp/Communication/Passes.h"
#include "amsp/Compile/Passes.h"
#include "amsp/Conversion/Passes.h"
#include "amsp/Dialect/AMSP/Transforms/Passes.h"
#include "amsp/Dialect/StableHLO/Transforms/Passes.h"
#include "amsp/Target/CPU/Passes.h"

namespace amsp {

/// Every pass and pipeline that the project declares.
inline void registerAllPasses() {
  registerAMSPPasses();
  stablehlo::registerStableHLOPasses();
  registerPartitionPipeline();
  registerCompilePasses();
  registerCommunicationPasses();
  registerCommunicatePipeline();
  registerConversionPasses();
  registerConversionPipelines();
  registerCPUPasses();
  registerCPUPipelines();
}

} // namespace amsp

#endif // AMSP_INITALLPASSES_H
