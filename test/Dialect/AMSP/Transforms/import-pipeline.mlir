// RUN: amsp-opt %s --amsp-import='batch-args=2 recognize-attention=false' | FileCheck %s

// The loss depends on the rate, and is not its new value.
// CHECK: func.func public @main(
// CHECK-SAME: %arg0: tensor<3xf32> {amsp.name = "w", amsp.result = 0 : i64, amsp.role = #amsp.role<{{param}}>
// CHECK-SAME: %arg1: tensor<f32> {amsp.name = "rate", amsp.role = #amsp.role<constant>}
// CHECK-SAME: %arg2: tensor<8x3xf32> {amsp.name = "x", amsp.role = #amsp.role<batch>}
// CHECK-NOT: call
// CHECK-NOT: func.func
func.func public @main(%w: tensor<3xf32> loc("w"), %rate: tensor<f32> loc("rate"), %x: tensor<8x3xf32> loc("x")) -> (tensor<3xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %rows = call @scale(%x, %w) : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  %g = stablehlo.reduce(%rows init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x3xf32>, tensor<f32>) -> tensor<3xf32>
  %r = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %d = stablehlo.multiply %r, %g : tensor<3xf32>
  %new = stablehlo.subtract %w, %d : tensor<3xf32>
  %loss = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %new, %loss : tensor<3xf32>, tensor<f32>
}
func.func private @scale(%x: tensor<8x3xf32>, %w: tensor<3xf32>) -> tensor<8x3xf32> {
  %0 = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<3xf32>) -> tensor<8x3xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<8x3xf32>
  return %1 : tensor<8x3xf32>
}
