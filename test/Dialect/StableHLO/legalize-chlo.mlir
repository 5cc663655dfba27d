// RUN: amsp-opt %s --amsp-legalize-chlo | FileCheck %s

// CHECK-LABEL: func.func @square
// CHECK-NEXT: %[[PRODUCT:.*]] = stablehlo.multiply %arg0, %arg0 : tensor<4xf32>
// CHECK-NEXT: return %[[PRODUCT]]
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
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
