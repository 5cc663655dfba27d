// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2 strategy=zero2' --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

// Two iterations of a matrix update. The first iterate is gathered where it is
// made, and the second one made whole; moments and parameters stay in pieces.

// CHECK-LABEL: func.func public @main
// CHECK: %[[M:.*]] = stablehlo.add {{.*}} : tensor<8xf32>
// CHECK: %[[P:.*]] = stablehlo.tanh %[[M]] : tensor<8xf32>
// CHECK: %[[X:.*]] = amsp.all_gather %[[P]] group = <[1:2]> : tensor<8xf32> -> tensor<4x4xf32>
// CHECK-NOT: amsp.all_gather
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[X]], %[[X]]
// CHECK: %[[X1:.*]] = stablehlo.add %[[X]], %[[D]] : tensor<4x4xf32>
// CHECK: stablehlo.dot_general %[[X1]], %[[X1]]
// CHECK-NOT: amsp.all_gather
// CHECK: %[[W:.*]] = stablehlo.subtract %arg0, %{{.*}} : tensor<8xf32>
// CHECK: return %[[W]], %[[M]]
func.func public @main(
    %w: tensor<4x4xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %m: tensor<4x4xf32> {tf.aliasing_output = 1 : i32} loc("m"),
    %x: tensor<6x4xf32> loc("x")) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  %m1 = stablehlo.add %m, %g : tensor<4x4xf32>
  // expected-remark @+1 {{gathers 'tensor<4x4xf32>' (64 bytes): ops without a local rule take it whole, and what follows from it}}
  %0 = stablehlo.tanh %m1 : tensor<4x4xf32>
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x4xf32>
  %3 = stablehlo.dot_general %2, %2, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = stablehlo.add %2, %3 : tensor<4x4xf32>
  %w1 = stablehlo.subtract %w, %4 : tensor<4x4xf32>
  return %w1, %m1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// What only one op takes whole stays in pieces behind it.

// CHECK-LABEL: func.func public @main
// CHECK: %[[P:.*]] = stablehlo.tanh {{.*}} : tensor<8xf32>
// CHECK: amsp.all_gather %[[P]]
// CHECK: stablehlo.add %[[P]], %{{.*}} : tensor<8xf32>
func.func public @main(
    %w: tensor<4x4xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %m: tensor<4x4xf32> {tf.aliasing_output = 1 : i32} loc("m"),
    %x: tensor<6x4xf32> loc("x")) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  %m1 = stablehlo.add %m, %g : tensor<4x4xf32>
  %0 = stablehlo.tanh %m1 : tensor<4x4xf32>
  // expected-remark @+1 {{'stablehlo.dot_general' has no local rule for an operand that is flat(os)}}
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x4xf32>
  %w1 = stablehlo.subtract %w, %2 : tensor<4x4xf32>
  return %w1, %m1 : tensor<4x4xf32>, tensor<4x4xf32>
}
