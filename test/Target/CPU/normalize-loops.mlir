// RUN: amsp-opt %s --amsp-normalize-loops | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (j, i)>

// CHECK: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>

// Contiguous loops are one.
// CHECK-LABEL: func.func @joined
func.func @joined(%a: memref<24x31xf32>, %b: memref<24x31xf32>) {
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%{{.*}} : memref<744xf32>) outs(%{{.*}} : memref<744xf32>)
  linalg.exp ins(%a : memref<24x31xf32>) outs(%b : memref<24x31xf32>)
  return
}

// The loop with stride 1 goes innermost.
// CHECK-LABEL: func.func @ordered
func.func @ordered(%a: memref<4x8xf32, strided<[100, 1]>>, %b: memref<4x8xf32, strided<[50, 1]>>) {
  // CHECK: linalg.generic {indexing_maps = [#[[$ID]], #[[$ID]]]
  linalg.generic {indexing_maps = [#swapped, #swapped], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x8xf32, strided<[100, 1]>>) outs(%b : memref<4x8xf32, strided<[50, 1]>>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// What lies where it is put is not copied.
// CHECK-LABEL: func.func @put_back
// CHECK-NEXT: memref.subview
// CHECK-NEXT: return
func.func @put_back(%stack: memref<8x2x3xf32>, %i: index) {
  %slice = memref.subview %stack[%i, 0, 0] [1, 2, 3] [1, 1, 1] : memref<8x2x3xf32> to memref<2x3xf32, strided<[3, 1], offset: ?>>
  memref.copy %slice, %slice : memref<2x3xf32, strided<[3, 1], offset: ?>> to memref<2x3xf32, strided<[3, 1], offset: ?>>
  memref.copy %stack, %stack : memref<8x2x3xf32> to memref<8x2x3xf32>
  return
}

// A block of bytes stays a copy.
// CHECK-LABEL: func.func @copies
func.func @copies(%a: memref<4x8xf32>, %b: memref<4x8xf32>, %c: memref<4x8xf32, strided<[50, 1]>>) {
  // CHECK: memref.copy
  memref.copy %a, %b : memref<4x8xf32> to memref<4x8xf32>
  // CHECK: linalg.generic
  memref.copy %a, %c : memref<4x8xf32> to memref<4x8xf32, strided<[50, 1]>>
  return
}
