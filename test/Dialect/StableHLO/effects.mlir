// RUN: amsp-opt %s --cse --canonicalize --inline | FileCheck %s

// Equal ops become one; unused ones go, with their regions, and so do unused
// collectives.
// CHECK-LABEL: func.func @pure
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add
// CHECK-NEXT: %[[TANH:.*]] = stablehlo.tanh %[[SUM]]
// CHECK-NEXT: return %[[TANH]], %[[TANH]]
func.func @pure(%x: tensor<4x6xf32>, %zero: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<8x6xf32>
  %3 = stablehlo.tanh %0 : tensor<4xf32>
  %4 = stablehlo.tanh %0 : tensor<4xf32>
  return %3, %4 : tensor<4xf32>, tensor<4xf32>
}

func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @inlined
// CHECK: cond
// CHECK: do
// CHECK-NEXT: stablehlo.negate
// CHECK-NOT: call
func.func @inlined(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = stablehlo.while(%iterArg = %x) : tensor<4xf32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = func.call @callee(%iterArg) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
