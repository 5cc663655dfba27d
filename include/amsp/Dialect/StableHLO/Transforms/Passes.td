//===- Passes.td - Passes on StableHLO ------------------------*- tablegen -*-===//

#ifndef AMSP_DIALECT_STABLEHLO_TRANSFORMS_PASSES_TD
#define AMSP_DIALECT_STABLEHLO_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def LegalizeCHLO : Pass<"amsp-legalize-chlo"> {
  let summary = "Turn the ops of chlo into those of StableHLO";
  let description = [{
    Exports contain a few ops of the `chlo` dialect where StableHLO has no single
    op. Later passes see StableHLO only, but for functions that code generation
    has as they are: `erf`, `erfc`, the hyperbolic functions and the inverses of
    these and of the trigonometric ones. `erf_inv`, `lgamma`, `digamma`, `zeta`
    and `polygamma` become formulas, evaluated in f32 at least; `top_k` a sort.

    ```mlir
    func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.multiply %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::amsp::stablehlo::StableHLODialect"];
}

#endif // AMSP_DIALECT_STABLEHLO_TRANSFORMS_PASSES_TD
