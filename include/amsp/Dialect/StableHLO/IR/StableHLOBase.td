//===- StableHLOBase.td - What the files of ops share ---------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_IR_STABLEHLOBASE_TD
#define AMSP_DIALECT_STABLEHLO_IR_STABLEHLOBASE_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "amsp/Dialect/StableHLO/IR/StableHLOAttributes.td"
include "amsp/Dialect/StableHLO/IR/StableHLODialect.td"
include "amsp/Dialect/StableHLO/IR/StableHLOTypes.td"

class StableHLO_Op<string mnemonic, list<Trait> traits = []>
    : Op<StableHLO_Dialect, mnemonic, traits>;

// An element of a result depends only on the operands' elements at the same
// index, and on rank-0 operands: `op->hasTrait<amsp::stablehlo::Elementwise>()`.
def StableHLO_Elementwise : NativeOpTrait<"Elementwise"> {
  let cppNamespace = "::amsp::stablehlo";
}

// Checks operands and results with the op's `inferReturnTypes`. It precedes the
// interface, whose own check would add a second error to each.
def StableHLO_InferredTypesTrait : NativeOpTrait<"InferredTypes"> {
  let cppNamespace = "::amsp::stablehlo";
}

// The op's `inferReturnTypes` also makes its builders.
def StableHLO_InferredTypes
    : TraitList<[StableHLO_InferredTypesTrait, InferTypeOpAdaptor]>;

#endif // AMSP_DIALECT_STABLEHLO_IR_STABLEHLOBASE_TD
