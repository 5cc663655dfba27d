// RUN: amsp-opt %s --split-input-file --amsp-plan-arena --verify-diagnostics | FileCheck %s

// Buffers whose lifetimes are disjoint share; a collective keeps its buffers until
// the await.
// CHECK-LABEL: func.func @lifetimes
// CHECK-SAME: amsp.arena_bytes = 192 : i64
func.func @lifetimes(%out: memref<16xf32>) {
  %c = arith.constant 1.0 : f32
  // CHECK: %[[A:.*]] = amsp.arena_view [[PLACE:[0-9]+]] : memref<16xf32>
  %a = memref.alloc() : memref<16xf32>
  // CHECK: %[[B:.*]] = amsp.arena_view
  %b = memref.alloc() : memref<16xf32>
  // CHECK: %[[D:.*]] = amsp.arena_view
  %d = memref.alloc() : memref<16xf32>
  // CHECK: %[[F:.*]] = amsp.arena_view [[PLACE]] : memref<16xf32>
  %f = memref.alloc() : memref<16xf32>
  linalg.fill ins(%c : f32) outs(%a : memref<16xf32>)
  amsp.collective_start <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %b : memref<16xf32> -> memref<16xf32>
  linalg.fill ins(%c : f32) outs(%d : memref<16xf32>)
  memref.copy %d, %out : memref<16xf32> to memref<16xf32>
  amsp.collective_await <0, all_reduce, sum, <[1:2]>, rows = [1], full = [16], piece = [16], "r"> %a into %b : memref<16xf32> -> memref<16xf32>
  linalg.exp ins(%b : memref<16xf32>) outs(%f : memref<16xf32>)
  memref.copy %f, %out : memref<16xf32> to memref<16xf32>
  return
}

// -----

// What one iteration leaves for the next keeps its place through all of the loop.
// CHECK-LABEL: func.func @loop
// CHECK-SAME: amsp.arena_bytes = 128 : i64
func.func @loop(%out: memref<16xf32>, %n: index) {
  %c = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: amsp.arena_view [[PLACE:[0-9]+]] : memref<16xf32>
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%c : f32) outs(%a : memref<16xf32>)
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: amsp.arena_view [[OTHER:[0-9]+]] : memref<16xf32>
    %b = memref.alloc() : memref<16xf32>
    linalg.fill ins(%c : f32) outs(%b : memref<16xf32>)
    memref.copy %b, %out : memref<16xf32> to memref<16xf32>
    memref.copy %a, %out : memref<16xf32> to memref<16xf32>
    linalg.fill ins(%c : f32) outs(%a : memref<16xf32>)
    // CHECK: amsp.arena_view [[OTHER]] : memref<16xf32>
    %d = memref.alloc() : memref<16xf32>
    linalg.fill ins(%c : f32) outs(%d : memref<16xf32>)
    memref.copy %d, %out : memref<16xf32> to memref<16xf32>
  }
  return
}

// -----

// From its last reader to where all of it is written anew, in this iteration or in
// the next one, others have a carried buffer's place; a part that is written anew
// ends nothing.
// CHECK-LABEL: func.func @holes
// CHECK-SAME: amsp.arena_bytes = 128 : i64
func.func @holes(%piece: memref<8xf32>, %x: memref<16xf32>, %out: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: amsp.arena_view [[WHOLE:[0-9]+]] : memref<16xf32>
  %whole = memref.alloc() : memref<16xf32>
  // CHECK: amsp.arena_view [[PART:[0-9]+]] : memref<16xf32>
  %part = memref.alloc() : memref<16xf32>
  memref.copy %x, %part : memref<16xf32> to memref<16xf32>
  %some = memref.subview %part[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  amsp.collective_start <0, all_gather, sum, <[1:2]>, rows = [1], full = [16], piece = [8], "p"> %piece into %whole : memref<8xf32> -> memref<16xf32>
  amsp.collective_await <0, all_gather, sum, <[1:2]>, rows = [1], full = [16], piece = [8], "p"> %piece into %whole : memref<8xf32> -> memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    linalg.exp ins(%some : memref<8xf32, strided<[1]>>) outs(%some : memref<8xf32, strided<[1]>>)
    memref.copy %whole, %out : memref<16xf32> to memref<16xf32>
    // CHECK: amsp.arena_view [[WHOLE]] : memref<16xf32>
    %b = memref.alloc() : memref<16xf32>
    amsp.launch @double(%x, %b) : memref<16xf32>, memref<16xf32>
    memref.copy %b, %out : memref<16xf32> to memref<16xf32>
    amsp.launch @double(%x, %whole) : memref<16xf32>, memref<16xf32>
  }
  memref.copy %whole, %out : memref<16xf32> to memref<16xf32>
  return
}
func.func private @double(%arg0: memref<16xf32>, %arg1: memref<16xf32>) {
  linalg.add ins(%arg0, %arg0 : memref<16xf32>, memref<16xf32>) outs(%arg1 : memref<16xf32>)
  return
}

// -----

