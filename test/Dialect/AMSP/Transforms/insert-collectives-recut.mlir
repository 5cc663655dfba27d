// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2 strategy=ddp' --canonicalize --cse -split-input-file 2>/dev/null | FileCheck %s

// Microbatches of contiguous rows lie on some ranks only: the batch is gathered
// once, before the loop, and each microbatch is cut along its rows.

// CHECK-LABEL: func.func public @microbatches
// CHECK: %[[X:.*]] = amsp.all_gather %arg1 {{.*}} : tensor<6x3xf32> -> tensor<12x3xf32>
// CHECK: %[[M:.*]] = stablehlo.reshape %[[X]] : (tensor<12x3xf32>) -> tensor<3x4x3xf32>
// CHECK: %[[C:.*]] = amsp.local_slice %[[M]] {{.*}} dim = 1 : tensor<3x4x3xf32> -> tensor<3x2x3xf32>
// CHECK: stablehlo.while
// CHECK: stablehlo.dynamic_slice %[[C]], {{.*}} sizes = [1, 2, 3]
// CHECK: amsp.all_reduce
func.func public @microbatches(
    %w: tensor<3xf32> {tf.aliasing_output = 0 : i32},
    %x: tensor<12x3xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<3xf32>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<3> : tensor<i32>
  %m = stablehlo.reshape %x : (tensor<12x3xf32>) -> tensor<3x4x3xf32>
  %g:2 = stablehlo.while(%i = %first, %sum = %zeros) : tensor<i32>, tensor<3xf32>
    cond {
      %c = stablehlo.compare LT, %i, %count, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %s = stablehlo.dynamic_slice %m, %i, %first, %first, sizes = [1, 4, 3] : (tensor<3x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x3xf32>
      %r = stablehlo.reshape %s : (tensor<1x4x3xf32>) -> tensor<4x3xf32>
      %wr = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
      %p = stablehlo.multiply %r, %wr : tensor<4x3xf32>
      %d = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
      %a = stablehlo.add %sum, %d : tensor<3xf32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %a : tensor<i32>, tensor<3xf32>
    }
  %new = stablehlo.subtract %w, %g#1 : tensor<3xf32>
  return %new : tensor<3xf32>
}

// -----

// Two views joined along the batch: what follows is split again.

// CHECK-LABEL: func.func public @views
// CHECK: stablehlo.concatenate {{.*}} -> tensor<8x3xf32>
// CHECK: amsp.local_slice {{.*}} dim = 0 : tensor<8x3xf32> -> tensor<4x3xf32>
// CHECK: stablehlo.tanh {{.*}} : tensor<4x3xf32>
func.func public @views(
    %w: tensor<4x3xf32> {tf.aliasing_output = 0 : i32},
    %x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<8x3xf32>) {
  %z = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %t = stablehlo.tanh %z : tensor<8x3xf32>
  return %w, %t : tensor<4x3xf32>, tensor<8x3xf32>
}
