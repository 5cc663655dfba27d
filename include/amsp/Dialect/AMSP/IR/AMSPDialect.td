//===- AMSPDialect.td - The amsp dialect -------------------*- tablegen -*-===//

#ifndef AMSP_DIALECT_AMSP_IR_AMSPDIALECT_TD
#define AMSP_DIALECT_AMSP_IR_AMSPDIALECT_TD

include "mlir/IR/OpBase.td"

def AMSP_Dialect : Dialect {
  let name = "amsp";
  let cppNamespace = "::amsp";
  let summary = "Placements of a training step on a grid of ranks, and the collectives between them";
  let description = [{
    The dialect says how the values of a training step are laid out over the
    ranks of a cluster (attributes), and holds the ops that a per-rank program
    needs beside its computation: collectives over groups of ranks.

    Attributes that passes put on arguments and results of the step:

    | attribute | where | meaning |
    |---|---|---|
    | `amsp.role` | arguments, results | `#amsp.role<param>`, ... |
    | `amsp.result` | state arguments | index of the result that is its new value |
    | `amsp.argument` | state results | index of the argument it updates |
    | `amsp.unit` | state arguments | unit whose strategy it follows |
    | `amsp.strategy` | state arguments, module | factors of the unit, or of all units: `{p = array<i64: 2, 1>, g = ..., os = ...}` |
    | `amsp.placement` | arguments, results | how the local value relates to the global one |
    | `amsp.global_type` | arguments, results | type of the global value |
    | `amsp.name` | arguments | text of the argument's location |
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

#endif // AMSP_DIALECT_AMSP_IR_AMSPDIALECT_TD
