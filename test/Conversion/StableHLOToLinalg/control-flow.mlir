// RUN: amsp-opt %s --amsp-convert-stablehlo-control-flow | FileCheck %s

// The counter becomes the loop's index, what does not change is captured.
// CHECK-LABEL: func.func @counted
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>, %[[W:.+]]: tensor<4xf32>
// CHECK: %[[R:.+]] = scf.for %{{.*}} = %c0 to %c10 step %c1 iter_args(%[[ACC:.+]] = %[[X]]) -> (tensor<4xf32>)
// CHECK: stablehlo.multiply %[[ACC]], %[[W]]
// CHECK: return %[[R]]
func.func @counted(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %b = %w) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %ten = stablehlo.constant dense<10> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.multiply %a, %b : tensor<4xf32>
    stablehlo.return %1, %2, %b : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @uncounted
// CHECK: scf.while
// CHECK: scf.condition
func.func @uncounted(%x: tensor<f32>, %limit: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.while(%a = %x) : tensor<f32>
  cond {
    %1 = stablehlo.compare LT, %a, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %a, %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// Out of range is the last branch.
// CHECK-LABEL: func.func @case
// CHECK: scf.index_switch
// CHECK: case 0
// CHECK: stablehlo.negate
// CHECK: default
// CHECK: scf.if
func.func @case(%i: tensor<i32>, %p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    %1 = "stablehlo.if"(%p) ({
      stablehlo.return %x : tensor<4xf32>
    }, {
      %2 = stablehlo.abs %x : tensor<4xf32>
      stablehlo.return %2 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
