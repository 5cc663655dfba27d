// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2 strategy=zero3' --canonicalize | FileCheck %s --check-prefixes=CHECK,F32
// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2 strategy=zero3 reduce-type=bf16' --canonicalize | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2 strategy=zero3 reduce-type=graph' --canonicalize | FileCheck %s --check-prefixes=CHECK,GRAPH
// RUN: not amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2 strategy=zero3 reduce-type=f8' 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: unknown reduction type 'f8': expected f32, bf16 or graph

// A bf16 parameter and an f32 one, with a loss in f32.

// CHECK-LABEL: func.func public @main
func.func public @main(
    %w: tensor<4xbf16> {tf.aliasing_output = 0 : i32} loc("w"),
    %v: tensor<4xf32> {tf.aliasing_output = 1 : i32} loc("v"),
    %x: tensor<2x4xbf16> loc("x"), %y: tensor<2x4xf32> loc("y"))
    -> (tensor<4xbf16>, tensor<4xf32>, tensor<f32>) {
  %bzero = stablehlo.constant dense<0.0> : tensor<bf16>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // F32: %[[WIDE:.*]] = stablehlo.convert %{{.*}} : (tensor<4xbf16>) -> tensor<4xf32>
  // F32: %[[SUM:.*]] = amsp.reduce_scatter sum %[[WIDE]] {{.*}} : tensor<4xf32> -> tensor<2xf32>
  // F32: stablehlo.convert %[[SUM]] : (tensor<2xf32>) -> tensor<2xbf16>
  // F32: amsp.reduce_scatter sum %{{.*}} : tensor<4xf32> -> tensor<2xf32>
  // BF16: amsp.reduce_scatter sum %{{.*}} : tensor<4xbf16> -> tensor<2xbf16>
  // BF16: %[[NARROW:.*]] = stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
  // BF16: %[[SUM:.*]] = amsp.reduce_scatter sum %[[NARROW]] {{.*}} : tensor<4xbf16> -> tensor<2xbf16>
  // BF16: stablehlo.convert %[[SUM]] : (tensor<2xbf16>) -> tensor<2xf32>
  // GRAPH: amsp.reduce_scatter sum %{{.*}} : tensor<4xbf16> -> tensor<2xbf16>
  // GRAPH: amsp.reduce_scatter sum %{{.*}} : tensor<4xf32> -> tensor<2xf32>
  // CHECK: amsp.all_reduce sum %{{.*}} : tensor<f32>
  %wb = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xbf16>) -> tensor<2x4xbf16>
  %h = stablehlo.multiply %x, %wb : tensor<2x4xbf16>
  %gw = stablehlo.reduce(%h init: %bzero) applies stablehlo.add across dimensions = [0] : (tensor<2x4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  %vb = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
  %k = stablehlo.multiply %y, %vb : tensor<2x4xf32>
  %gv = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
  %loss = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  %w1 = stablehlo.subtract %w, %gw : tensor<4xbf16>
  %v1 = stablehlo.subtract %v, %gv : tensor<4xf32>
  return %w1, %v1, %loss : tensor<4xbf16>, tensor<4xf32>, tensor<f32>
}
