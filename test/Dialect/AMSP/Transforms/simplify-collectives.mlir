// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-simplify-collectives))' --split-input-file | FileCheck %s
// RUN: amsp-opt %s --amsp-print-statistics --pass-pipeline='builtin.module(func.func(amsp-simplify-collectives))' --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNTS

// COUNTS: amsp-simplify-collectives 2 scattered
// COUNTS-NEXT: amsp-simplify-collectives 2 reduced
// COUNTS-NEXT: amsp-simplify-collectives 3 narrowed

// CHECK-LABEL: func.func @sliced_sum
func.func @sliced_sum(%g: tensor<5xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK-NEXT: %[[P:.*]] = amsp.reduce_scatter sum %arg0 group = <[1:3]> parameter = 1 unit = "a" : tensor<5xf32> -> tensor<2xf32>
  // CHECK-NEXT: return %[[P]], %[[P]]
  %0 = amsp.all_reduce sum %g group = <[1:3]> parameter = 1 unit = "a" : tensor<5xf32>
  %1 = amsp.local_slice %0 group = <[1:3]> : tensor<5xf32> -> tensor<2xf32>
  %2 = amsp.local_slice %0 group = <[1:3]> : tensor<5xf32> -> tensor<2xf32>
  return %1, %2 : tensor<2xf32>, tensor<2xf32>
}

// Of a world of 2 x 3 x 2 ranks, the middle digit: the others are combined.
// CHECK-LABEL: func.func @sliced_in_part
func.func @sliced_in_part(%g: tensor<4x6xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[P:.*]] = amsp.reduce_scatter max %arg0 group = <[2:3]> dim = 1 : tensor<4x6xf32> -> tensor<4x2xf32>
  // CHECK-NEXT: amsp.all_reduce max %[[P]] group = <[6:2, 1:2]> : tensor<4x2xf32>
  %0 = amsp.all_reduce max %g group = <[1:12]> : tensor<4x6xf32>
  %1 = amsp.local_slice %0 group = <[2:3]> dim = 1 : tensor<4x6xf32> -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// Someone needs all of it; the slices differ; the piece is another group's.
