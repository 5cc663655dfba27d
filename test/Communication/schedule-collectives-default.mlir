// RUN: amsp-opt %s --amsp-schedule-collectives | FileCheck %s

// Twice what the largest unit needs, though it comes in two gathers, and the
// largest that is reduced.
// CHECK-LABEL: func.func @units
// CHECK-SAME: amsp.prefetch_bytes = 224 : i64
func.func @units(%a: tensor<4xf32>, %b: tensor<6xf32>, %c: tensor<3xf32>, %x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<12xf32>, tensor<6xf32>, tensor<4xf32>) {
  %0 = amsp.all_gather %a group = <[1:2]> unit = "h.0" window = 0 : tensor<4xf32> -> tensor<8xf32>
  %1 = amsp.all_gather %b group = <[1:2]> unit = "h.0" window = 0 : tensor<6xf32> -> tensor<12xf32>
  %2 = amsp.all_gather %c group = <[1:2]> unit = "h.1" window = 1 : tensor<3xf32> -> tensor<6xf32>
  %3 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = amsp.reduce_scatter sum %3 group = <[1:2]> unit = "h.0" : tensor<8xf32> -> tensor<4xf32>
  return %3, %1, %2, %4 : tensor<8xf32>, tensor<12xf32>, tensor<6xf32>, tensor<4xf32>
}

// Each of no unit stands for itself: twice 32.
// CHECK-LABEL: func.func @no_units
// CHECK-SAME: amsp.prefetch_bytes = 64 : i64
func.func @no_units(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = amsp.all_gather %a group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
  %1 = amsp.all_gather %b group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
