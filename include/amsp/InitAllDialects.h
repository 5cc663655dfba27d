//===- InitAllDialects.h - Registers the project's dialects -----*- C++ -*-===//

#ifndef AMSP_INITALLDIALECTS_H
#define AMSP_INITALLDIALECTS_H

#include "amsp/Dialect/StableHLO/IR/CHLOOps.h"
#include "amsp/Dialect/StableHLO/IR/StableHLODialect.h"

namespace amsp {

/// Every dialect that the project declares; upstream's are not among them.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<chlo::CHLODialect, stablehlo::StableHLODialect>();
}

} // namespace amsp

#endif // AMSP_INITALLDIALECTS_H
