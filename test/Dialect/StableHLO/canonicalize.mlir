// RUN: amsp-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @identities
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0
func.func @identities(%x: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) {
  %0 = stablehlo.convert %x : tensor<4x1xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %2 = stablehlo.reshape %x : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %3 = stablehlo.transpose %x, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = stablehlo.slice %x [0:4, 0:1] : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = stablehlo.concatenate %x, dim = 0 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>
}

// A permutation of equal sizes is no identity.
// CHECK-LABEL: func.func @square
// CHECK: stablehlo.transpose
// CHECK: stablehlo.broadcast_in_dim
func.func @square(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @constants
// CHECK-DAG: %[[RESHAPED:.*]] = stablehlo.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>
// CHECK-DAG: %[[TRANSPOSED:.*]] = stablehlo.constant dense<5> : tensor<3x2xi32>
// CHECK-DAG: %[[SLICED:.*]] = stablehlo.constant dense<5> : tensor<1x3xi32>
// CHECK: return %[[RESHAPED]], %[[TRANSPOSED]], %[[SLICED]]
func.func @constants() -> (tensor<2x2xi32>, tensor<3x2xi32>, tensor<1x3xi32>) {
  %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %c_0 = stablehlo.constant dense<5> : tensor<2x3xi32>
  %0 = stablehlo.reshape %c : (tensor<4xi32>) -> tensor<2x2xi32>
  %1 = stablehlo.transpose %c_0, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %2 = stablehlo.slice %c_0 [1:2, 0:3] : (tensor<2x3xi32>) -> tensor<1x3xi32>
  return %0, %1, %2 : tensor<2x2xi32>, tensor<3x2xi32>, tensor<1x3xi32>
}

// -----

// Of a known number, only its branch is left; out of range, the last one.

// CHECK-LABEL: func.func @known_branch
// CHECK-SAME: %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>
func.func @known_branch(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[A]], %[[B]]
  // CHECK-NEXT: return %[[SUM]], %[[B]]
  %one = stablehlo.constant dense<1> : tensor<i32>
  %x = "stablehlo.case"(%one) ({
    stablehlo.return %a : tensor<f32>
  }, {
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }, {
    stablehlo.return %b : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  %below = stablehlo.constant dense<-1> : tensor<i32>
  %y = "stablehlo.case"(%below) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %b : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %x, %y : tensor<f32>, tensor<f32>
}

// -----

// One form for both conditionals.

// CHECK-LABEL: func.func @if_is_case
// CHECK-SAME: %[[P:.*]]: tensor<i1>, %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>
func.func @if_is_case(%p: tensor<i1>, %a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  // CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i32>
  // CHECK-DAG: %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<i32>
  // CHECK: %[[I:.*]] = stablehlo.select %[[P]], %[[ZERO]], %[[ONE]]
  // CHECK: "stablehlo.case"(%[[I]]) ({
  // CHECK-NEXT: stablehlo.return %[[A]]
  // CHECK: stablehlo.return %[[B]]
  %x = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %b : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %x : tensor<f32>
}
