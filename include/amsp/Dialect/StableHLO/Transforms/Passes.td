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

def ExpandInnerProducts : Pass<"amsp-expand-inner-products"> {
  let summary = "Turn contractions that only add up products into their sums";
  let description = [{
    A contraction without free dimensions (`jnp.vdot`, an inner product of two trees,
    of each row with another one) is a multiplication and a sum. As such it is
    computed on pieces of states and on rows of the batch alike: only its result is
    summed over ranks, and it is fused with what makes its operands. Numbers of less
    than 32 bits are multiplied and added in f32, as contractions do.

    ```mlir
    func.func @vdot(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> tensor<f32> {
      %0 = stablehlo.dot_general %x, %y, contracting_dims = [0, 1] x [0, 1] : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    ```
    becomes
    ```mlir
    func.func @vdot(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> tensor<f32> {
      %0 = stablehlo.multiply %x, %y : tensor<4x3xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<f32>
      return %1 : tensor<f32>
    }
    ```
  }];
  let dependentDialects = ["::amsp::stablehlo::StableHLODialect"];
}

#endif // AMSP_DIALECT_STABLEHLO_TRANSFORMS_PASSES_TD
