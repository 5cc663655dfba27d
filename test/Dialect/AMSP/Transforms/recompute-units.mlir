// RUN: amsp-opt %s --amsp-recompute-units -split-input-file | FileCheck %s
// RUN: amsp-opt %s --amsp-recompute-units=units=b -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=SOME

// Values that only backward reads besides are computed again, from what is kept:
// the batch, and what the next unit's forward pass reads. The last unit is not.

// CHECK-LABEL: func.func @layers
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4x4xf32> {{.*}}unit = "a"
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4x4xf32> {{.*}}unit = "b"
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x4xf32> {amsp.role = #amsp.role<batch>}
// CHECK: %[[DOT:.*]] = stablehlo.multiply %[[X]], %[[A]]
// CHECK: %[[KEPT:.*]] = stablehlo.tanh %[[DOT]]
// CHECK: stablehlo.transpose %[[B]]
// CHECK: stablehlo.multiply %[[KEPT]]
// CHECK: %[[LAST:.*]] = stablehlo.sine
// CHECK: %[[TAIL:.*]] = stablehlo.multiply %[[LAST]]
// CHECK: %[[BARRED:.*]] = stablehlo.optimization_barrier %[[KEPT]]
// CHECK: %[[AGAIN:.*]] = stablehlo.multiply %[[BARRED]], %{{.*}}
// CHECK: %[[OFB:.*]] = stablehlo.add %[[TAIL]], %[[AGAIN]]
// CHECK: %[[BATCH:.*]] = stablehlo.optimization_barrier %[[X]]
// CHECK: %[[OFA:.*]] = stablehlo.multiply %[[BATCH]], %[[A]]
// CHECK: stablehlo.add %[[OFB]], %[[OFA]]

// SOME-LABEL: func.func @layers
// SOME-COUNT-1: stablehlo.optimization_barrier
// SOME-NOT: stablehlo.optimization_barrier
func.func @layers(
    %a: tensor<4x4xf32> {amsp.role = #amsp.role<param>, amsp.unit = "a"},
    %b: tensor<4x4xf32> {amsp.role = #amsp.role<param>, amsp.unit = "b"},
    %c: tensor<4x4xf32> {amsp.role = #amsp.role<param>, amsp.unit = "c"},
    %x: tensor<4x4xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4x4xf32> {
  %0 = stablehlo.multiply %x, %a : tensor<4x4xf32>
  %1 = stablehlo.tanh %0 : tensor<4x4xf32>
  %2 = stablehlo.transpose %b, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<4x4xf32>
  %4 = stablehlo.sine %3 : tensor<4x4xf32>
  %5 = stablehlo.multiply %4, %c : tensor<4x4xf32>
  %6 = stablehlo.add %5, %3 : tensor<4x4xf32>
  %7 = stablehlo.add %6, %0 : tensor<4x4xf32>
  %8 = stablehlo.add %7, %1 : tensor<4x4xf32>
  return %8 : tensor<4x4xf32>
}

// -----

// In a loop over microbatches, the forward pass is in its body.

// CHECK-LABEL: func.func @microbatches
// CHECK: stablehlo.while
// CHECK: do {
// CHECK: stablehlo.optimization_barrier
// CHECK: stablehlo.return
// CHECK-NOT: stablehlo.optimization_barrier
// expected-error @below {{unit 'b' cannot be computed again: only one whose forward pass another unit's follows can}}
func.func @microbatches(
    %a: tensor<4x4xf32> {amsp.role = #amsp.role<param>, amsp.unit = "a"},
    %b: tensor<4x4xf32> {amsp.role = #amsp.role<param>, amsp.unit = "b"},
    %x: tensor<4x4xf32> {amsp.role = #amsp.role<batch>}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.multiply %x, %a : tensor<4x4xf32>
    %2 = stablehlo.tanh %1 : tensor<4x4xf32>
    %3 = stablehlo.multiply %2, %b : tensor<4x4xf32>
    %4 = stablehlo.multiply %3, %1 : tensor<4x4xf32>
    %5 = stablehlo.add %sum, %4 : tensor<4x4xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<4x4xf32>
  }
  %7 = stablehlo.subtract %a, %0#1 : tensor<4x4xf32>
  %8 = stablehlo.subtract %b, %0#1 : tensor<4x4xf32>
  return %7, %8 : tensor<4x4xf32>, tensor<4x4xf32>
}
