// RUN: amsp-opt %s --amsp-collectives-to-exchange | FileCheck %s

// Counts beyond 2^31 elements: shapes only, nothing is allocated.
// CHECK: module {{.*}}\22bytes\22:19600000000
#replicated = #amsp.placement<replicated>
#flat = #amsp.placement<flat, 0, [1:2]>
module attributes {amsp.levels = array<i64: 2>,
    amsp.strategy = {p = array<i64: 2>, g = array<i64: 2>, os = array<i64: 2>}} {
  // CHECK-LABEL: func.func @main
  func.func @main(%w: tensor<2450000000xf32> {amsp.placement = #flat, amsp.global_type = tensor<70000x70000xf32>})
      -> (tensor<70000x70000xf32> {amsp.placement = #replicated}) {
    // CHECK: amsp.exchange_start <0, all_gather, sum, <[1:2]>, rows = [1], full = [4900000000], piece = [2450000000]
    %0 = amsp.all_gather %w group = <[1:2]> : tensor<2450000000xf32> -> tensor<70000x70000xf32>
    return %0 : tensor<70000x70000xf32>
  }
}
