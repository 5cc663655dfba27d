// RUN: amsp-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @identities
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0
func.func @identities(%x: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) {
  %0 = stablehlo.convert %x : tensor<4x1xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %2 = stablehlo.reshape %x : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %3 = stablehlo.transpose %x, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = stablehlo.slice %x [0:4, 0:1] : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = stablehlo.concatenate %x, dim = 0 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>
}

// A permutation of equal sizes is no identity.
// CHECK-LABEL: func.func @square
// CHECK: stablehlo.transpose
// CHECK: stablehlo.broadcast_in_dim
func.func @square(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @constants
// CHECK-DAG: %[[RESHAPED:.*]] = stablehlo.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>
// CHECK-DAG: %[[TRANSPOSED:.*]] = stablehlo.constant dense<5> : tensor<3x2xi32>
// CHECK-DAG: %[[SLICED:.*]] = stablehlo.constant dense<5> : tensor<1x3xi32>
// CHECK: return %[[RESHAPED]], %[[TRANSPOSED]], %[[SLICED]]
func.func @constants() -> (tensor<2x2xi32>, tensor<3x2xi32>, tensor<1x3xi32>) {
  %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %c_0 = stablehlo.constant dense<5> : tensor<2x3xi32>
  %0 = stablehlo.reshape %c : (tensor<4xi32>) -> tensor<2x2xi32>
  %1 = stablehlo.transpose %c_0, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %2 = stablehlo.slice %c_0 [1:2, 0:3] : (tensor<2x3xi32>) -> tensor<1x3xi32>
  return %0, %1, %2 : tensor<2x2xi32>, tensor<3x2xi32>, tensor<1x3xi32>
}