// CHECK-LABEL: func.func @sum_in_use
func.func @sum_in_use(%g: tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<2xf32>) {
  // CHECK-NOT: reduce_scatter
  %0 = amsp.all_reduce sum %g group = <[1:2]> : tensor<4xf32>
  %1 = amsp.local_slice %0 group = <[1:2]> : tensor<4xf32> -> tensor<2xf32>
  %2 = amsp.all_reduce max %g group = <[1:4]> : tensor<4xf32>
  %3 = amsp.local_slice %2 group = <[1:2]> : tensor<4xf32> -> tensor<2xf32>
  %4 = amsp.local_slice %2 group = <[1:4]> : tensor<4xf32> -> tensor<1xf32>
  %5 = amsp.all_reduce min %g group = <[1:2]> : tensor<4xf32>
  %6 = amsp.local_slice %5 group = <[2:2]> : tensor<4xf32> -> tensor<2xf32>
  return %1, %0, %3, %4, %6 : tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @scattered_and_gathered
func.func @scattered_and_gathered(%g: tensor<5xf32>) -> tensor<5xf32> {
  // CHECK-NEXT: %[[R:.*]] = amsp.all_reduce sum %arg0 group = <[1:3]> parameter = 2 : tensor<5xf32>
  // CHECK-NEXT: return %[[R]]
  %0 = amsp.reduce_scatter sum %g group = <[1:3]> parameter = 2 : tensor<5xf32> -> tensor<2xf32>
  %1 = amsp.all_gather %0 group = <[1:3]> parameter = 2 : tensor<2xf32> -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// The optimizer wants the pieces, a matrix method all of it, in another shape;
// between scattering and gathering, the replicas are summed.
// CHECK-LABEL: func.func @piece_in_use
func.func @piece_in_use(%g: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
  // CHECK-NEXT: %[[R:.*]] = amsp.all_reduce sum %arg0 group = <[1:6]> : tensor<2x3xf32>
  // CHECK-NEXT: %[[P:.*]] = amsp.local_slice %[[R]] group = <[1:3]> : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK-DAG: %[[F:.*]] = stablehlo.reshape %[[R]] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-DAG: %[[N:.*]] = stablehlo.negate %[[P]]
  // CHECK: return %[[N]], %[[F]]
  %0 = amsp.reduce_scatter sum %g group = <[1:3]> : tensor<2x3xf32> -> tensor<2xf32>
  %1 = amsp.all_reduce sum %0 group = <[3:2]> : tensor<2xf32>
  %2 = stablehlo.negate %1 : tensor<2xf32>
  %3 = amsp.all_gather %1 group = <[1:3]> : tensor<2xf32> -> tensor<3x2xf32>
  return %2, %3 : tensor<2xf32>, tensor<3x2xf32>
}

// Other pieces, another reduction, or a use of what is not yet summed.
// CHECK-LABEL: func.func @not_gathered_back
func.func @not_gathered_back(%g: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) {
  // CHECK-COUNT-3: amsp.reduce_scatter
  // CHECK-NOT: local_slice
  %0 = amsp.reduce_scatter sum %g group = <[1:2]> : tensor<4xf32> -> tensor<2xf32>
  %1 = amsp.all_gather %0 group = <[2:2]> : tensor<2xf32> -> tensor<4xf32>
  %2 = amsp.reduce_scatter sum %g group = <[4:2]> : tensor<4xf32> -> tensor<2xf32>
  %3 = amsp.all_reduce max %2 group = <[1:2]> : tensor<2xf32>
  %4 = amsp.all_gather %3 group = <[4:2]> : tensor<2xf32> -> tensor<4xf32>
  %5 = amsp.reduce_scatter sum %g group = <[8:2]> : tensor<4xf32> -> tensor<2xf32>
  %6 = amsp.all_reduce sum %5 group = <[1:2]> : tensor<2xf32>
  %7 = amsp.all_gather %6 group = <[8:2]> : tensor<2xf32> -> tensor<4xf32>
  return %1, %4, %7, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @widen_later
func.func @widen_later(%w: tensor<3xbf16>, %x: tensor<6xf16>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  // CHECK-NEXT: %[[G:.*]] = amsp.all_gather %arg0 group = <[1:2]> parameter = 0 unit = "a" window = 3 : tensor<3xbf16> -> tensor<6xbf16>
  // CHECK-NEXT: %[[W:.*]] = stablehlo.convert %[[G]] : (tensor<6xbf16>) -> tensor<6xf32>
  %0 = stablehlo.convert %w : (tensor<3xbf16>) -> tensor<3xf32>
  %1 = amsp.all_gather %0 group = <[1:2]> parameter = 0 unit = "a" window = 3 : tensor<3xf32> -> tensor<6xf32>
  // CHECK: %[[M:.*]] = amsp.all_reduce max %arg1 group = <[1:2]> : tensor<6xf16>
  // CHECK-NEXT: stablehlo.convert %[[M]] : (tensor<6xf16>) -> tensor<6xf32>
  %2 = stablehlo.convert %x : (tensor<6xf16>) -> tensor<6xf32>
  %3 = amsp.all_reduce max %2 group = <[1:2]> : tensor<6xf32>
  // The type of a sum is the user's choice.
  // CHECK: amsp.all_reduce sum %{{.*}} group = <[1:2]> : tensor<6xf32>
  %4 = amsp.all_reduce sum %2 group = <[1:2]> : tensor<6xf32>
  return %1, %3, %4 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}

// CHECK-LABEL: func.func @narrow_earlier
func.func @narrow_earlier(%w: tensor<3xf32>) -> tensor<2x3xbf16> {
  // CHECK-NEXT: %[[N:.*]] = stablehlo.convert %arg0 : (tensor<3xf32>) -> tensor<3xbf16>
  // CHECK-NEXT: %[[G:.*]] = amsp.all_gather %[[N]] group = <[1:2]> window = 3 : tensor<3xbf16> -> tensor<3x2xbf16>
  // CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[G]], dims = [1, 0] : (tensor<3x2xbf16>) -> tensor<2x3xbf16>
  // CHECK-NEXT: return %[[T]]
  %0 = amsp.all_gather %w group = <[1:2]> window = 3 : tensor<3xf32> -> tensor<3x2xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.convert %1 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  return %2 : tensor<2x3xbf16>
}

// It is read in both types; neither of f16 and bf16 holds the other's values.
// CHECK-LABEL: func.func @types_stay
func.func @types_stay(%w: tensor<3xf32>, %x: tensor<3xbf16>) -> (tensor<6xf32>, tensor<6xbf16>, tensor<6xf16>) {
  // CHECK: amsp.all_gather %arg0 group = <[1:2]> : tensor<3xf32> -> tensor<6xf32>
  %0 = amsp.all_gather %w group = <[1:2]> : tensor<3xf32> -> tensor<6xf32>
  %1 = stablehlo.convert %0 : (tensor<6xf32>) -> tensor<6xbf16>
  // CHECK: amsp.all_gather %{{.*}} group = <[1:2]> : tensor<3xf16> -> tensor<6xf16>
  %2 = stablehlo.convert %x : (tensor<3xbf16>) -> tensor<3xf16>
  %3 = amsp.all_gather %2 group = <[1:2]> : tensor<3xf16> -> tensor<6xf16>
  return %0, %1, %3 : tensor<6xf32>, tensor<6xbf16>, tensor<6xf16>
}

// CHECK-LABEL: func.func @one_rank
func.func @one_rank(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[S:.*]] = amsp.local_slice %arg0 group = <[]> : tensor<4xf32> -> tensor<4xf32>
  // CHECK-NEXT: return %arg0, %[[S]]
  %0 = amsp.all_reduce sum %x group = <[3:1]> : tensor<4xf32>
  %1 = amsp.reduce_scatter sum %x group = <[]> : tensor<4xf32> -> tensor<4xf32>
  %2 = amsp.all_gather %x group = <[1:2]> : tensor<4xf32> -> tensor<8xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @order
func.func @order(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: amsp.all_reduce sum %arg0 group = <[1:8]>
  %0 = amsp.all_reduce sum %x group = <[1:2, 4:2, 2:2]> : tensor<4xf32>
  // CHECK: amsp.all_reduce sum %arg1 group = <[4:2, 1:2]>
  %1 = amsp.all_reduce sum %y group = <[1:2, 4:2]> : tensor<4xf32>
  // CHECK: amsp.all_reduce max %arg1 group = <[8:2]>
  %2 = amsp.all_reduce max %y group = <[8:2]> : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
