// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=4 strategy=ddp' --canonicalize -split-input-file -verify-diagnostics | FileCheck %s

// Microbatches of 6 rows, which 4 ranks cannot share: the remark says so, with
// numbers of rows that would do.

// CHECK-LABEL: func.func public @main
// CHECK: amsp.all_gather %arg1 group = <[1:4]> dim = 0 : tensor<3x3xf32> -> tensor<12x3xf32>
// CHECK: stablehlo.tanh {{.*}} : tensor<2x6x3xf32>
func.func public @main(
    %w: tensor<4x3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<12x3xf32> loc("x")) -> (tensor<4x3xf32>, tensor<2x6x3xf32>) {
  // expected-remark @+1 {{gathers 'tensor<12x3xf32>' (144 bytes): 'stablehlo.reshape' makes 6 rows, which 4 ranks do not divide (4 or 8 would do), so every rank computes what follows on all of them}}
  %m = stablehlo.reshape %x : (tensor<12x3xf32>) -> tensor<2x6x3xf32>
  %y = stablehlo.tanh %m : tensor<2x6x3xf32>
  return %w, %y : tensor<4x3xf32>, tensor<2x6x3xf32>
}

// -----

// Fewer rows than ranks.

// CHECK-LABEL: func.func public @main
// CHECK: amsp.all_gather
// CHECK: stablehlo.tanh {{.*}} : tensor<3x3xf32>
func.func public @main(
    %w: tensor<4x3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<8x3xf32> loc("x")) -> (tensor<4x3xf32>, tensor<3x3xf32>) {
  // expected-remark @+1 {{'stablehlo.slice' makes 3 rows, which 4 ranks do not divide (4 would do), so every rank computes}}
  %m = stablehlo.slice %x [2:5, 0:3] : (tensor<8x3xf32>) -> tensor<3x3xf32>
  %y = stablehlo.tanh %m : tensor<3x3xf32>
  return %w, %y : tensor<4x3xf32>, tensor<3x3xf32>
}
