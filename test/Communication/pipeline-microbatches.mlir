// RUN: amsp-opt %s --split-input-file --amsp-pipeline-loops --canonicalize --cse 2>/dev/null | FileCheck %s
// RUN: amsp-opt %s --split-input-file --remarks-filter='amsp-.*' --amsp-pipeline-loops --verify-diagnostics -o /dev/null

// Each of six microbatches gathers the same two layers and adds their gradients
// to the same sums. Its first contraction has nothing before it that hides the
// first layer's gather, its last one nothing behind it that hides the sum of
// that layer's gradient: these two move, the second layer's stay.

// CHECK-LABEL: func.func @microbatches
// CHECK: %[[A0:.*]] = amsp.all_gather %arg0
// CHECK: %[[A1:.*]] = amsp.all_gather %arg0
// The first iteration has no sum of its own layer yet.
// CHECK: amsp.all_gather {{.*}} unit = "h.1"
// CHECK: amsp.reduce_scatter {{.*}} unit = "h.1"
// CHECK-NOT: unit = "h.0"
// CHECK: %[[LOOP:.*]]:5 = stablehlo.while(%{{.*}} = %{{.*}}, %[[SUM:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[A:.*]] = %[[A1]], %[[G:.*]] = %{{.*}})
// CHECK: do {
// CHECK: %[[PIECE:.*]] = amsp.reduce_scatter sum %[[G]] {{.*}} unit = "h.0"
// CHECK: %[[NEXTSUM:.*]] = stablehlo.add %[[SUM]], %[[PIECE]]
// CHECK: %[[AHEAD:.*]] = amsp.all_gather %arg0 {{.*}} unit = "h.0"
// CHECK: stablehlo.dot_general %{{.*}}, %[[A]],
// CHECK: amsp.all_gather %arg1 {{.*}} unit = "h.1"
// CHECK: amsp.reduce_scatter {{.*}} unit = "h.1"
// CHECK: %[[NEXTG:.*]] = stablehlo.dot_general
// CHECK-NOT: reduce_scatter
// CHECK: stablehlo.return %{{.*}}, %[[NEXTSUM]], %{{.*}}, %[[AHEAD]], %[[NEXTG]] :
// CHECK: amsp.reduce_scatter {{.*}} unit = "h.0"
// CHECK: amsp.reduce_scatter {{.*}} unit = "h.1"
// CHECK: amsp.reduce_scatter {{.*}} unit = "h.0"
// CHECK-NOT: amsp.reduce_scatter
func.func @microbatches(%a: tensor<32xf32>, %b: tensor<32xf32>, %x: tensor<6x8x8xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<6> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<32xf32>
  // expected-remark @below {{1 gathers of 256 bytes run one iteration ahead, 1 reductions of 256 bytes one behind}}
  %0:3 = stablehlo.while(%i = %zero, %s = %none, %t = %none) : tensor<i32>, tensor<32xf32>, tensor<32xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %x, %i, %zero, %zero, sizes = [1, 8, 8] : (tensor<6x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    %3 = amsp.all_gather %a group = <[1:2]> parameter = 0 unit = "h.0" window = 0 : tensor<32xf32> -> tensor<8x8xf32>
    %4 = stablehlo.dot_general %2, %3, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = amsp.all_gather %b group = <[1:2]> parameter = 1 unit = "h.1" window = 1 : tensor<32xf32> -> tensor<8x8xf32>
    %6 = stablehlo.dot_general %4, %5, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %7 = amsp.reduce_scatter sum %6 group = <[1:2]> parameter = 1 unit = "h.1" : tensor<8x8xf32> -> tensor<32xf32>
    %8 = stablehlo.add %t, %7 : tensor<32xf32>
    %9 = stablehlo.dot_general %6, %2, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %10 = amsp.reduce_scatter sum %9 group = <[1:2]> parameter = 0 unit = "h.0" : tensor<8x8xf32> -> tensor<32xf32>
    %11 = stablehlo.add %s, %10 : tensor<32xf32>
    %12 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %12, %11, %8 : tensor<i32>, tensor<32xf32>, tensor<32xf32>
  }
  return %0#1, %0#2 : tensor<32xf32>, tensor<32xf32>
}

// -----

// A sum that the iteration reads stays, and so does what is added to a carry of
// another value.

// CHECK-LABEL: func.func @read
// CHECK: stablehlo.while
// CHECK: do {
// CHECK: stablehlo.dot_general
// CHECK: amsp.reduce_scatter
// CHECK: amsp.reduce_scatter
// CHECK-NOT: amsp.reduce_scatter
func.func @read(%x: tensor<8x8xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<6> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<32xf32>
  %0:4 = stablehlo.while(%i = %zero, %s = %none, %t = %none, %y = %x) : tensor<i32>, tensor<32xf32>, tensor<32xf32>, tensor<8x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dot_general %y, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = amsp.reduce_scatter sum %1 group = <[1:2]> parameter = 0 unit = "h.0" : tensor<8x8xf32> -> tensor<32xf32>
    %3 = amsp.reduce_scatter sum %y group = <[1:2]> parameter = 1 unit = "h.0" : tensor<8x8xf32> -> tensor<32xf32>
    // Each is added to the other's sum.
    %4 = stablehlo.add %t, %2 : tensor<32xf32>
    %5 = stablehlo.add %s, %3 : tensor<32xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %4, %5, %1 : tensor<i32>, tensor<32xf32>, tensor<32xf32>, tensor<8x8xf32>
  }
  return %0#1, %0#2 : tensor<32xf32>, tensor<32xf32>
}

// -----

// Nothing is gathered. The last iteration stands beside the loop, so that the
// last sum hides behind a part of it.

// CHECK-LABEL: func.func @last
// CHECK: stablehlo.while
// CHECK: do {
// CHECK: amsp.reduce_scatter
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.return
// CHECK: }
// CHECK: amsp.reduce_scatter
// CHECK: stablehlo.dot_general
// CHECK: amsp.reduce_scatter
// CHECK-NOT: stablehlo.dot_general
func.func @last(%x: tensor<8x8xf32>) -> tensor<32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<6> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<32xf32>
  // expected-remark @below {{0 gathers of 0 bytes run one iteration ahead, 1 reductions of 256 bytes one behind}}
  %0:3 = stablehlo.while(%i = %zero, %s = %none, %y = %x) : tensor<i32>, tensor<32xf32>, tensor<8x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dot_general %y, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = amsp.reduce_scatter sum %1 group = <[1:2]> parameter = 0 unit = "h.0" : tensor<8x8xf32> -> tensor<32xf32>
    %3 = stablehlo.add %s, %2 : tensor<32xf32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4, %3, %1 : tensor<i32>, tensor<32xf32>, tensor<8x8xf32>
  }
  return %0#1 : tensor<32xf32>
}
