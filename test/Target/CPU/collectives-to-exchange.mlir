// RUN: amsp-opt %s -split-input-file --amsp-collectives-to-exchange | FileCheck %s

#replicated = #amsp.placement<replicated>

// The manifest is made from the same walk as the numbers.
// CHECK: module {{.*}} amsp.manifest = "{{.*}}\22kind\22:\22reduce_scatter\22
module @step attributes {amsp.levels = array<i64: 2, 2>,
    amsp.strategy = {p = array<i64: 1, 1>, g = array<i64: 1, 1>, os = array<i64: 2, 2>}} {
  // CHECK-LABEL: func.func @main
  func.func @main(%g: tensor<13x31xf32> {amsp.placement = #replicated},
                  %s: tensor<5x8x6xf32> {amsp.placement = #replicated},
                  %rows: tensor<3x4xf32> {amsp.placement = #replicated})
      -> (tensor<101xf32> {amsp.placement = #replicated}, tensor<5x12xf32> {amsp.placement = #replicated},
          tensor<3x16xf32> {amsp.placement = #replicated}, tensor<i32> {amsp.placement = #replicated}) {
    // 403 elements in 4 pieces of 101: one of padding.
    // CHECK: %[[E:.*]] = tensor.empty() : tensor<101xf32>
    // CHECK-NEXT: %[[F:.*]] = amsp.exchange_start <0, reduce_scatter, sum, <[1:2, 2:2]>, rows = [1], full = [403], piece = [101], "reduce_scatter.0 of h.0"> %[[G:.*]] into %[[E]]
    // CHECK-NEXT: amsp.exchange_await %[[G]] into %[[F]]
    %0 = amsp.reduce_scatter sum %g group = <[1:2, 2:2]> parameter = 0 unit = "h.0" : tensor<13x31xf32> -> tensor<101xf32>
    // A stack keeps its leading dimension.
    // CHECK: amsp.exchange_start <1, reduce_scatter, max, <[1:2, 2:2]>, rows = [5], full = [48], piece = [12], "reduce_scatter.1">
    %1 = amsp.reduce_scatter max %s group = <[1:2, 2:2]> keep = 1 : tensor<5x8x6xf32> -> tensor<5x12xf32>
    // Along a dimension, the rows are those before it.
    // CHECK: amsp.exchange_start <2, all_gather, sum, <[1:2, 2:2]>, rows = [3], full = [16], piece = [4], "all_gather.2">
    %2 = amsp.all_gather %rows group = <[1:2, 2:2]> dim = 1 : tensor<3x4xf32> -> tensor<3x16xf32>
    // CHECK: %[[RANK:.*]] = amsp.rank_number
    // CHECK: arith.divui %[[RANK]]
    // CHECK-NOT: amsp.group_index
    %3 = amsp.group_index group = <[1:2, 2:2]> : tensor<i32>
    return %0, %1, %2, %3 : tensor<101xf32>, tensor<5x12xf32>, tensor<3x16xf32>, tensor<i32>
  }
}

// -----

#replicated = #amsp.placement<replicated>

// Several tensors: one exchange, one entry of the manifest.
// CHECK: module {{.*}}\22name\22:\22all_gather.0 of a and 1 more\22,\22parameter\22:null,\22parameters\22:[0],\22reduction\22:null,\22sent_bytes\22:312,\22tensors\22:2,\22unit\22:null
module @variadic attributes {amsp.levels = array<i64: 4>,
    amsp.strategy = {p = array<i64: 4>, g = array<i64: 4>, os = array<i64: 4>}} {
  func.func @main(%a: tensor<2x8xf32> {amsp.placement = #replicated}, %b: tensor<2x5xf32> {amsp.placement = #replicated})
      -> (tensor<8x8xf32> {amsp.placement = #replicated}, tensor<2x20xf32> {amsp.placement = #replicated}) {
    // CHECK: amsp.exchange_start <0, all_gather, sum, <[1:4]>, rows = [1, 2], full = [64, 20], piece = [16, 5], "all_gather.0 of a and 1 more"> %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}} : (tensor<2x8xf32>, tensor<2x5xf32>, tensor<8x8xf32>, tensor<2x20xf32>) -> (tensor<8x8xf32>, tensor<2x20xf32>)
    %0:2 = amsp.all_gather %a, %b group = <[1:4]> dim = [0, none] keep = [0, 1] parameter = [0, none] unit = ["a", "b"]
             : tensor<2x8xf32>, tensor<2x5xf32> -> tensor<8x8xf32>, tensor<2x20xf32>
    return %0#0, %0#1 : tensor<8x8xf32>, tensor<2x20xf32>
  }
}

// -----

#replicated = #amsp.placement<replicated>

// What is split stays apart; a start without its await goes, and is not listed.
// CHECK: module {{.*}}\22name\22:\22all_gather.0\22
// CHECK-NOT: all_reduce
module @split attributes {amsp.levels = array<i64: 2>,
    amsp.strategy = {p = array<i64: 2>, g = array<i64: 2>, os = array<i64: 2>}} {
  func.func @main(%a: tensor<4xf32> {amsp.placement = #replicated}, %b: tensor<f32> {amsp.placement = #replicated})
      -> (tensor<8xf32> {amsp.placement = #replicated}, tensor<f32> {amsp.placement = #replicated}) {
    %dead = amsp.all_reduce_start sum %b group = <[1:2]> : tensor<f32>
    // CHECK: %[[F:.*]] = amsp.exchange_start <0, all_gather, {{.*}} %[[A:.*]] into
    %p = amsp.all_gather_start %a group = <[1:2]> : tensor<4xf32> -> !amsp.pending<tensor<8xf32>>
    // CHECK-NEXT: arith.addf
    %0 = arith.addf %b, %b : tensor<f32>
    // CHECK-NEXT: %[[R:.*]] = amsp.exchange_await %[[A]] into %[[F]] : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
    %1 = amsp.await %p : !amsp.pending<tensor<8xf32>>
    // CHECK: return %[[R]]
    return %1, %0 : tensor<8xf32>, tensor<f32>
  }
}

// -----

// Both sides are whole, on the channel of reductions; rows are pieces here.
// CHECK-LABEL: module @exchange
// CHECK-SAME: \22bytes\22:24,\22channel\22:\22reduce\22,{{.*}}\22kind\22:\22all_to_all\22,{{.*}}\22reduction\22:null,\22sent_bytes\22:12,
module @exchange attributes {amsp.levels = array<i64: 2>,
    amsp.strategy = {p = array<i64: 1>, g = array<i64: 1>, os = array<i64: 2>}} {
  func.func @main(%x: tensor<2x12xi8> {amsp.placement = #amsp.placement<replicated>}) -> (tensor<2x12xi8> {amsp.placement = #amsp.placement<split, 0, [1:2]>, amsp.global_type = tensor<4x12xi8>}) {
    // CHECK: amsp.exchange_start <0, all_to_all, sum, <[1:2]>, rows = [1], full = [24], piece = [12], "all_to_all.0">
    %0 = amsp.all_to_all %x group = <[1:2]> dim = 0 : tensor<2x12xi8>
    return %0 : tensor<2x12xi8>
  }
}
