// RUN: amsp-opt %s --amsp-split-microbatches=count=2 --canonicalize --cse -split-input-file | FileCheck %s

// Loss and gradient are added up over every second row; the update comes once,
// behind the loop. What is made of the parameter alone is in the loop, as in
// exported ones.

// CHECK-LABEL: func.func @mean
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x3xf32>
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK-DAG: %[[RATE:.*]] = stablehlo.constant dense<1.000000e-01> : tensor<4x3xf32>
// CHECK-DAG: %[[TWO:.*]] = stablehlo.constant dense<2> : tensor<i32>
// CHECK-DAG: %[[C0:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG: %[[ZEROS:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4x3xf32>
// CHECK: %[[ROWS:.*]] = stablehlo.reshape %[[X]] : (tensor<8x4xf32>) -> tensor<4x2x4xf32>
// CHECK: %[[SUMS:.*]]:3 = stablehlo.while(%[[I:[^ ]+]] = %[[C0]], %[[LOSS:[^ ]+]] = %[[ZERO]], %[[TOTAL:[^ ]+]] = %[[ZEROS]])
// CHECK: stablehlo.compare LT, %[[I]], %[[TWO]]
// CHECK: } do {
// CHECK: %[[PART:.*]] = stablehlo.dynamic_slice %[[ROWS]], %[[C0]], %[[I]], %[[C0]], sizes = [4, 1, 4]
// CHECK: %[[BATCH:.*]] = stablehlo.reshape %[[PART]] : (tensor<4x1x4xf32>) -> tensor<4x4xf32>
// CHECK: %[[NARROW:.*]] = stablehlo.convert %[[BATCH]]
// CHECK: stablehlo.convert %[[W]]
// CHECK: stablehlo.dot_general %[[NARROW]], {{.*}} -> tensor<4x3xbf16>
// CHECK-NOT: stablehlo.divide
// CHECK: %[[NEXTLOSS:.*]] = stablehlo.add %[[LOSS]], %{{.*}} : tensor<f32>
// CHECK: %[[GRADIENT:.*]] = stablehlo.dot_general
// CHECK: %[[WIDE:.*]] = stablehlo.convert %[[GRADIENT]] : (tensor<4x3xbf16>) -> tensor<4x3xf32>
// CHECK: %[[NEXT:.*]] = stablehlo.add %[[TOTAL]], %[[WIDE]] : tensor<4x3xf32>
// CHECK: stablehlo.return %{{.*}}, %[[NEXTLOSS]], %[[NEXT]]
// CHECK: %[[MEAN:.*]] = stablehlo.divide %[[SUMS]]#1, %{{.*}} : tensor<f32>
// CHECK: %[[STEP:.*]] = stablehlo.multiply %[[SUMS]]#2, %[[RATE]]
// CHECK: %[[NEW:.*]] = stablehlo.subtract %[[W]], %[[STEP]]
// CHECK: return %[[NEW]], %[[MEAN]]
func.func @mean(
    %w: tensor<4x3xf32> {amsp.role = #amsp.role<param>, amsp.result = 0 : i64},
    %x: tensor<8x4xf32> {amsp.role = #amsp.role<batch>}) -> (tensor<4x3xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %count = stablehlo.constant dense<24.0> : tensor<f32>
  %rate = stablehlo.constant dense<0.1> : tensor<4x3xf32>
  %cast = stablehlo.convert %w : (tensor<4x3xf32>) -> tensor<4x3xbf16>
  %rows = stablehlo.convert %x : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %y = stablehlo.dot_general %rows, %cast, contracting_dims = [1] x [0] : (tensor<8x4xbf16>, tensor<4x3xbf16>) -> tensor<8x3xbf16>
  %wide = stablehlo.convert %y : (tensor<8x3xbf16>) -> tensor<8x3xf32>
  %sum = stablehlo.reduce(%wide init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x3xf32>, tensor<f32>) -> tensor<f32>
  %loss = stablehlo.divide %sum, %count : tensor<f32>
  %g = stablehlo.dot_general %rows, %y, contracting_dims = [0] x [0] : (tensor<8x4xbf16>, tensor<8x3xbf16>) -> tensor<4x3xbf16>
  %gwide = stablehlo.convert %g : (tensor<4x3xbf16>) -> tensor<4x3xf32>
  %step = stablehlo.multiply %gwide, %rate : tensor<4x3xf32>
  %new = stablehlo.subtract %w, %step : tensor<4x3xf32>
  return %new, %loss : tensor<4x3xf32>, tensor<f32>
}

// -----

// Results of rows are collected, and put back in order. The number of a row is
// that of the batch.

// CHECK-LABEL: func.func @of_rows
// CHECK-DAG: %[[TWO:.*]] = stablehlo.constant dense<2> : tensor<4x3xi32>
// CHECK: stablehlo.while(%[[I:[^ ]+]] = %{{[^,]*}}, %[[STACK:[^ ]+]] = %{{.*}}) : tensor<i32>, tensor<2x4x3xf32>
// CHECK: } do {
// CHECK: %[[ITERATION:.*]] = stablehlo.broadcast_in_dim %[[I]]
// CHECK: %[[ROW:.*]] = stablehlo.iota dim = 0 : tensor<4x3xi32>
// CHECK: %[[EVERY:.*]] = stablehlo.multiply %[[ROW]], %[[TWO]] : tensor<4x3xi32>
// CHECK: stablehlo.add %[[EVERY]], %[[ITERATION]]
// CHECK: stablehlo.dynamic_update_slice %[[STACK]], %{{.*}}, %[[I]], {{.*}} : (tensor<2x4x3xf32>, tensor<1x4x3xf32>
// CHECK: %[[ROWS:.*]] = stablehlo.transpose %{{.*}}, dims = [1, 0, 2] : (tensor<2x4x3xf32>) -> tensor<4x2x3xf32>
// CHECK: %[[RESULT:.*]] = stablehlo.reshape %[[ROWS]] : (tensor<4x2x3xf32>) -> tensor<8x3xf32>
// CHECK: return %[[RESULT]]
func.func @of_rows(%x: tensor<8x3xf32> {amsp.role = #amsp.role<batch>}) -> tensor<8x3xf32> {
  %row = stablehlo.iota dim = 0 : tensor<8x3xi32>
  %number = stablehlo.convert %row : (tensor<8x3xi32>) -> tensor<8x3xf32>
  %0 = stablehlo.multiply %x, %number : tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----

// Neighbours are joined, so that a microbatch is a block of rows.

// CHECK-LABEL: func.func @pairs
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK: %[[BLOCKS:.*]] = stablehlo.reshape %[[X]] : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
// CHECK: stablehlo.dynamic_slice %[[BLOCKS]], %[[I:.*]], %[[C0:.*]], %[[C0]], sizes = [1, 4, 4]
// CHECK: stablehlo.reshape %{{.*}} : (tensor<4x4xf32>) -> tensor<2x2x4xf32>
func.func @pairs(%x: tensor<8x4xf32> {amsp.role = #amsp.role<batch>}) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %pairs = stablehlo.reshape %x : (tensor<8x4xf32>) -> tensor<4x2x4xf32>
  %product = stablehlo.reduce(%pairs init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<4x2x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %loss = stablehlo.reduce(%product init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
