// RUN: amsp-opt %s --amsp-reuse-buffers | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>

// CHECK-LABEL: func.func @dies
func.func @dies(%out: memref<4x4xf32>) {
  // CHECK: %[[A:.*]] = memref.alloc()
  // CHECK-NOT: memref.alloc
  %a = memref.alloc() : memref<4x4xf32>
  %b = memref.alloc() : memref<4x4xf32>
  %c = arith.constant 1.0 : f32
  linalg.fill ins(%c : f32) outs(%a : memref<4x4xf32>)
  // CHECK: linalg.exp ins(%[[A]] : memref<4x4xf32>) outs(%[[A]] : memref<4x4xf32>)
  linalg.exp ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  memref.copy %b, %out : memref<4x4xf32> to memref<4x4xf32>
  return
}

// CHECK-LABEL: func.func @lives
func.func @lives(%out: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  %b = memref.alloc() : memref<4x4xf32>
  %c = arith.constant 1.0 : f32
  linalg.fill ins(%c : f32) outs(%a : memref<4x4xf32>)
  // CHECK: linalg.exp ins(%[[A:.*]] : memref<4x4xf32>) outs(%[[B:.*]] : memref<4x4xf32>)
  // CHECK-NEXT: linalg.add ins(%[[A]], %[[B]]
  linalg.exp ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  linalg.add ins(%a, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%out : memref<4x4xf32>)
  return
}

// An element would be overwritten before it is read.
// CHECK-LABEL: func.func @transposed
func.func @transposed(%out: memref<4x4xf32>) {
  // CHECK-COUNT-2: memref.alloc
  %a = memref.alloc() : memref<4x4xf32>
  %b = memref.alloc() : memref<4x4xf32>
  %c = arith.constant 1.0 : f32
  linalg.fill ins(%c : f32) outs(%a : memref<4x4xf32>)
  linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  memref.copy %b, %out : memref<4x4xf32> to memref<4x4xf32>
  return
}
