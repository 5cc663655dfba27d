// RUN: amsp-opt %s --amsp-bufferize | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#replicated = #amsp.placement<replicated>

// What is gathered ahead goes to the one of two buffers that this iteration does
// not read; none is copied in the loop.
module @ahead attributes {amsp.levels = array<i64: 2>,
    amsp.strategy = {p = array<i64: 1>, g = array<i64: 1>, os = array<i64: 1>}} {
  // CHECK-LABEL: func.func @main
  // CHECK: amsp.collective_start <0, {{.*}} into %[[A:[a-z_0-9]+]] :
  // CHECK: scf.for
  // CHECK-NOT: memref.copy
  // CHECK: amsp.collective_start <1, {{.*}} into %[[B:[a-z_0-9]+]] :
  // CHECK-NOT: memref.copy
  // CHECK: amsp.launch
  // CHECK-NOT: memref.copy
  // CHECK: amsp.collective_await <1, {{.*}} into %[[B]]
  // CHECK-NOT: memref.copy
  // CHECK: amsp.collective_start <2, {{.*}} into %[[A]]
  // CHECK-NOT: memref.copy
  // CHECK: amsp.launch
  // CHECK-NOT: memref.copy
  // CHECK: amsp.collective_await <2, {{.*}} into %[[A]]
  // CHECK-NOT: memref.copy
  // CHECK: }
  func.func @main(%p: tensor<5x4xf32> {amsp.placement = #replicated},
                  %x: tensor<1x8xf32> {amsp.placement = #replicated})
      -> (tensor<1x8xf32> {amsp.placement = #replicated}) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %first = tensor.extract_slice %p[0, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<1x4xf32>
    %w = amsp.all_gather %first group = <[1:2]> keep = 1 : tensor<1x4xf32> -> tensor<1x8xf32>
    %0:2 = scf.for %i = %zero to %four step %one iter_args(%h = %x, %now = %w) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
      %next = arith.addi %i, %one : index
      %s = tensor.extract_slice %p[%next, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<1x4xf32>
      %g = amsp.all_gather_start %s group = <[1:2]> keep = 1 : tensor<1x4xf32> -> !amsp.pending<tensor<1x8xf32>>
      %e = tensor.empty() : tensor<1x8xf32>
      %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%h, %now : tensor<1x8xf32>, tensor<1x8xf32>) outs(%e : tensor<1x8xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %1 = arith.mulf %a, %b : f32
        linalg.yield %1 : f32
      } -> tensor<1x8xf32>
      %ahead = amsp.await %g : !amsp.pending<tensor<1x8xf32>>
      scf.yield %y, %ahead : tensor<1x8xf32>, tensor<1x8xf32>
    }
    %e = tensor.empty() : tensor<1x8xf32>
    %last = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%0#0, %0#1 : tensor<1x8xf32>, tensor<1x8xf32>) outs(%e : tensor<1x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %1 = arith.addf %a, %b : f32
      linalg.yield %1 : f32
    } -> tensor<1x8xf32>
    return %last : tensor<1x8xf32>
  }
}
