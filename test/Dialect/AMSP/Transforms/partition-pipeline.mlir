// RUN: amsp-opt %s --amsp-partition='levels=2 strategy=zero3' | FileCheck %s
// RUN: amsp-opt %s --amsp-partition='levels=2 strategy=zero3' -o %t.1
// RUN: amsp-opt %s --amsp-partition='levels=2 strategy=zero3' -o %t.2
// RUN: cmp %t.1 %t.2

// From what JAX exports to the program of one rank: calls are inlined, chlo ops
// expanded, roles found, and local ops lowered. Twice the same.

// CHECK: module @jit_step attributes {amsp.levels = array<i64: 2>, amsp.strategy = {g = array<i64: 2>, os = array<i64: 2>, p = array<i64: 2>}
module @jit_step {
  // CHECK-LABEL: func.func public @main
  // CHECK-SAME: %[[W:arg0]]: tensor<2xf32>
  // CHECK-SAME: %[[X:arg1]]: tensor<2x3xf32>
  // CHECK-NOT: call
  // CHECK: %[[G:.*]] = amsp.all_gather %[[W]] group = <[1:2]> parameter = 0 unit = "rest" {{.*}}: tensor<2xf32> -> tensor<3xf32>
  // CHECK: stablehlo.dot_general %[[X]], %[[G]]
  // CHECK: %[[S:.*]] = amsp.reduce_scatter sum %{{.*}} group = <[1:2]> parameter = 0 unit = "rest" : tensor<3xf32> -> tensor<2xf32>
  // CHECK-NOT: chlo
  // CHECK: stablehlo.multiply %[[S]], %[[S]] : tensor<2xf32>
  // The piece's padding does not reach the norm.
  // CHECK: amsp.group_index group = <[1:2]>
  // CHECK: stablehlo.select
  // CHECK: stablehlo.reduce
  // CHECK: amsp.all_reduce sum %{{.*}} group = <[1:2]> : tensor<f32>
  // CHECK-NOT: func.func private
  func.func public @main(%w: tensor<3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
                         %x: tensor<4x3xf32> loc("x")) -> tensor<3xf32> {
    %y = call @predict(%x, %w) : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4xf32>
    %g = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32>
    %square = chlo.square %g : tensor<3xf32> -> tensor<3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %norm = stablehlo.sqrt %sum : tensor<f32>
    %norms = stablehlo.broadcast_in_dim %norm, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %unit = stablehlo.divide %g, %norms : tensor<3xf32>
    %w1 = stablehlo.subtract %w, %unit : tensor<3xf32>
    return %w1 : tensor<3xf32>
  }
  func.func private @predict(%x: tensor<4x3xf32>, %w: tensor<3xf32>) -> tensor<4xf32> {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