// A kernel that adds to a buffer reads it; so does one that overwrites the other
// half of a branch's buffer.
// CHECK-LABEL: func.func @no_holes
// CHECK-SAME: amsp.arena_bytes = 192 : i64
func.func @no_holes(%x: memref<16xf32>, %out: memref<16xf32>, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = memref.alloc() : memref<16xf32>
  %one = memref.alloc() : memref<16xf32>
  memref.copy %x, %sum : memref<16xf32> to memref<16xf32>
  memref.copy %x, %one : memref<16xf32> to memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<16xf32>
    memref.copy %x, %b : memref<16xf32> to memref<16xf32>
    memref.copy %b, %out : memref<16xf32> to memref<16xf32>
    amsp.launch @accumulate(%x, %sum) : memref<16xf32>, memref<16xf32>
    scf.if %p {
      memref.copy %x, %one : memref<16xf32> to memref<16xf32>
    }
    memref.copy %one, %out : memref<16xf32> to memref<16xf32>
  }
  memref.copy %sum, %out : memref<16xf32> to memref<16xf32>
  return
}
func.func private @accumulate(%arg0: memref<16xf32>, %arg1: memref<16xf32>) {
  linalg.add ins(%arg0, %arg1 : memref<16xf32>, memref<16xf32>) outs(%arg1 : memref<16xf32>)
  return
}

// -----

// The tensors of an all_reduce lie behind each other, in their order, on both
// sides.
// CHECK-LABEL: func.func @contiguous
// CHECK-SAME: amsp.arena_bytes = 144 : i64
func.func @contiguous(%x: memref<3xf32>, %y: memref<2x5xf32>, %p: memref<3xf32>, %q: memref<2x5xf32>) {
  // CHECK-NEXT: %[[B:.*]] = amsp.arena_view 12 : memref<2x5xf32>
  // CHECK-NEXT: %[[A:.*]] = amsp.arena_view 0 : memref<3xf32>
  // CHECK-NEXT: %[[D:.*]] = amsp.arena_view 76 : memref<2x5xf32>
  // CHECK-NEXT: %[[C:.*]] = amsp.arena_view 64 : memref<3xf32>
  %b = memref.alloc() : memref<2x5xf32>
  %a = memref.alloc() : memref<3xf32>
  %d = memref.alloc() : memref<2x5xf32>
  %c = memref.alloc() : memref<3xf32>
  %e = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<3xf32> to memref<3xf32>
  memref.copy %y, %b : memref<2x5xf32> to memref<2x5xf32>
  // CHECK: amsp.collective_start {{.*}} %[[A]], %{{.*}} into %[[C]], %[[D]]
  %cst = arith.constant 1.0 : f32
  %f = memref.collapse_shape %b [[0, 1]] : memref<2x5xf32> into memref<10xf32>
  amsp.collective_start <0, all_reduce, sum, <[1:2]>, rows = [1, 1], full = [3, 10], piece = [3, 10], "r"> %a, %f into %c, %d : memref<3xf32>, memref<10xf32> -> memref<3xf32>, memref<2x5xf32>
  linalg.fill ins(%cst : f32) outs(%e : memref<4xf32>)
  amsp.collective_await <0, all_reduce, sum, <[1:2]>, rows = [1, 1], full = [3, 10], piece = [3, 10], "r"> %a, %f into %c, %d : memref<3xf32>, memref<10xf32> -> memref<3xf32>, memref<2x5xf32>
  memref.copy %c, %p : memref<3xf32> to memref<3xf32>
  memref.copy %d, %q : memref<2x5xf32> to memref<2x5xf32>
  return
}

// -----

// Not where a buffer is a part of another one, or none of the arena's; nor where
// one is on both sides.
// CHECK-LABEL: func.func @apart
func.func @apart(%x: memref<3xf32>, %y: memref<3xf32>) {
  // CHECK-NEXT: amsp.arena_view 64 : memref<3xf32>
  // CHECK-NEXT: amsp.arena_view 0 : memref<6xf32>
  // CHECK-NEXT: amsp.arena_view 192 : memref<3xf32>
  // CHECK-NEXT: amsp.arena_view 128 : memref<3xf32>
  %a = memref.alloc() : memref<3xf32>
  %b = memref.alloc() : memref<6xf32>
  %c = memref.alloc() : memref<3xf32>
  %d = memref.alloc() : memref<3xf32>
  memref.copy %x, %a : memref<3xf32> to memref<3xf32>
  memref.copy %x, %d : memref<3xf32> to memref<3xf32>
  %part = memref.subview %b[0] [3] [1] : memref<6xf32> to memref<3xf32, strided<[1]>>
  amsp.collective_start <0, all_reduce, sum, <[1:2]>, rows = [1, 1], full = [3, 3], piece = [3, 3], "part"> %a, %d into %c, %part : memref<3xf32>, memref<3xf32> -> memref<3xf32>, memref<3xf32, strided<[1]>>
  amsp.collective_await <0, all_reduce, sum, <[1:2]>, rows = [1, 1], full = [3, 3], piece = [3, 3], "part"> %a, %d into %c, %part : memref<3xf32>, memref<3xf32> -> memref<3xf32>, memref<3xf32, strided<[1]>>
  amsp.collective_start <1, all_reduce, sum, <[1:2]>, rows = [1, 1], full = [3, 3], piece = [3, 3], "in place"> %a, %d into %a, %d : memref<3xf32>, memref<3xf32> -> memref<3xf32>, memref<3xf32>
  amsp.collective_await <1, all_reduce, sum, <[1:2]>, rows = [1, 1], full = [3, 3], piece = [3, 3], "in place"> %a, %d into %a, %d : memref<3xf32>, memref<3xf32> -> memref<3xf32>, memref<3xf32>
  memref.copy %c, %y : memref<3xf32> to memref<3xf32>
  memref.copy %a, %y : memref<3xf32> to memref<3xf32>
  memref.copy %d, %y : memref<3xf32> to memref<3xf32>
  return
}

// -----

func.func @chosen(%c: i1, %out: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  // expected-error @+1 {{chooses a buffer at run time}}
  %s = arith.select %c, %a, %b : memref<16xf32>
  memref.copy %s, %out : memref<16xf32> to memref<16xf32>
  return
}
