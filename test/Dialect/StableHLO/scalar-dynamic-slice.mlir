// RUN: amsp-opt %s | FileCheck %s

// jaxlib prints this text, yet does not read it.
// CHECK-LABEL: func.func @scalar
func.func @scalar(%arg0: tensor<f32>) {
  // CHECK: stablehlo.dynamic_slice %arg0, , sizes = [] : (tensor<f32>) -> tensor<f32>
  %0 = stablehlo.dynamic_slice %arg0, , sizes = [] : (tensor<f32>) -> tensor<f32>
  return
}
