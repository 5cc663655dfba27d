// RUN: amsp-opt %s --amsp-annotate-roles='batch-args=4 state-args=2=1,0=0 roles=1=constant' | FileCheck %s

// What the user says counts.

// CHECK-LABEL: func.func public @main
// CHECK-SAME: %arg0: tensor<3x3xf32> {amsp.result = 0 : i64, amsp.role = #amsp.role<param>
// CHECK-SAME: %arg1: tensor<3x3xf32> {amsp.role = #amsp.role<constant>}
// CHECK-SAME: %arg2: tensor<f32> {amsp.result = 1 : i64, amsp.role = #amsp.role<state>}
// CHECK-SAME: %arg3: tensor<f32> {amsp.role = #amsp.role<constant>}
// CHECK-SAME: %arg4: tensor<8x3xf32> {amsp.role = #amsp.role<batch>}
func.func public @main(%w: tensor<3x3xf32> {tf.aliasing_output = 0 : i32}, %f: tensor<3x3xf32>, %a: tensor<f32>, %b: tensor<f32>, %x: tensor<8x3xf32>)
    -> (tensor<3x3xf32>, tensor<f32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x3xf32>) -> tensor<8x3xf32>
  %z = stablehlo.dot_general %x, %f, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x3xf32>) -> tensor<8x3xf32>
  %yz = stablehlo.add %y, %z : tensor<8x3xf32>
  %g = stablehlo.dot_general %x, %yz, contracting_dims = [0] x [0] : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<3x3xf32>
  return %g, %b : tensor<3x3xf32>, tensor<f32>
}
