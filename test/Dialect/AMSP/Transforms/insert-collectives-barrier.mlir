// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2 strategy=zero3' --canonicalize -verify-diagnostics | FileCheck %s

// What jax.checkpoint recomputes lies behind a barrier. A parameter bypasses it
// and is gathered for its uses, as anywhere else; activations do not.

// CHECK-LABEL: func.func public @main
func.func public @main(
    %w: tensor<4x4xf32> {tf.aliasing_output = 0 : i32} loc("params['w']"),
    %x: tensor<2x4xf32> loc("x")) -> (tensor<4x4xf32>, tensor<2x4xf32>) {
  // CHECK: %[[W:.*]] = amsp.all_gather %arg0 group = <[1:2]> parameter = 0 unit = "rest"
  // CHECK: %[[Y:.*]] = stablehlo.dot_general %arg1, %[[W]],
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  // CHECK: %[[B:.*]] = stablehlo.optimization_barrier %[[Y]] : tensor<1x4xf32>
  %b:2 = stablehlo.optimization_barrier %y, %w : tensor<2x4xf32>, tensor<4x4xf32>
  // CHECK: stablehlo.dot_general %[[B]],
  %z = stablehlo.dot_general %b#0, %b#1, contracting_dims = [1] x [0]
      : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %w, %z : tensor<4x4xf32>, tensor<2x4xf32>
}
