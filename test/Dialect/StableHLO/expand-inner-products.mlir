// RUN: amsp-opt %s --amsp-expand-inner-products | FileCheck %s

// CHECK-LABEL: func.func @whole
// CHECK: %[[P:.*]] = stablehlo.multiply %arg0, %arg1 : tensor<4x3xf32>
// CHECK: stablehlo.reduce(%[[P]] init: %{{.*}}) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NOT: dot_general
func.func @whole(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> tensor<f32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1, 0] x [1, 0] : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Of each row; narrow numbers in f32.
// CHECK-LABEL: func.func @rows
// CHECK-DAG: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<4x3xbf16>) -> tensor<4x3xf32>
// CHECK-DAG: %[[Y:.*]] = stablehlo.convert %arg1 : (tensor<4x3xbf16>) -> tensor<4x3xf32>
// CHECK: %[[P:.*]] = stablehlo.multiply %[[X]], %[[Y]] : tensor<4x3xf32>
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[P]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK: stablehlo.convert %[[S]] : (tensor<4xf32>) -> tensor<4xbf16>
func.func @rows(%x: tensor<4x3xbf16>, %y: tensor<4x3xbf16>) -> tensor<4xbf16> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x3xbf16>, tensor<4x3xbf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// Not these: dimensions that meet others, free ones, a result out of order.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: stablehlo.dot_general
// CHECK-NOT: stablehlo.reduce
func.func @others(%x: tensor<3x3xf32>, %y: tensor<3x3xf32>, %z: tensor<4x2x3xf32>) -> (tensor<f32>, tensor<3x3xf32>, tensor<2x4xf32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0, 1] x [1, 0] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<f32>
  %1 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = stablehlo.dot_general %z, %z, batching_dims = [1, 0] x [1, 0], contracting_dims = [2] x [2] : (tensor<4x2x3xf32>, tensor<4x2x3xf32>) -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<f32>, tensor<3x3xf32>, tensor<2x4xf32>
}
