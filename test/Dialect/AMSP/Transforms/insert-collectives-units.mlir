// RUN: amsp-opt %s --amsp-insert-collectives='levels=2,2' --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

#batch = #amsp.role<batch>
#param = #amsp.role<param>
#zero3 = {p = array<i64: 2, 2>, g = array<i64: 2, 2>, os = array<i64: 2, 2>}
#mics = {p = array<i64: 2, 1>, g = array<i64: 2, 1>, os = array<i64: 2, 1>}

// Each unit is gathered and reduced over the digits of its own strategy. The
// squares of both gradients, each summed over its own pieces, are added before
// the one reduction of the norm: those that two ranks hold count on one of them.

// CHECK: module attributes {amsp.levels = array<i64: 2, 2>}
// CHECK-LABEL: func.func public @norm
// CHECK-SAME: tensor<3xf32> {{{.*}}amsp.placement = #amsp.placement<flat, 0, [1:2, 2:2]>{{.*}}amsp.strategy = {g = array<i64: 2, 2>
// CHECK-SAME: tensor<6xf32> {{{.*}}amsp.placement = #amsp.placement<flat, 0, [1:2]>{{.*}}amsp.strategy = {g = array<i64: 2, 1>
// CHECK: amsp.all_gather %arg0 group = <[1:2, 2:2]> parameter = 0 unit = "a"
// CHECK: amsp.all_gather %arg1 group = <[1:2]> parameter = 1 unit = "b"
// CHECK: %[[A:.*]] = amsp.reduce_scatter sum %{{.*}} group = <[1:2, 2:2]> parameter = 0 unit = "a" : tensor<3x4xf32> -> tensor<3xf32>
// CHECK: %[[B0:.*]] = amsp.reduce_scatter sum %{{.*}} group = <[1:2]> parameter = 1 unit = "b" : tensor<4x3xf32> -> tensor<6xf32>
// CHECK: %[[B:.*]] = amsp.all_reduce sum %[[B0]] group = <[2:2]> parameter = 1 unit = "b"
// CHECK: %[[AA:.*]] = stablehlo.multiply %[[A]], %[[A]]
// CHECK: %[[AS:.*]] = stablehlo.reduce(%[[AA]]
// CHECK: %[[BB:.*]] = stablehlo.multiply %[[B]], %[[B]]
// CHECK: %[[BS:.*]] = stablehlo.reduce(%[[BB]]
// CHECK: %[[BK:.*]] = amsp.keep_on_first %[[BS]] group = <[2:2]>
// CHECK: %[[S:.*]] = stablehlo.add %[[AS]], %[[BK]]
// CHECK: amsp.all_reduce sum %[[S]] group = <[1:4]> : tensor<f32>
// CHECK-NOT: amsp.all_reduce
// CHECK-NOT: amsp.all_gather
// CHECK: return
func.func public @norm(
    %a: tensor<3x4xf32> {amsp.result = 0 : i64, amsp.role = #param, amsp.unit = "a", amsp.strategy = #zero3},
    %b: tensor<4x3xf32> {amsp.result = 1 : i64, amsp.role = #param, amsp.unit = "b", amsp.strategy = #mics},
    %x: tensor<4x3xf32> {amsp.role = #batch}) -> (tensor<3x4xf32>, tensor<4x3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %h = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %y = stablehlo.dot_general %h, %b, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %ga = stablehlo.dot_general %x, %h, contracting_dims = [0] x [0] : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %gb = stablehlo.dot_general %h, %y, contracting_dims = [0] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %aa = stablehlo.multiply %ga, %ga : tensor<3x4xf32>
  %as = stablehlo.reduce(%aa init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
  %bb = stablehlo.multiply %gb, %gb : tensor<4x3xf32>
  %bs = stablehlo.reduce(%bb init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<f32>
  %s = stablehlo.add %as, %bs : tensor<f32>
  %n = stablehlo.sqrt %s : tensor<f32>
  %na = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
  %nb = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
  %ca = stablehlo.divide %ga, %na : tensor<3x4xf32>
  %cb = stablehlo.divide %gb, %nb : tensor<4x3xf32>
  %a1 = stablehlo.subtract %a, %ca : tensor<3x4xf32>
  %b1 = stablehlo.subtract %b, %cb : tensor<4x3xf32>
  return %a1, %b1 : tensor<3x4xf32>, tensor<4x3xf32>
}

// -----

// Pieces of two strategies meet as wholes, and it is said.

#param = #amsp.role<param>
#zero3 = {p = array<i64: 2, 2>, g = array<i64: 2, 2>, os = array<i64: 2, 2>}
#mics = {p = array<i64: 2, 1>, g = array<i64: 2, 1>, os = array<i64: 2, 1>}

// CHECK-LABEL: func.func public @pieces
// CHECK: %[[W:.*]] = amsp.all_gather %arg1 group = <[1:2]>
// CHECK: %[[P:.*]] = amsp.local_slice %[[W]] group = <[1:2, 2:2]> : tensor<3x4xf32> -> tensor<3xf32>
// CHECK: stablehlo.add %arg0, %[[P]] : tensor<3xf32>
func.func public @pieces(
    %a: tensor<3x4xf32> {amsp.result = 0 : i64, amsp.role = #param, amsp.unit = "a", amsp.strategy = #zero3},
    %b: tensor<3x4xf32> {amsp.result = 1 : i64, amsp.role = #param, amsp.unit = "b", amsp.strategy = #mics})
    -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  // expected-remark @+1 {{gathers 'tensor<3x4xf32>' (48 bytes): 'stablehlo.add' has no local rule for an operand that is flat(os of strategy 1)}}
  %a1 = stablehlo.add %a, %b : tensor<3x4xf32>
  return %a1, %b : tensor<3x4xf32>, tensor<3x4xf32>
}
