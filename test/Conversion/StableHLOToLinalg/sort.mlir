// RUN: amsp-opt %s --amsp-convert-stablehlo-to-linalg | FileCheck %s

// A pass merges a row into the scratch and copies it back.
// CHECK-LABEL: func.func @pairs
// CHECK-SAME: %[[KEYS:.+]]: tensor<4x6xf32>, %[[VALUES:.+]]: tensor<4x6xi32>
// CHECK: %[[SCRATCH:.+]] = tensor.empty() : tensor<6xf32>
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[KEYS]], {{.*}} = %[[VALUES]], {{.*}} = %[[SCRATCH]]
// CHECK: %[[PASSES:.+]] = arith.constant 3 : index
// CHECK: scf.for %{{.+}} = %{{.+}} to %[[PASSES]]
// CHECK: scf.for
// CHECK: arith.cmpf olt
// CHECK: tensor.insert {{.*}} : tensor<6xf32>
// CHECK: scf.for
// CHECK: tensor.insert {{.*}} : tensor<4x6xf32>
func.func @pairs(%keys: tensor<4x6xf32>, %values: tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>) {
  %0:2 = "stablehlo.sort"(%keys, %values) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
  return %0#0, %0#1 : tensor<4x6xf32>, tensor<4x6xi32>
}
