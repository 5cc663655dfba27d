//===- Canonicalizer.h - Canonicalization of large programs -----*- C++ -*-===//

#ifndef AMSP_CONVERSION_CANONICALIZER_H
#define AMSP_CONVERSION_CANONICALIZER_H

#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/Passes.h"

namespace amsp {

/// Upstream's canonicalizer without what takes more than linear time in
/// structured programs: all regions have one block, so there are none to
/// simplify; and equal carries of a loop, which exports do not have, are looked
/// for among all pairs whenever the loop's body changes.
inline std::unique_ptr<mlir::Pass> createProgramCanonicalizer() {
  mlir::GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(
      mlir::GreedySimplifyRegionLevel::Disabled);
  return mlir::createCanonicalizerPass(
      config, {"(anonymous namespace)::RemoveDuplicateSuccessorInputUses"});
}

} // namespace amsp

#endif // AMSP_CONVERSION_CANONICALIZER_H
