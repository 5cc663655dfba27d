// RUN: amsp-opt %s --amsp-annotate-roles --amsp-propagate-placements='world=4' | FileCheck %s

// Momentum SGD on a linear layer with a bias, a mean loss and clipping by the
// global norm. What is checked: split activations, partial gradients, where
// they are completed, and that the norm is one sum over the pieces.

// CHECK-LABEL: func.func public @main
func.func public @main(
    %w: tensor<3x2xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %b: tensor<2xf32> {tf.aliasing_output = 1 : i32} loc("b"),
    %m: tensor<3x2xf32> {tf.aliasing_output = 2 : i32} loc("m"),
    %x: tensor<8x3xf32> loc("x"))
    -> (tensor<3x2xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %n = stablehlo.constant dense<16.0> : tensor<f32>
  // CHECK: stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0] {amsp.made = ["split(0)"]}
  %xw = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  // The chain from a parameter is whole; consumers pull their split up into it.
  // CHECK: stablehlo.broadcast_in_dim %arg1, dims = [1] {amsp.made = ["replicated"]}
  %bb = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<8x2xf32>
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} {amsp.made = ["split(0)"]} : tensor<8x2xf32>
  %y = stablehlo.add %xw, %bb : tensor<8x2xf32>
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [0, 1] {amsp.made = ["partial(sum, batch)"]}
  %sum = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x2xf32>, tensor<f32>) -> tensor<f32>
  // Dividing by a constant keeps the partial sum: it is completed for the result.
  // CHECK: stablehlo.divide %{{.*}}, %{{.*}} {amsp.completed = ["replicated"], amsp.made = ["partial(sum, batch)"]} : tensor<f32>
  %loss = stablehlo.divide %sum, %n : tensor<f32>
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [0] {amsp.completed = ["flat(os)"], amsp.made = ["partial(sum, batch)"]}
  %gb = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x2xf32>, tensor<f32>) -> tensor<2xf32>
  // The transpose is part of the linear chain: the gradient is what follows it.
  // CHECK: stablehlo.dot_general %{{.*}}, %arg3, contracting_dims = [0] x [0] {amsp.made = ["partial(sum, batch)"]}
  %gt = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0] : (tensor<8x2xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] {amsp.completed = ["flat(os)"], amsp.made = ["partial(sum, batch)"]}
  %gw = stablehlo.transpose %gt, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // The norm is summed over the pieces, and completed once, as a scalar.
  // CHECK: stablehlo.multiply %{{.*}}, %{{.*}} {amsp.made = ["flat(os)"]} : tensor<3x2xf32>
  %gw2 = stablehlo.multiply %gw, %gw : tensor<3x2xf32>
  %gb2 = stablehlo.multiply %gb, %gb : tensor<2xf32>
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [0, 1] {amsp.made = ["partial(sum, states)"]}
  %nw = stablehlo.reduce(%gw2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<f32>
  %nb = stablehlo.reduce(%gb2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} {amsp.completed = ["replicated"], amsp.made = ["partial(sum, states)"]} : tensor<f32>
  %n2 = stablehlo.add %nw, %nb : tensor<f32>
  // CHECK: stablehlo.sqrt %{{.*}} {amsp.made = ["replicated"]} : tensor<f32>
  %norm = stablehlo.sqrt %n2 : tensor<f32>
  %small = stablehlo.compare LT, %norm, %half, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %normw = stablehlo.broadcast_in_dim %norm, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
  %scaledw = stablehlo.divide %gw, %normw : tensor<3x2xf32>
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} {amsp.made = ["flat(os)"]} : tensor<i1>, tensor<3x2xf32>
  %cw = stablehlo.select %small, %gw, %scaledw : tensor<i1>, tensor<3x2xf32>
  %normb = stablehlo.broadcast_in_dim %norm, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %scaledb = stablehlo.divide %gb, %normb : tensor<2xf32>
  %cb = stablehlo.select %small, %gb, %scaledb : tensor<i1>, tensor<2xf32>
  %m1 = stablehlo.add %m, %cw : tensor<3x2xf32>
  // CHECK: stablehlo.subtract %arg0, %{{.*}} {amsp.made = ["flat(os)"]} : tensor<3x2xf32>
  %w1 = stablehlo.subtract %w, %m1 : tensor<3x2xf32>
  %b1 = stablehlo.subtract %b, %cb : tensor<2xf32>
  return %w1, %b1, %m1, %loss : tensor<3x2xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<f32>
}
