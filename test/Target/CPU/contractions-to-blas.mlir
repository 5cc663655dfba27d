// RUN: amsp-opt %s --amsp-contractions-to-blas --canonicalize | FileCheck %s

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// CHECK-LABEL: func.func @overwrite
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[Y:.*]]: tensor<8x3xf32>)
func.func @overwrite(%x: tensor<4x8xf32>, %y: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[E:.*]] = tensor.empty()
  %e = tensor.empty() : tensor<4x3xf32>
  // CHECK-NOT: linalg.fill
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: amsp.contract %[[X]], %[[Y]] into %[[E]] maps
  %0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %y : tensor<4x8xf32>, tensor<8x3xf32>) outs(%z : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @accumulate
func.func @accumulate(%x: tensor<4x8xf32>, %y: tensor<8x3xf32>, %z: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK: amsp.contract accumulate
  %0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %y : tensor<4x8xf32>, tensor<8x3xf32>) outs(%z : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// BLAS has no integers.
// CHECK-LABEL: func.func @integers
func.func @integers(%x: tensor<4x8xi32>, %y: tensor<8x3xi32>, %z: tensor<4x3xi32>) -> tensor<4x3xi32> {
  // CHECK: linalg.generic
  // CHECK-NOT: amsp.contract
  %0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %y : tensor<4x8xi32>, tensor<8x3xi32>) outs(%z : tensor<4x3xi32>) -> tensor<4x3xi32>
  return %0 : tensor<4x3xi32>
}
