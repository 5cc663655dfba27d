//===- ExportStep.cpp - The symbol of a compiled step ---------------------===//

#include "HostConstants.h"
#include "amsp/Target/CPU/Passes.h"

namespace amsp {
#define GEN_PASS_DEF_EXPORTSTEP
#include "amsp/Target/CPU/Passes.h.inc"
} // namespace amsp

using namespace mlir;
using namespace amsp;

namespace {
struct ExportStep : amsp::impl::ExportStepBase<ExportStep> {
  using ExportStepBase::ExportStepBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto manifest = module->getAttrOfType<StringAttr>(kManifestAttr);
    if (!manifest || !module.lookupSymbol<LLVM::LLVMFuncOp>(kExecuteFunction)) {
      module.emitError("no manifest or no function @") << kExecuteFunction;
      return signalPassFailure();
    }
    HostConstants(module).addStep(manifest, kExecuteFunction);
  }
};
} // namespace
