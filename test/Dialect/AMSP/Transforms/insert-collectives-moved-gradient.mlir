// RUN: amsp-opt %s --amsp-insert-collectives='levels=2' --canonicalize --cse -split-input-file | FileCheck %s

#batch = #amsp.role<batch>
#param = #amsp.role<param>
#zero3 = {p = array<i64: 2>, g = array<i64: 2>, os = array<i64: 2>}

// Of a parameter of which the first two rows are used, the gradient is summed
// before it is padded: it is the parameter's all the same.

// CHECK-LABEL: func.func public @padded
// CHECK: amsp.all_reduce sum %{{.*}} group = <[1:2]> parameter = 0 unit = "a" : tensor<2x4xf32>
// CHECK-NEXT: stablehlo.pad
func.func public @padded(
    %a: tensor<6x4xf32> {amsp.result = 0 : i64, amsp.role = #param, amsp.unit = "a", amsp.strategy = #zero3},
    %x: tensor<4x2xf32> {amsp.role = #batch}, %y: tensor<4x4xf32> {amsp.role = #batch}) -> tensor<6x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<4x2xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %padded = stablehlo.pad %g, %zero, low = [0, 0], high = [4, 0], interior = [0, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<6x4xf32>
  %new = stablehlo.subtract %a, %padded : tensor<6x4xf32>
  return %new : tensor<6x4xf32>
}

// -----

#batch = #amsp.role<batch>
#param = #amsp.role<param>
#zero3 = {p = array<i64: 2>, g = array<i64: 2>, os = array<i64: 2>}

// One sum of which the gradients of two parameters are parts is neither's. One
// of which a gradient is a part, as of a parameter padded for its use, is its
// parameter's.

// CHECK-LABEL: func.func public @parts
// CHECK: amsp.all_reduce sum %{{.*}} group = <[1:2]> : tensor<2x4xf32>
// CHECK: amsp.all_reduce sum %{{.*}} group = <[1:2]> parameter = 2 unit = "c" : tensor<2x4xf32>
func.func public @parts(
    %a: tensor<1x4xf32> {amsp.result = 0 : i64, amsp.role = #param, amsp.unit = "a", amsp.strategy = #zero3},
    %b: tensor<1x4xf32> {amsp.result = 1 : i64, amsp.role = #param, amsp.unit = "b", amsp.strategy = #zero3},
    %c: tensor<1x4xf32> {amsp.result = 2 : i64, amsp.role = #param, amsp.unit = "c", amsp.strategy = #zero3},
    %x: tensor<4x2xf32> {amsp.role = #batch}, %y: tensor<4x4xf32> {amsp.role = #batch}) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %both = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<4x2xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %squares = stablehlo.multiply %y, %y : tensor<4x4xf32>
  %padded = stablehlo.dot_general %x, %squares, contracting_dims = [0] x [0] : (tensor<4x2xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %exp = stablehlo.exponential %both : tensor<2x4xf32>
  %cosine = stablehlo.cosine %padded : tensor<2x4xf32>
  %ga = stablehlo.slice %exp [0:1, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %gb = stablehlo.slice %exp [1:2, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %gc = stablehlo.slice %cosine [0:1, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %na = stablehlo.subtract %a, %ga : tensor<1x4xf32>
  %nb = stablehlo.subtract %b, %gb : tensor<1x4xf32>
  %nc = stablehlo.subtract %c, %gc : tensor<1x4xf32>
  return %na, %nb, %nc : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}
