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

// A buffer from outside of a loop lives through all of it; one from inside, in its
// iteration.
// CHECK-LABEL: func.func @loop
// CHECK-SAME: amsp.arena_bytes = 128 : i64
func.func @loop(%out: memref<16xf32>, %n: index) {
  %c = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    linalg.fill ins(%c : f32) outs(%a : memref<16xf32>)
    memref.copy %a, %out : memref<16xf32> to memref<16xf32>
    %b = memref.alloc() : memref<16xf32>
    linalg.fill ins(%c : f32) outs(%b : memref<16xf32>)
    memref.copy %b, %out : memref<16xf32> to memref<16xf32>
    %d = memref.alloc() : memref<16xf32>
    linalg.fill ins(%c : f32) outs(%d : memref<16xf32>)
    memref.copy %d, %out : memref<16xf32> to memref<16xf32>
  }
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
