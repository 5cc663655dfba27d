// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-lower-local-ops))' | FileCheck %s

// CHECK-LABEL: func.func @flat_slice
func.func @flat_slice(%x: tensor<5xf32>) -> tensor<2xf32> {
  // Pieces of 2 on 3 ranks: one element of padding, so that the last slice is
  // not moved back.
  // CHECK: %[[P:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [0], high = [1], interior = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<6xf32>
  // CHECK: %[[I:.*]] = amsp.group_index group = <[1:3]> : tensor<i32>
  // CHECK: %[[TWO:.*]] = stablehlo.constant dense<2> : tensor<i32>
  // CHECK: %[[S:.*]] = stablehlo.multiply %[[I]], %[[TWO]] : tensor<i32>
  // CHECK: stablehlo.dynamic_slice %[[P]], %[[S]], sizes = [2] : (tensor<6xf32>, tensor<i32>) -> tensor<2xf32>
  %0 = amsp.local_slice %x group = <[1:3]> : tensor<5xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @split_slice
func.func @split_slice(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  // CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: stablehlo.dynamic_slice %arg0, %[[ZERO]], %{{.*}}, sizes = [3, 2]
  %0 = amsp.local_slice %x group = <[1:2]> dim = 1 : tensor<3x4xf32> -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @one_rank
func.func @one_rank(%x: tensor<3x4xf32>, %p: tensor<12xf32>) -> (tensor<12xf32>, tensor<3x4xf32>) {
  // CHECK: stablehlo.reshape %arg0 : (tensor<3x4xf32>) -> tensor<12xf32>
  %0 = amsp.local_slice %x group = <[]> : tensor<3x4xf32> -> tensor<12xf32>
  // CHECK: stablehlo.reshape %arg1 : (tensor<12xf32>) -> tensor<3x4xf32>
  %1 = amsp.all_gather %p group = <[]> : tensor<12xf32> -> tensor<3x4xf32>
  return %0, %1 : tensor<12xf32>, tensor<3x4xf32>
}

// CHECK-LABEL: func.func @one_rank_variadic
func.func @one_rank_variadic(%p: tensor<7xf32>, %q: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK: stablehlo.slice %arg0 [0:6]
  // CHECK: %[[P:.*]] = stablehlo.reshape %{{.*}} : (tensor<6xf32>) -> tensor<2x3xf32>
  // CHECK: return %[[P]], %arg1
  %0:2 = amsp.all_gather %p, %q group = <[]> dim = [none, 1] : tensor<7xf32>, tensor<2x3xf32> -> tensor<2x3xf32>, tensor<2x3xf32>
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @mask
func.func @mask(%x: tensor<2xf32>, %init: tensor<f32>) -> tensor<2xf32> {
  // CHECK: %[[POS:.*]] = stablehlo.iota dim = 0 : tensor<2xi32>
  // CHECK: %[[N:.*]] = stablehlo.constant dense<5> : tensor<i32>
  // CHECK: %[[LEFT:.*]] = stablehlo.subtract %[[N]], %{{.*}} : tensor<i32>
  // CHECK: %[[LIMIT:.*]] = stablehlo.broadcast_in_dim %[[LEFT]], dims = [] : (tensor<i32>) -> tensor<2xi32>
  // CHECK: %[[V:.*]] = stablehlo.compare LT, %[[POS]], %[[LIMIT]], SIGNED
  // CHECK: %[[INIT:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2xf32>
  // CHECK: stablehlo.select %[[V]], %arg0, %[[INIT]]
  %0 = amsp.mask_padding %x, %init group = <[1:3]> elements = 5 : tensor<2xf32>, tensor<f32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @mask_rows
func.func @mask_rows(%x: tensor<4x2xf32>, %init: tensor<f32>) -> tensor<4x2xf32> {
  // CHECK: %[[POS:.*]] = stablehlo.iota dim = 0 : tensor<4x2xi32>
  // CHECK: stablehlo.constant dense<4> : tensor<i32>
  // CHECK: %[[N:.*]] = stablehlo.constant dense<10> : tensor<i32>
  // CHECK: %[[LEFT:.*]] = stablehlo.subtract %[[N]], %{{.*}} : tensor<i32>
  // CHECK: %[[LIMIT:.*]] = stablehlo.broadcast_in_dim %[[LEFT]], dims = [] : (tensor<i32>) -> tensor<4x2xi32>
  // CHECK: stablehlo.compare LT, %[[POS]], %[[LIMIT]], SIGNED
  %0 = amsp.mask_padding %x, %init group = <[1:3]> elements = 10 dim = 0 : tensor<4x2xf32>, tensor<f32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @first
func.func @first(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: %[[I:.*]] = amsp.group_index group = <[2:2]> : tensor<i32>
  // CHECK: %[[F:.*]] = stablehlo.compare EQ, %[[I]], %{{.*}}, SIGNED
  // CHECK: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
  // CHECK: stablehlo.select %[[F]], %arg0, %[[Z]]
  %0 = amsp.keep_on_first %x group = <[2:2]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
