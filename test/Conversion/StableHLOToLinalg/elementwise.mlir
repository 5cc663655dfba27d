// RUN: amsp-opt %s --amsp-convert-stablehlo-to-linalg | FileCheck %s

// CHECK: #[[$SCALAR:.+]] = affine_map<(d0, d1) -> ()>

// Integers without sign: the element type chooses the payload.
// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME: tensor<4xi32>, %{{.*}}: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi1>)
// CHECK: arith.divui
// CHECK: arith.cmpi ult
func.func @unsigned(%a: tensor<4xui32>, %b: tensor<4xui32>) -> (tensor<4xui32>, tensor<4xi1>) {
  %0 = stablehlo.divide %a, %b : tensor<4xui32>
  %1 = stablehlo.compare LT, %a, %b, UNSIGNED : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  return %0, %1 : tensor<4xui32>, tensor<4xi1>
}

// A predicate of rank 0 is read at every point.
// CHECK-LABEL: func.func @select_scalar
// CHECK: linalg.generic {indexing_maps = [#[[$SCALAR]],
// CHECK: arith.select
func.func @select_scalar(%p: tensor<i1>, %a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Functions of 16-bit floats are computed in f32.
// CHECK-LABEL: func.func @bf16
// CHECK: arith.extf {{.*}} : bf16 to f32
// CHECK: math.tanh {{.*}} : f32
// CHECK: arith.truncf {{.*}} : f32 to bf16
func.func @bf16(%a: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = stablehlo.tanh %a : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// Out of range saturates, NaN is 0.
// CHECK-LABEL: func.func @saturate
// CHECK: arith.fptosi
// CHECK: %[[LOW:.+]] = arith.constant -1.280000e+02 : f32
// CHECK: arith.cmpf olt, %{{.*}}, %[[LOW]]
// CHECK: %[[HIGH:.+]] = arith.constant 1.280000e+02 : f32
// CHECK: arith.cmpf oge, %{{.*}}, %[[HIGH]]
// CHECK: arith.cmpf uno
func.func @saturate(%a: tensor<4xf32>) -> tensor<4xi8> {
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// CHECK-LABEL: func.func @square
// CHECK: ^bb0(%[[X:.+]]: f32,
// CHECK: arith.mulf %[[X]], %[[X]]
func.func @square(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.square %a : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Collectives stay.
// CHECK-LABEL: func.func @collectives
// CHECK: amsp.all_gather
// CHECK: linalg.generic
// CHECK: amsp.reduce_scatter
func.func @collectives(%a: tensor<101xf32>) -> tensor<101xf32> {
  %w = amsp.all_gather %a group = <[1:2, 2:2]> : tensor<101xf32> -> tensor<13x31xf32>
  %s = stablehlo.negate %w : tensor<13x31xf32>
  %g = amsp.reduce_scatter sum %s group = <[1:2, 2:2]> : tensor<13x31xf32> -> tensor<101xf32>
  return %g : tensor<101xf32>
}
