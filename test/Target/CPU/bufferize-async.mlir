// RUN: amsp-opt %s -split-input-file --amsp-bufferize | FileCheck %s

#id = affine_map<(i) -> (i)>
#replicated = #amsp.placement<replicated>

// The new state may not go to the argument's buffer while the collective reads
// it, so it is made elsewhere and copied behind the await.
module @source attributes {amsp.levels = array<i64: 2>,
    amsp.strategy = {p = array<i64: 1>, g = array<i64: 1>, os = array<i64: 1>}} {
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: %[[W:.*]]: memref<8xf32> {{{[^}]*}}}, %[[OUT:.*]]: memref<8xf32> {{{[^}]*}}})
  func.func @main(%w: tensor<8xf32> {amsp.placement = #replicated, amsp.result = 0 : i64, amsp.role = #amsp.role<param>})
      -> (tensor<8xf32> {amsp.placement = #replicated, amsp.argument = 0 : i64}, tensor<8xf32> {amsp.placement = #replicated}) {
    // CHECK: amsp.collective_start {{.*}} %[[W]] into %[[OUT]]
    %p = amsp.all_reduce_start sum %w group = <[1:2]> : tensor<8xf32>
    // CHECK: %[[NEW:.*]] = amsp.arena_view
    // CHECK-NEXT: memref.copy %[[W]], %[[NEW]]
    // CHECK-NEXT: amsp.launch @{{.*}}(%[[NEW]])
    %new = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%w : tensor<8xf32>) {
    ^bb0(%o: f32):
      %0 = arith.addf %o, %o : f32
      linalg.yield %0 : f32
    } -> tensor<8xf32>
    // CHECK-NEXT: amsp.collective_await {{.*}} %[[W]] into %[[OUT]]
    %r = amsp.await %p : !amsp.pending<tensor<8xf32>>
    // CHECK-NEXT: memref.copy %[[NEW]], %[[W]]
    return %new, %r : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

#id = affine_map<(i) -> (i)>
#replicated = #amsp.placement<replicated>

// The old state is read during the flight: the collective does not write into
// its buffer, but into one of the arena.
module @destination attributes {amsp.levels = array<i64: 2>,
    amsp.strategy = {p = array<i64: 1>, g = array<i64: 1>, os = array<i64: 1>}} {
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: %[[W:.*]]: memref<8xf32> {{{[^}]*}}}, %[[X:.*]]: memref<8xf32> {{{[^}]*}}}, %[[OUT:.*]]: memref<8xf32> {{{[^}]*}}})
  func.func @main(%w: tensor<8xf32> {amsp.placement = #replicated, amsp.result = 0 : i64, amsp.role = #amsp.role<param>},
                  %x: tensor<8xf32> {amsp.placement = #replicated})
      -> (tensor<8xf32> {amsp.placement = #replicated, amsp.argument = 0 : i64}, tensor<8xf32> {amsp.placement = #replicated}) {
    // CHECK: %[[NEW:.*]] = amsp.arena_view
    // CHECK: amsp.collective_start {{.*}} %[[X]] into %[[NEW]]
    %p = amsp.all_reduce_start sum %x group = <[1:2]> : tensor<8xf32>
    // CHECK: amsp.launch @{{.*}}(%[[W]], %[[OUT]])
    %e = tensor.empty() : tensor<8xf32>
    %old = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%w : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %a : f32
      linalg.yield %0 : f32
    } -> tensor<8xf32>
    // CHECK: amsp.collective_await {{.*}} %[[X]] into %[[NEW]]
    %r = amsp.await %p : !amsp.pending<tensor<8xf32>>
    // CHECK-NEXT: memref.copy %[[NEW]], %[[W]]
    return %r, %old : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

#id = affine_map<(i) -> (i)>
#replicated = #amsp.placement<replicated>

// Nothing reads the old state: the collective writes to its buffer.
module @in_place attributes {amsp.levels = array<i64: 2>,
    amsp.strategy = {p = array<i64: 1>, g = array<i64: 1>, os = array<i64: 1>}} {
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: %[[W:.*]]: memref<8xf32> {{{[^}]*}}}, %[[X:.*]]: memref<8xf32> {{{[^}]*}}}, %[[OUT:.*]]: memref<8xf32>
  // CHECK-SAME: amsp.arena_bytes = 0 : i64
  func.func @main(%w: tensor<8xf32> {amsp.placement = #replicated, amsp.result = 0 : i64, amsp.role = #amsp.role<param>},
                  %x: tensor<8xf32> {amsp.placement = #replicated})
      -> (tensor<8xf32> {amsp.placement = #replicated, amsp.argument = 0 : i64}, tensor<8xf32> {amsp.placement = #replicated}) {
    // CHECK: amsp.collective_start {{.*}} %[[X]] into %[[W]]
    %p = amsp.all_reduce_start sum %x group = <[1:2]> : tensor<8xf32>
    %e = tensor.empty() : tensor<8xf32>
    // CHECK: amsp.launch @{{.*}}(%[[X]], %[[OUT]])
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %a : f32
      linalg.yield %0 : f32
    } -> tensor<8xf32>
    // CHECK: amsp.collective_await {{.*}} %[[X]] into %[[W]]
    %r = amsp.await %p : !amsp.pending<tensor<8xf32>>
    return %r, %y : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

#id = affine_map<(i) -> (i)>
#replicated = #amsp.placement<replicated>

// The old state is read beside the new one, when the flight is over.
module @read_after_await attributes {amsp.levels = array<i64: 2>,
    amsp.strategy = {p = array<i64: 1>, g = array<i64: 1>, os = array<i64: 1>}} {
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: %[[W:.*]]: memref<8xf32> {{{[^}]*}}}, %[[X:.*]]: memref<8xf32> {{{[^}]*}}}, %[[OUT:.*]]: memref<8xf32> {{{[^}]*}}})
  func.func @main(%w: tensor<8xf32> {amsp.placement = #replicated, amsp.result = 0 : i64, amsp.role = #amsp.role<param>},
                  %x: tensor<8xf32> {amsp.placement = #replicated})
      -> (tensor<8xf32> {amsp.placement = #replicated, amsp.argument = 0 : i64}, tensor<8xf32> {amsp.placement = #replicated}) {
    // CHECK: %[[NEW:.*]] = amsp.arena_view
    // CHECK: amsp.collective_start {{.*}} %[[X]] into %[[NEW]]
    %p = amsp.all_reduce_start sum %x group = <[1:2]> : tensor<8xf32>
    // CHECK-NEXT: amsp.collective_await {{.*}} %[[X]] into %[[NEW]]
    %r = amsp.await %p : !amsp.pending<tensor<8xf32>>
    // CHECK-NEXT: amsp.launch @{{.*}}(%[[W]], %[[NEW]], %[[OUT]])
    %e = tensor.empty() : tensor<8xf32>
    %old = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%w, %r : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.addf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<8xf32>
    // CHECK-NEXT: memref.copy %[[NEW]], %[[W]]
    return %r, %old : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

#id = affine_map<(i) -> (i)>
#replicated = #amsp.placement<replicated>

// Where a value is put depends on a collective behind the op that makes it. The
// collectives stay in order behind it, so the value is made elsewhere.
module @order attributes {amsp.levels = array<i64: 2>,
    amsp.strategy = {p = array<i64: 1>, g = array<i64: 1>, os = array<i64: 1>}} {
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: %[[W:.*]]: memref<8xf32> {{{[^}]*}}}, %[[X:.*]]: memref<2xf32> {{{[^}]*}}}, %[[I:.*]]: memref<i64> {{{[^}]*}}}, %[[OUT:.*]]: memref<2xf32> {{{[^}]*}}})
  func.func @main(%w: tensor<8xf32> {amsp.placement = #replicated, amsp.result = 0 : i64, amsp.role = #amsp.role<param>},
                  %x: tensor<2xf32> {amsp.placement = #replicated},
                  %i: tensor<i64> {amsp.placement = #replicated})
      -> (tensor<8xf32> {amsp.placement = #replicated, amsp.argument = 0 : i64}, tensor<2xf32> {amsp.placement = #replicated}) {
    %e = tensor.empty() : tensor<2xf32>
    // CHECK: amsp.launch @{{.*}}(%[[X]], %[[Y:.*]]) :
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %a : f32
      linalg.yield %0 : f32
    } -> tensor<2xf32>
    // CHECK: amsp.collective_start <0, {{.*}} %[[X]] into %[[OUT]] :
    // CHECK: amsp.collective_await <0,
    %p = amsp.all_reduce_start sum %x group = <[1:2]> : tensor<2xf32>
    %r = amsp.await %p : !amsp.pending<tensor<2xf32>>
    // CHECK: amsp.collective_start <1, {{.*}} %[[I]] into %[[AT:.*]] :
    // CHECK: amsp.collective_await <1,
    %q = amsp.all_reduce_start sum %i group = <[1:2]> : tensor<i64>
    %j = amsp.await %q : !amsp.pending<tensor<i64>>
    // CHECK: memref.load %[[AT]]
    // CHECK: memref.copy %[[Y]]
    %number = tensor.extract %j[] : tensor<i64>
    %at = arith.index_cast %number : i64 to index
    %new = tensor.insert_slice %y into %w[%at] [2] [1] : tensor<2xf32> into tensor<8xf32>
    return %new, %r : tensor<8xf32>, tensor<2xf32>
  }
}
