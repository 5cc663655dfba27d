// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2 strategy=zero3' --canonicalize -verify-diagnostics | FileCheck %s

// Rows of the batch that are compared with each other are gathered.

// CHECK-LABEL: func.func public @main
func.func public @main(
    %w: tensor<4x3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<4x3xf32> loc("x")) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: %[[X:.*]] = amsp.all_gather %arg1 group = <[1:2]> dim = 0 : tensor<2x3xf32> -> tensor<4x3xf32>
  // CHECK: "stablehlo.sort"(%[[X]]) <{dimension = 0 : i64}>
  // expected-remark @+1 {{gathers 'tensor<4x3xf32>' (48 bytes): 'stablehlo.sort' has no local rule for an operand that is split(0)}}
  %s = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // expected-remark @+1 {{gathers 'tensor<4x3xf32>' (48 bytes): 'stablehlo.reduce_window' has no local rule for an operand that is split(0)}}
  %c = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[3, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 4, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return %w, %s, %c : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
}
