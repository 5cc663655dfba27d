// RUN: amsp-opt %s --amsp-lower-to-linalg | FileCheck %s

// Looking for equal carries among all pairs takes more than linear time
// (docs/compile-time.md), so they stay. Should this test fail, upstream's pattern
// has another name and is back in the pipelines.

// CHECK-LABEL: func.func @equal
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<8xf32>, tensor<8xf32>)
func.func @equal(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %b = %x) : tensor<i32>, tensor<8xf32>, tensor<8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.multiply %a, %b : tensor<8xf32>
    %3 = stablehlo.add %2, %y : tensor<8xf32>
    stablehlo.return %1, %3, %3 : tensor<i32>, tensor<8xf32>, tensor<8xf32>
  }
  return %0#1, %0#2 : tensor<8xf32>, tensor<8xf32>
}
