// RUN: amsp-opt %s --amsp-schedule-collectives='cluster=%S/Inputs/two-ranks.yaml prefetch-bytes=16384' -verify-diagnostics | FileCheck %s
// RUN: not amsp-opt %s --amsp-schedule-collectives=cluster=%S/Inputs/none.yaml 2>&1 | FileCheck %s --check-prefix=MISSING

// MISSING: error: {{.*}}none.yaml

// A contraction takes 0.52 ms, a gather 0.09 ms: it starts one op ahead, though
// the bound would let it start at once.
// CHECK-LABEL: func.func @in_time
func.func @in_time(%w: tensor<2048xf32>, %x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK: stablehlo.dot_general
  // CHECK-NEXT: stablehlo.dot_general
  // CHECK-NEXT: %[[W:.*]] = amsp.all_gather_start
  // CHECK-NEXT: stablehlo.dot_general
  // CHECK-NEXT: amsp.await %[[W]]
  // CHECK-NEXT: stablehlo.dot_general
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = amsp.all_gather %w group = <[1:2]> : tensor<2048xf32> -> tensor<64x64xf32>
  %4 = stablehlo.dot_general %2, %3, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}

// Both gathers are needed by one op; only one may be in flight.
// CHECK-LABEL: func.func @too_late
// expected-remark @+1 {{a bound of 16384 bytes in flight is too small to hide every gather (late: 1)}}
func.func @too_late(%w: tensor<2048xf32>, %v: tensor<2048xf32>, %x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  // CHECK: %[[W:.*]] = amsp.all_gather_start %arg0
  // CHECK-NEXT: stablehlo.dot_general
  // CHECK-NEXT: amsp.await %[[W]]
  // CHECK-NEXT: amsp.all_gather %arg1
  // CHECK-NEXT: stablehlo.dot_general
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = amsp.all_gather %w group = <[1:2]> : tensor<2048xf32> -> tensor<64x64xf32>
  %2 = amsp.all_gather %v group = <[1:2]> : tensor<2048xf32> -> tensor<64x64xf32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0, %3 : tensor<64x64xf32>, tensor<64x64xf32>
}
