// RUN: amsp-opt %s --amsp-convert-stablehlo-to-linalg | FileCheck %s --check-prefix=KEPT
// RUN: amsp-opt %s --amsp-lower-to-linalg | FileCheck %s

// What stands on both sides of a loop's written-out iteration is not fused; then
// the barrier goes.
// KEPT-LABEL: func.func @boundary
// KEPT: stablehlo.optimization_barrier {amsp.iteration = 0 : i64} %{{.*}} : tensor<8xi32>
// CHECK-LABEL: func.func @boundary
// CHECK-NOT: stablehlo
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: stablehlo
// CHECK: return
func.func @boundary(%x: tensor<8xui32>) -> tensor<8xui32> {
  %0 = stablehlo.add %x, %x : tensor<8xui32>
  %1 = stablehlo.optimization_barrier {amsp.iteration = 0 : i64} %0 : tensor<8xui32>
  %2 = stablehlo.multiply %1, %1 : tensor<8xui32>
  return %2 : tensor<8xui32>
}

// Other barriers go before.
// KEPT-LABEL: func.func @other
// KEPT-NOT: stablehlo
// CHECK-LABEL: func.func @other
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @other(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %x, %x : tensor<8xf32>
  %1 = stablehlo.optimization_barrier %0 : tensor<8xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
