// RUN: amsp-opt %s --amsp-verify-program=prefetch-bytes=20 -o %t
// RUN: amsp-opt %s -o %t.unchanged && diff %t %t.unchanged
// RUN: not amsp-opt %s --amsp-verify-program=prefetch-bytes=19 -o /dev/null 2>&1 | FileCheck %s
// CHECK: 'amsp.all_reduce' op puts 20 bytes in flight, the bound is 19

#rows = #amsp.placement<split, 0, [1:2, 2:2]>
#flat = #amsp.placement<flat, 0, [1:2, 2:2]>
#replicated = #amsp.placement<replicated>

// The loop's counter is equal on all ranks, whatever else it carries.
module attributes {amsp.levels = array<i64: 2, 2>} {
  func.func @main(%w: tensor<1xf32> {amsp.placement = #flat},
                  %x: tensor<2x4xf32> {amsp.placement = #rows},
                  %n: tensor<i32> {amsp.placement = #replicated})
      -> (tensor<f32> {amsp.placement = #replicated}, tensor<1xf32> {amsp.placement = #flat}) {
    %p = amsp.all_gather_start %w group = <[1:2, 2:2]> : tensor<1xf32> -> !amsp.pending<tensor<4xf32>>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %init = stablehlo.constant dense<0.0> : tensor<f32>
    %0:3 = stablehlo.while(%i = %zero, %sum = %init, %y = %x) : tensor<i32>, tensor<f32>, tensor<2x4xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %i, %one : tensor<i32>
      %2 = stablehlo.add %y, %y : tensor<2x4xf32>
      %3 = stablehlo.slice %2 [0:1, 0:1] : (tensor<2x4xf32>) -> tensor<1x1xf32>
      %4 = stablehlo.reshape %3 : (tensor<1x1xf32>) -> tensor<f32>
      %5 = amsp.all_reduce sum %4 group = <[1:4]> : tensor<f32>
      stablehlo.return %1, %5, %2 : tensor<i32>, tensor<f32>, tensor<2x4xf32>
    }
    %full = amsp.await %p : !amsp.pending<tensor<4xf32>>
    %node = amsp.reduce_scatter sum %full group = <[1:2]> : tensor<4xf32> -> tensor<2xf32>
    %piece = amsp.reduce_scatter sum %node group = <[2:2]> : tensor<2xf32> -> tensor<1xf32>
    return %0#1, %piece : tensor<f32>, tensor<1xf32>
  }
}

// A tensor without elements is equal on all ranks.
// RUN: amsp-opt %S/Inputs/nothing.mlir --amsp-verify-program -o /dev/null
