// RUN: amsp-opt %s --amsp-annotate-roles -split-input-file | FileCheck %s
// RUN: amsp-opt %s --amsp-annotate-roles='batch-args=batch' -split-input-file | FileCheck %s

// A step of momentum SGD on y = x w, with a step counter, an average of the
// parameter, and running statistics of the batch.

// CHECK-LABEL: func.func public @main
// CHECK-SAME: %arg0: tensor<3x2xf32> {amsp.name = "params['layers'][0]['w']", amsp.result = 0 : i64, amsp.role = #amsp.role<param>, amsp.unit = "layers.0"}
// CHECK-SAME: %arg1: tensor<3x2xf32> {amsp.name = "opt.trace['layers'][0]['w']", amsp.result = 1 : i64, amsp.role = #amsp.role<opt_state>, amsp.unit = "layers.0"}
// CHECK-SAME: %arg2: tensor<i32> {amsp.name = "opt.count", amsp.result = 2 : i64, amsp.role = #amsp.role<state>}
// CHECK-SAME: %arg3: tensor<3x2xf32> {amsp.name = "ema", amsp.result = 3 : i64, amsp.role = #amsp.role<opt_state>, amsp.unit = "layers.0"}
// CHECK-SAME: %arg4: tensor<3xf32> {amsp.name = "mean", amsp.result = 4 : i64, amsp.role = #amsp.role<state>}
// CHECK-SAME: %arg5: tensor<8x3xf32> {amsp.name = "batch", amsp.role = #amsp.role<batch>}
// CHECK-SAME: %arg6: tensor<f32> {amsp.name = "rate", amsp.role = #amsp.role<constant>}
// CHECK-SAME: -> (tensor<3x2xf32> {amsp.argument = 0 : i64, amsp.role = #amsp.role<param>}
// CHECK-SAME: tensor<3x2xf32> {amsp.argument = 1 : i64, amsp.role = #amsp.role<opt_state>}
// CHECK-SAME: tensor<f32> {amsp.role = #amsp.role<output>})
func.func public @main(
    %w: tensor<3x2xf32> {tf.aliasing_output = 0 : i32} loc("params['layers'][0]['w']"),
    %m: tensor<3x2xf32> {tf.aliasing_output = 1 : i32} loc("opt.trace['layers'][0]['w']"),
    %count: tensor<i32> {tf.aliasing_output = 2 : i32} loc("opt.count"),
    %ema: tensor<3x2xf32> {tf.aliasing_output = 3 : i32} loc("ema"),
    %mean: tensor<3xf32> {tf.aliasing_output = 4 : i32} loc("mean"),
    %x: tensor<8x3xf32> loc("batch"), %rate: tensor<f32> loc("rate"))
    -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<i32>, tensor<3x2xf32>, tensor<3xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x2xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
  %r = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
  %m0 = stablehlo.multiply %r, %m : tensor<3x2xf32>
  %m1 = stablehlo.add %g, %m0 : tensor<3x2xf32>
  %w1 = stablehlo.subtract %w, %m1 : tensor<3x2xf32>
  %count1 = stablehlo.add %count, %one : tensor<i32>
  %ema0 = stablehlo.multiply %r, %ema : tensor<3x2xf32>
  %ema1 = stablehlo.add %ema0, %w1 : tensor<3x2xf32>
  %batchmean = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x3xf32>, tensor<f32>) -> tensor<3xf32>
  %mean1 = stablehlo.add %mean, %batchmean : tensor<3xf32>
  return %w1, %m1, %count1, %ema1, %mean1, %loss : tensor<3x2xf32>, tensor<3x2xf32>, tensor<i32>, tensor<3x2xf32>, tensor<3xf32>, tensor<f32>
}

// -----

// A matrix update works on the transpose of what is tall: the momentum is the
// parameter's all the same. What lies there transposed itself is not.

// CHECK-LABEL: func.func public @main
// CHECK-SAME: %arg1: tensor<7x3xf32> {amsp.name = "mu", amsp.result = 1 : i64, amsp.role = #amsp.role<opt_state>, amsp.unit = "{{[^"]+}}"}
// CHECK-SAME: %arg2: tensor<3x7xf32> {amsp.name = "nu", amsp.result = 2 : i64, amsp.role = #amsp.role<state>}
func.func public @main(
    %w: tensor<7x3xf32> {tf.aliasing_output = 0 : i32} loc("params['w']"),
    %m: tensor<7x3xf32> {tf.aliasing_output = 1 : i32} loc("mu"),
    %n: tensor<3x7xf32> {tf.aliasing_output = 2 : i32} loc("nu"),
    %x: tensor<8x7xf32> loc("batch")) -> (tensor<7x3xf32>, tensor<7x3xf32>, tensor<3x7xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x7xf32>, tensor<7x3xf32>) -> tensor<8x3xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<8x7xf32>, tensor<8x3xf32>) -> tensor<7x3xf32>
  %m1 = stablehlo.add %g, %m : tensor<7x3xf32>
  %t = stablehlo.transpose %m1, dims = [1, 0] : (tensor<7x3xf32>) -> tensor<3x7xf32>
  %n1 = stablehlo.add %t, %n : tensor<3x7xf32>
  %square = stablehlo.dot_general %n1, %n1, contracting_dims = [1] x [1] : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x3xf32>
  %u = stablehlo.dot_general %square, %n1, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  %sum = stablehlo.add %u, %n1 : tensor<3x7xf32>
  %back = stablehlo.transpose %sum, dims = [1, 0] : (tensor<3x7xf32>) -> tensor<7x3xf32>
  %w1 = stablehlo.subtract %w, %back : tensor<7x3xf32>
  return %w1, %m1, %n1 : tensor<7x3xf32>, tensor<7x3xf32>, tensor<3x7xf32>
}
