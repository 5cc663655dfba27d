// RUN: amsp-opt %s --amsp-lower-to-linalg | FileCheck %s

// Momentum and parameter in one pass, over one loop.
// CHECK-LABEL: func.func @update
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]} ins({{.*}}) outs(%{{.*}}, %{{.*}} : tensor<403xf32>, tensor<403xf32>)
// CHECK-NOT: linalg.generic
func.func @update(%p: tensor<13x31xf32>, %m: tensor<13x31xf32>, %g: tensor<13x31xf32>) -> (tensor<13x31xf32>, tensor<13x31xf32>) {
  %c = stablehlo.constant dense<0.9> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<13x31xf32>
  %1 = stablehlo.multiply %m, %0 : tensor<13x31xf32>
  %2 = stablehlo.add %1, %g : tensor<13x31xf32>
  %3 = stablehlo.subtract %p, %2 : tensor<13x31xf32>
  return %3, %2 : tensor<13x31xf32>, tensor<13x31xf32>
}

// The exponential is computed once, with its sum.
// CHECK-LABEL: func.func @softmax
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<24x16xf32>, tensor<24xf32>)
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK-NOT: math.exp
func.func @softmax(%x: tensor<24x16xf32>) -> tensor<24x16xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<24x16xf32>, tensor<f32>) -> tensor<24xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<24xf32>) -> tensor<24x16xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<24x16xf32>
  %3 = stablehlo.exponential %2 : tensor<24x16xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<24x16xf32>, tensor<f32>) -> tensor<24xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<24xf32>) -> tensor<24x16xf32>
  %6 = stablehlo.divide %3, %5 : tensor<24x16xf32>
  return %6 : tensor<24x16xf32>
}

// A running value over a dimension of size 1 is not carried into a larger
// loop.
// CHECK-LABEL: func.func @unit_reduction
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<3x4xf32>)
// CHECK: ^bb0(%[[A:.+]]: f32, %[[B:.+]]: f32, %{{.*}}: f32):
// CHECK-NOT: linalg.generic
func.func @unit_reduction(%x: tensor<3x1xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<3xf32>) -> tensor<3x4xf32>
  %2 = stablehlo.add %1, %y : tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}

// Two results that start as zeros have zeros of their own.
// CHECK-LABEL: func.func @zeros
// CHECK-COUNT-2: linalg.fill
func.func @zeros() -> (tensor<8xf32>, tensor<8xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<8xf32>
  return %c, %c : tensor<8xf32>, tensor<8xf32>
}

// A gradient of one layer of a stack: the contraction stays one, whatever made
// its operands and however its result is reshaped.
// CHECK-LABEL: func.func @layer_gradient
// CHECK: linalg.generic
// CHECK: %[[G:.*]] = linalg.contract
// CHECK: tensor.expand_shape %[[G]]
// CHECK-NOT: linalg.generic
func.func @layer_gradient(%x: tensor<6x3x5xf32>, %y: tensor<6x3x7xf32>) -> (tensor<1x7x5xf32>, tensor<6x3x5xf32>) {
  %0 = stablehlo.tanh %x : tensor<6x3x5xf32>
  %1 = stablehlo.dot_general %0, %y, contracting_dims = [0, 1] x [0, 1] : (tensor<6x3x5xf32>, tensor<6x3x7xf32>) -> tensor<5x7xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<5x7xf32>) -> tensor<7x5xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [1, 2] : (tensor<7x5xf32>) -> tensor<1x7x5xf32>
  return %3, %0 : tensor<1x7x5xf32>, tensor<6x3x5xf32>
}

// A mask in front of a loop is made of positions where the loop selects by it:
// it is the loop's own, of which a copy of an iteration has an equal one.
// CHECK-LABEL: func.func @mask_before_loop
// CHECK-NOT: tensor<{{.*}}xi1>
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK: arith.cmpi sge
// CHECK: arith.select
func.func @mask_before_loop(%x: tensor<16x16xf32>, %low: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %row = stablehlo.iota dim = 0 : tensor<16x16xi32>
  %column = stablehlo.iota dim = 1 : tensor<16x16xi32>
  %mask = stablehlo.compare GE, %row, %column : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
  %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<16x16xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.select %mask, %v, %low : tensor<16x16xi1>, tensor<16x16xf32>
    %2 = stablehlo.exponential %1 : tensor<16x16xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<16x16xf32>
  }
  return %0#1 : tensor<16x16xf32>
}
