// RUN: amsp-opt %s --amsp-convert-stablehlo-to-linalg | FileCheck %s

// Loops keep the operand's order; sums may be reassociated.
// CHECK-LABEL: func.func @sum
// CHECK: iterator_types = ["reduction", "parallel"]
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
func.func @sum(%a: tensor<24x5xf32>) -> tensor<5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<24x5xf32>, tensor<f32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// 16-bit floats are summed in f32; their maxima need not be.
// CHECK-LABEL: func.func @sum_bf16
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: linalg.generic {{.*}}"reduction", "parallel"]} ins(%{{.*}} : tensor<24x5xf32>) outs(%{{.*}} : tensor<5xf32>)
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @sum_bf16(%a: tensor<24x5xbf16>) -> tensor<5xbf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<24x5xbf16>, tensor<bf16>) -> tensor<5xbf16>
  return %0 : tensor<5xbf16>
}

// CHECK-LABEL: func.func @max_f16
// CHECK-NOT: arith.extf
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<24x5xf16>) outs(%{{.*}} : tensor<5xf16>)
func.func @max_f16(%a: tensor<24x5xf16>, %low: tensor<f16>) -> tensor<5xf16> {
  %0 = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<24x5xf16>, tensor<f16>) -> tensor<5xf16>
  return %0 : tensor<5xf16>
}

// A region with two running values.
// CHECK-LABEL: func.func @argmax
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x6xf32>, tensor<4x6xi32>) outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi32>)
// CHECK: ^bb0(%[[X:.+]]: f32, %[[I:.+]]: i32, %[[MAX:.+]]: f32, %[[AT:.+]]: i32):
// CHECK: %[[TAKE:.+]] = arith.cmpf ogt, %[[X]], %[[MAX]]
// CHECK: arith.select %[[TAKE]], %[[X]], %[[MAX]]
// CHECK: arith.select %[[TAKE]], %[[I]], %[[AT]]
func.func @argmax(%a: tensor<4x6xf32>, %i: tensor<4x6xi32>, %low: tensor<f32>, %first: tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0:2 = "stablehlo.reduce"(%a, %i, %low, %first) <{dimensions = array<i64: 1>}> ({
  ^bb0(%m: tensor<f32>, %at: tensor<i32>, %x: tensor<f32>, %j: tensor<i32>):
    %t = stablehlo.compare GT, %x, %m : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v = stablehlo.select %t, %x, %m : tensor<i1>, tensor<f32>
    %k = stablehlo.select %t, %j, %at : tensor<i1>, tensor<i32>
    stablehlo.return %v, %k : tensor<f32>, tensor<i32>
  }) : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @dot
// CHECK: linalg.contract indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}] ins(%{{.*}} : tensor<2x4x6xf32>, tensor<2x5x6xf32>) outs(%{{.*}} : tensor<2x4x5xf32>)
func.func @dot(%a: tensor<2x4x6xf32>, %b: tensor<2x5x6xf32>) -> tensor<2x4x5xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x4x6xf32>, tensor<2x5x6xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}

// Narrow floats are summed in f32.
// CHECK-LABEL: func.func @dot_bf16
// CHECK: linalg.contract {{.*}} -> tensor<4x5xf32>
// CHECK: arith.truncf
func.func @dot_bf16(%a: tensor<4x6xbf16>, %b: tensor<6x5xbf16>) -> tensor<4x5xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x6xbf16>, tensor<6x5xbf16>) -> tensor<4x5xbf16>
  return %0 : tensor<4x5xbf16>
}

// CHECK-LABEL: func.func @outer_product
// CHECK-NOT: linalg.contract
// CHECK: arith.mulf
func.func @outer_product(%a: tensor<4xf32>, %b: tensor<5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [] x [] : (tensor<4xf32>, tensor<5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
