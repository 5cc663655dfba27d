//===- InitAllDialects.h - Registers the project's dialects -----*- C++ -*-===//

#ifndef AMSP_INITALLDIALECTS_H
#define AMSP_INITALLDIALECTS_H

#include "amsp/Dialect/AMSP/IR/AMSPDialect.h"
#include "amsp/Dialect/StableHLO/IR/CHLOOps.h"
#include "amsp/Dialect/StableHLO/IR/SdyDialect.h"
#include "amsp/Dialect/StableHLO/IR/StableHLODialect.h"
#include "amsp/Placement/PlacementOpInterface.h"
#include "amsp/Target/CPU/Passes.h"

namespace amsp {

/// Every dialect that the project declares, with the placement rules of their
/// ops; upstream's are not among them.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<AMSPDialect, chlo::CHLODialect, sdy::SdyDialect,
                  stablehlo::StableHLODialect>();
  registerPlacementExternalModels(registry);
  registerBufferizableOpInterfaceModels(registry);
}

} // namespace amsp

#endif // AMSP_INITALLDIALECTS_H
