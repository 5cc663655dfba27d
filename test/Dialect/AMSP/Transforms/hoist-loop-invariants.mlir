// RUN: amsp-opt %s --pass-pipeline='builtin.module(func.func(amsp-hoist-loop-invariants))' | FileCheck %s

// CHECK-LABEL: func.func @invariant
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>)
func.func @invariant(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  // The weights leave the loop; its body captures them.
  // CHECK: %[[R:.*]]:2 = stablehlo.while(%[[I:.*]] = %{{.*}}, %[[A:.*]] = %[[X]]) : tensor<i32>, tensor<4xf32>
  // CHECK: stablehlo.multiply %[[A]], %[[W]] : tensor<4xf32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %v = %w) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.multiply %a, %v : tensor<4xf32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1, %v : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  // CHECK: return %[[R]]#1, %[[W]]
  return %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @nested
func.func @nested(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  // The inner loop hands the weight on unchanged, so the outer one does too.
  // CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %arg0) : tensor<i32>, tensor<f32>
  // CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : tensor<i32>, tensor<f32>
  // CHECK: stablehlo.add %{{.*}}, %arg1 : tensor<f32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %v = %w) : tensor<i32>, tensor<f32>, tensor<f32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1:3 = stablehlo.while(%j = %zero, %b = %a, %u = %v) : tensor<i32>, tensor<f32>, tensor<f32>
    cond {
      %q = stablehlo.compare LT, %j, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %q : tensor<i1>
    } do {
      %2 = stablehlo.add %b, %u : tensor<f32>
      %3 = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %3, %2, %u : tensor<i32>, tensor<f32>, tensor<f32>
    }
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4, %1#1, %1#2 : tensor<i32>, tensor<f32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}
