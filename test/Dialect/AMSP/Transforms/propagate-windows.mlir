// RUN: amsp-opt %s --amsp-annotate-roles --amsp-propagate-placements='world=4' | FileCheck %s

// Convolutions, windows and sorts along the batch.

// CHECK-LABEL: func.func public @main
func.func public @main(
    %w: tensor<3x2x4xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<8x6x2xf32> loc("x"))
    -> (tensor<3x2x4xf32>, tensor<8x3x4xf32>, tensor<8x6x2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.convolution{{.*}} {amsp.made = ["split(0)"], batch_group_count
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x6x2xf32>, tensor<3x2x4xf32>) -> tensor<8x6x4xf32>
  // CHECK: "stablehlo.reduce_window"
  // CHECK: amsp.made = ["split(0)"]
  %max = "stablehlo.reduce_window"(%y, %zero) <{window_dimensions = array<i64: 1, 2, 1>, window_strides = array<i64: 1, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<8x6x4xf32>, tensor<f32>) -> tensor<8x3x4xf32>
  // CHECK: "stablehlo.select_and_scatter"
  // CHECK: amsp.made = ["split(0)"]
  %gy = "stablehlo.select_and_scatter"(%y, %max, %zero) <{window_dimensions = array<i64: 1, 2, 1>, window_strides = array<i64: 1, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<8x6x4xf32>, tensor<8x3x4xf32>, tensor<f32>) -> tensor<8x6x4xf32>
  // The gradient of the kernel sums over the batch.
  // CHECK: stablehlo.convolution{{.*}} dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f]{{.*}} {amsp.completed = ["flat(os)"], amsp.made = ["partial(sum, batch)"]
  %gw = stablehlo.convolution(%x, %gy) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x6x2xf32>, tensor<8x6x4xf32>) -> tensor<3x2x4xf32>
  %w1 = stablehlo.subtract %w, %gw : tensor<3x2x4xf32>
  // CHECK: "stablehlo.sort"
  // CHECK: amsp.made = ["split(0)"]
  %sorted = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : (tensor<8x6x2xf32>) -> tensor<8x6x2xf32>
  return %w1, %max, %sorted : tensor<3x2x4xf32>, tensor<8x3x4xf32>, tensor<8x6x2xf32>
}
