// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=4 strategy=zero2' --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

// All rows against all others. Each rank has its rows of the scores, in both
// directions; the other side is gathered, and its gradient is a sum over ranks.

// CHECK-LABEL: func.func public @main
// CHECK: %[[A:.*]] = stablehlo.dot_general %arg1, %{{.*}} : (tensor<6x4xf32>, tensor<4x2xf32>) -> tensor<6x2xf32>
// CHECK: %[[B:.*]] = amsp.all_gather %[[A]] group = <[1:4]> dim = 0 : tensor<6x2xf32> -> tensor<24x2xf32>
// CHECK: %[[S:.*]] = stablehlo.dot_general %[[A]], %[[B]], contracting_dims = [1] x [1] : (tensor<6x2xf32>, tensor<24x2xf32>) -> tensor<6x24xf32>
// CHECK-NOT: amsp.all_gather
// CHECK: %[[T:.*]] = stablehlo.tanh %[[S]] : tensor<6x24xf32>
// CHECK: %[[D1:.*]] = stablehlo.dot_general %[[T]], %[[B]], contracting_dims = [1] x [0] : (tensor<6x24xf32>, tensor<24x2xf32>) -> tensor<6x2xf32>
// CHECK: %[[D2:.*]] = stablehlo.dot_general %[[T]], %[[A]], contracting_dims = [0] x [0] : (tensor<6x24xf32>, tensor<6x2xf32>) -> tensor<24x2xf32>
// CHECK: %[[D:.*]] = amsp.all_reduce sum %[[D2]] group = <[1:4]> : tensor<24x2xf32>
// CHECK: amsp.local_slice %[[D]] group = <[1:4]> dim = 0 : tensor<24x2xf32> -> tensor<6x2xf32>
// CHECK-NOT: amsp.all_gather
// CHECK: return
func.func public @main(
    %w: tensor<4x2xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<24x4xf32> loc("x")) -> tensor<4x2xf32> {
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<24x4xf32>, tensor<4x2xf32>) -> tensor<24x2xf32>
  // expected-remark @+1 {{gathers 'tensor<24x2xf32>' (192 bytes): 'stablehlo.dot_general' has no local rule for an operand that is split(0)}}
  %s = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<24x2xf32>, tensor<24x2xf32>) -> tensor<24x24xf32>
  %t = stablehlo.tanh %s : tensor<24x24xf32>
  // expected-remark @+1 {{gathers 'tensor<24x2xf32>' (192 bytes): 'stablehlo.dot_general' has no local rule for an operand that is split(0)}}
  %d1 = stablehlo.dot_general %t, %a, contracting_dims = [1] x [0] : (tensor<24x24xf32>, tensor<24x2xf32>) -> tensor<24x2xf32>
  %d2 = stablehlo.dot_general %t, %a, contracting_dims = [0] x [0] : (tensor<24x24xf32>, tensor<24x2xf32>) -> tensor<24x2xf32>
  %d = stablehlo.add %d1, %d2 : tensor<24x2xf32>
  %g = stablehlo.dot_general %x, %d, contracting_dims = [0] x [0] : (tensor<24x4xf32>, tensor<24x2xf32>) -> tensor<4x2xf32>
  %w1 = stablehlo.subtract %w, %g : tensor<4x2xf32>
  return %w1 : tensor<4x2xf32>
}

// -----

// The norm of a matrix that is one of a stack of one: a scalar on the wire.

// CHECK-LABEL: func.func public @main
// CHECK: amsp.reduce_scatter
// CHECK: %[[R:.*]] = stablehlo.reshape %{{.*}} : (tensor<6xf32>) -> tensor<1x6xf32>
// CHECK: %[[M:.*]] = amsp.mask_padding %[[R]]
// CHECK: %[[N:.*]] = stablehlo.reduce(%[[M]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<1x6xf32>, tensor<f32>) -> tensor<1xf32>
// CHECK: amsp.all_reduce sum %[[N]] group = <[1:4]> : tensor<1xf32>
// CHECK-NOT: amsp.all_gather
// CHECK: return
func.func public @main(
    %w: tensor<7x3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<8x7xf32> loc("x")) -> tensor<7x3xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x7xf32>, tensor<7x3xf32>) -> tensor<8x3xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<8x7xf32>, tensor<8x3xf32>) -> tensor<7x3xf32>
  %one = stablehlo.reshape %g : (tensor<7x3xf32>) -> tensor<1x7x3xf32>
  %square = stablehlo.multiply %one, %one : tensor<1x7x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %norm = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<1x7x3xf32>, tensor<f32>) -> tensor<1xf32>
  %b = stablehlo.broadcast_in_dim %norm, dims = [0] : (tensor<1xf32>) -> tensor<1x7x3xf32>
  %u = stablehlo.divide %one, %b : tensor<1x7x3xf32>
  %update = stablehlo.reshape %u : (tensor<1x7x3xf32>) -> tensor<7x3xf32>
  %w1 = stablehlo.subtract %w, %update : tensor<7x3xf32>
  return %w1 : tensor<7x3xf32>
}
