//===- Passes.h - Passes that optimise a step's communication ---*- C++ -*-===//

#ifndef AMSP_COMMUNICATION_PASSES_H
#define AMSP_COMMUNICATION_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace amsp {

class AMSPDialect;

#define GEN_PASS_DECL
#include "amsp/Communication/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "amsp/Communication/Passes.h.inc"

/// What the pipeline below needs to know.
struct CommunicateOptions {};

/// From the program of one rank, as amsp-partition leaves it, to the same
/// program with its collectives merged, ordered and overlapped.
void buildCommunicatePipeline(mlir::OpPassManager &pm,
                              const CommunicateOptions &options);
/// Registers it as `amsp-communicate`.
void registerCommunicatePipeline();

} // namespace amsp

#endif // AMSP_COMMUNICATION_PASSES_H
