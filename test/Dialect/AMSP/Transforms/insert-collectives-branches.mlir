// RUN: amsp-opt %s --amsp-annotate-roles='roles=0=param,1=opt_state' --amsp-insert-collectives='levels=2 strategy=p=1,g=1,os=2' --canonicalize --cse -split-input-file | FileCheck %s

// A state is updated in one branch and handed on in the other: both have its
// pieces, and the gradient is reduced to pieces where it is made. The norm of
// the gradient, which one branch needs, is completed there.

// CHECK-LABEL: func.func public @update
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK-DAG: %[[G:.*]] = amsp.reduce_scatter sum %{{.*}} : tensor<5x3xf32> -> tensor<8xf32>
// CHECK: %[[NEW:.*]]:2 = "stablehlo.case"(%arg2) ({
// CHECK: %[[NORM:.*]] = amsp.all_reduce sum %{{.*}} : tensor<f32>
// CHECK: %[[S:.*]] = stablehlo.add %arg1, %{{.*}} : tensor<8xf32>
// CHECK: stablehlo.return %[[S]], %{{.*}} : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: }, {
// CHECK-NEXT: stablehlo.return %arg1, %[[ZERO]] : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: }) : (tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK: stablehlo.add %arg0, %[[NEW]]#1 : tensor<8xf32>
func.func public @update(
    %w: tensor<5x3xf32> {tf.aliasing_output = 0 : i32},
    %m: tensor<5x3xf32> {tf.aliasing_output = 1 : i32},
    %which: tensor<i32>, %x: tensor<8x5xf32>, %y: tensor<8x3xf32>)
    -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<5x3xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<8x5xf32>, tensor<8x3xf32>) -> tensor<5x3xf32>
  %new:2 = "stablehlo.case"(%which) ({
    %squares = stablehlo.multiply %g, %g : tensor<5x3xf32>
    %norm = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x3xf32>, tensor<f32>) -> tensor<f32>
    %norms = stablehlo.broadcast_in_dim %norm, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %clipped = stablehlo.divide %g, %norms : tensor<5x3xf32>
    %s = stablehlo.add %m, %clipped : tensor<5x3xf32>
    stablehlo.return %s, %s : tensor<5x3xf32>, tensor<5x3xf32>
  }, {
    stablehlo.return %m, %zeros : tensor<5x3xf32>, tensor<5x3xf32>
  }) : (tensor<i32>) -> (tensor<5x3xf32>, tensor<5x3xf32>)
  %next = stablehlo.add %w, %new#1 : tensor<5x3xf32>
  return %next, %new#0 : tensor<5x3xf32>, tensor<5x3xf32>
}

// -----

// Branches on a batch's rows stay on them; where they disagree, the result is
// whole.

// CHECK-LABEL: func.func public @rows
// CHECK: "stablehlo.case"(%arg2) ({
// CHECK: stablehlo.return %{{.*}}, %{{.*}} : tensor<4x5xf32>, tensor<8x5xf32>
// CHECK-NEXT: }, {
// CHECK: stablehlo.return %arg3, %{{.*}} : tensor<4x5xf32>, tensor<8x5xf32>
func.func public @rows(
    %w: tensor<8x5xf32> {tf.aliasing_output = 0 : i32},
    %m: tensor<8x5xf32> {tf.aliasing_output = 1 : i32},
    %which: tensor<i32>, %x: tensor<8x5xf32>)
    -> (tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>) {
  %r:2 = "stablehlo.case"(%which) ({
    %t = stablehlo.tanh %x : tensor<8x5xf32>
    stablehlo.return %t, %x : tensor<8x5xf32>, tensor<8x5xf32>
  }, {
    stablehlo.return %x, %w : tensor<8x5xf32>, tensor<8x5xf32>
  }) : (tensor<i32>) -> (tensor<8x5xf32>, tensor<8x5xf32>)
  return %w, %m, %r#0, %r#1 : tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>
}
