// RUN: amsp-opt %s --amsp-legalize-contractions | FileCheck %s

// Two contracted dimensions in opposite orders have no common stride.
// CHECK-LABEL: func.func @packed
// CHECK-SAME: (%[[A:.*]]: memref<2x3x4xf32>, %[[B:.*]]: memref<4x3x5xf32>, %[[C:.*]]: memref<2x5xf32>)
func.func @packed(%a: memref<2x3x4xf32>, %b: memref<4x3x5xf32>, %c: memref<2x5xf32>) {
  // CHECK: %[[P:.*]] = memref.alloc() : memref<3x4x5xf32>
  // CHECK: linalg.transpose ins(%[[B]] : memref<4x3x5xf32>) outs(%[[P]] : memref<3x4x5xf32>) permutation = [1, 0, 2]
  // CHECK: amsp.contract %[[A]], %[[P]] into %[[C]]
  amsp.contract %a, %b into %c maps = [affine_map<(m, k, l, n) -> (m, k, l)>, affine_map<(m, k, l, n) -> (l, k, n)>,
      affine_map<(m, k, l, n) -> (m, n)>] : (memref<2x3x4xf32>, memref<4x3x5xf32>, memref<2x5xf32>) -> ()
  return
}

// Heads of attention are batch dimensions of the call.
// CHECK-LABEL: func.func @attention
func.func @attention(%q: memref<2x16x4x8xf32>, %k: memref<2x16x4x8xf32>, %s: memref<2x4x16x16xf32>) {
  // CHECK-NOT: memref.alloc
  // CHECK: amsp.contract
  amsp.contract %q, %k into %s maps = [affine_map<(b, h, q, k, d) -> (b, q, h, d)>, affine_map<(b, h, q, k, d) -> (b, k, h, d)>,
      affine_map<(b, h, q, k, d) -> (b, h, q, k)>] : (memref<2x16x4x8xf32>, memref<2x16x4x8xf32>, memref<2x4x16x16xf32>) -> ()
  return
}
