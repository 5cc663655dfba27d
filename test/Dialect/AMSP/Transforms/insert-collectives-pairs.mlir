// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2 strategy=zero3' --canonicalize -verify-diagnostics | FileCheck %s

// Each row meets all rows: the rows are gathered, not what they are repeated to.

// CHECK-LABEL: func.func public @main
// CHECK-SAME: %arg1: tensor<2x3xf32>
func.func public @main(
    %w: tensor<4x3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<4x3xf32> loc("x")) -> (tensor<4x3xf32>, tensor<4x4x3xf32>) {
  // CHECK-DAG: %[[OWN:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x4x3xf32>
  // CHECK-DAG: %[[X:.*]] = amsp.all_gather %arg1 group = <[1:2]> dim = 0 : tensor<2x3xf32> -> tensor<4x3xf32>
  // CHECK-DAG: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[X]], dims = [1, 2] : (tensor<4x3xf32>) -> tensor<2x4x3xf32>
  // CHECK: stablehlo.subtract %[[OWN]], %[[ALL]] : tensor<2x4x3xf32>
  // CHECK-NOT: all_gather
  %a = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<4x3xf32>) -> tensor<4x4x3xf32>
  %b = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<4x3xf32>) -> tensor<4x4x3xf32>
  // expected-remark @+1 {{gathers 'tensor<4x3xf32>' (48 bytes): 'stablehlo.subtract' has no local rule for an operand that is split(0)}}
  %y = stablehlo.subtract %a, %b : tensor<4x4x3xf32>
  return %w, %y : tensor<4x3xf32>, tensor<4x4x3xf32>
}
