// RUN: amsp-opt %s --amsp-legalize-chlo | FileCheck %s

// CHECK-LABEL: func.func @square
// CHECK-NEXT: %[[PRODUCT:.*]] = stablehlo.multiply %arg0, %arg0 : tensor<4xf32>
// CHECK-NEXT: return %[[PRODUCT]]
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @top_k
// CHECK: %[[POSITIONS:.*]] = stablehlo.iota dim = 1 : tensor<4x6xi32>
// CHECK: %[[SORTED:.*]]:2 = "stablehlo.sort"(%arg0, %[[POSITIONS]]) <{dimension = 1 : i64, is_stable = true}>
// CHECK: stablehlo.compare GT, {{.*}}, TOTALORDER
// CHECK: %[[VALUES:.*]] = stablehlo.slice %[[SORTED]]#0 [0:4, 0:2]
// CHECK: %[[INDICES:.*]] = stablehlo.slice %[[SORTED]]#1 [0:4, 0:2]
// CHECK: return %[[VALUES]], %[[INDICES]]
func.func @top_k(%x: tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>) {
  %values, %indices = chlo.top_k(%x, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %values, %indices : tensor<4x2xf32>, tensor<4x2xi32>
}

// Formulas are evaluated in f32 at least.
// CHECK-LABEL: func.func @functions
// CHECK-NOT: chlo
// CHECK: stablehlo.convert %arg0 : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK: stablehlo.log_plus_one {{.*}} : tensor<4xf32>
// CHECK: stablehlo.convert {{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK: stablehlo.sine {{.*}} : tensor<4xf64>
// CHECK: stablehlo.bitcast_convert {{.*}} : (tensor<4xf64>) -> tensor<4xi64>
// CHECK: return
func.func @functions(%x: tensor<4xbf16>, %y: tensor<4xf64>) -> (tensor<4xbf16>, tensor<4xf64>) {
  %0 = chlo.erf_inv %x : tensor<4xbf16> -> tensor<4xbf16>
  %1 = chlo.lgamma %y : tensor<4xf64> -> tensor<4xf64>
  %2 = chlo.next_after %1, %y : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
  return %0, %2 : tensor<4xbf16>, tensor<4xf64>
}

// Code generation has the error functions as they are.
// CHECK-LABEL: func.func @error_functions
// CHECK: chlo.erf %arg0
// CHECK: chlo.erfc
func.func @error_functions(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.erfc %0 : tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
