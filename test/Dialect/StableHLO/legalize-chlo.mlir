// RUN: amsp-opt %s --amsp-legalize-chlo | FileCheck %s

// CHECK-LABEL: func.func @square
// CHECK-NEXT: %[[PRODUCT:.*]] = stablehlo.multiply %arg0, %arg0 : tensor<4xf32>
// CHECK-NEXT: return %[[PRODUCT]]
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
