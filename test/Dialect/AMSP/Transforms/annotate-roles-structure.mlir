// RUN: amsp-opt %s --amsp-annotate-roles='batch-args=4' -split-input-file -verify-diagnostics | FileCheck %s

// Adam without donation and without names: the loss, of the type of the count
// and the rate, comes first; the frozen table is no state.

// CHECK-LABEL: func.func public @main
// CHECK-SAME: %arg0: tensor<3x3xf32> {amsp.result = 1 : i64, amsp.role = #amsp.role<param>, amsp.unit = "arg0"}
// CHECK-SAME: %arg1: tensor<3x3xf32> {amsp.result = 2 : i64, amsp.role = #amsp.role<opt_state>, amsp.unit = "arg0"}
// CHECK-SAME: %arg2: tensor<f32> {amsp.result = 3 : i64, amsp.role = #amsp.role<state>}
// CHECK-SAME: %arg3: tensor<2xui32> {amsp.result = 4 : i64, amsp.role = #amsp.role<state>}
// CHECK-SAME: %arg4: tensor<8x3xf32> {amsp.role = #amsp.role<batch>}
// CHECK-SAME: %arg5: tensor<3x3xf32> {amsp.role = #amsp.role<param>, amsp.unit = "arg5"}
// CHECK-SAME: %arg6: tensor<f32> {amsp.role = #amsp.role<constant>}
// CHECK-SAME: -> (tensor<f32> {amsp.role = #amsp.role<output>}
// CHECK-SAME: tensor<3x3xf32> {amsp.argument = 0 : i64, amsp.role = #amsp.role<param>}
// expected-remark @+1 {{no argument aliases a result; taken for state: 0 'arg0' = result 1, 1 'arg1' = result 2, 2 'arg2' = result 3, 3 'arg3' = result 4}}
func.func public @main(%w: tensor<3x3xf32>, %m: tensor<3x3xf32>, %count: tensor<f32>, %key: tensor<2xui32>,
    %x: tensor<8x3xf32>, %frozen: tensor<3x3xf32>, %rate: tensor<f32>)
    -> (tensor<f32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<f32>, tensor<2xui32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %wf = stablehlo.dot_general %w, %frozen, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %y = stablehlo.dot_general %x, %wf, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x3xf32>) -> tensor<8x3xf32>
  %z = stablehlo.dot_general %x, %frozen, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x3xf32>) -> tensor<8x3xf32>
  %yz = stablehlo.add %y, %z : tensor<8x3xf32>
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x3xf32>) -> tensor<8x3xf32>
  %yh = stablehlo.add %yz, %h : tensor<8x3xf32>
  %sum = stablehlo.reduce(%yh init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x3xf32>, tensor<f32>) -> tensor<f32>
  %loss = stablehlo.multiply %sum, %sum : tensor<f32>
  %g = stablehlo.dot_general %x, %yh, contracting_dims = [0] x [0] : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<3x3xf32>
  %r = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
  %m0 = stablehlo.multiply %r, %m : tensor<3x3xf32>
  %m1 = stablehlo.add %g, %m0 : tensor<3x3xf32>
  %w1 = stablehlo.subtract %w, %m1 : tensor<3x3xf32>
  %count1 = stablehlo.add %count, %one : tensor<f32>
  %k0 = stablehlo.slice %key [0:1] : (tensor<2xui32>) -> tensor<1xui32>
  %k1 = stablehlo.slice %key [1:2] : (tensor<2xui32>) -> tensor<1xui32>
  %key1 = stablehlo.concatenate %k1, %k0, dim = 0 : (tensor<1xui32>, tensor<1xui32>) -> tensor<2xui32>
  return %loss, %w1, %m1, %count1, %key1 : tensor<f32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<f32>, tensor<2xui32>
}

// -----

// Metrics have the names of what weighs the losses, and are not their new
// values: the weights come first, which must not cost the parameter its pair.

// CHECK-LABEL: func.func public @main
// CHECK-SAME: %arg0: tensor<f32> {amsp.name = "weights['l2']", amsp.role = #amsp.role<constant>}
// CHECK-SAME: %arg1: tensor<f32> {amsp.name = "weights['mse']", amsp.role = #amsp.role<constant>}
// CHECK-SAME: %arg2: tensor<3xf32> {amsp.name = "params['w']", amsp.result = 0 : i64, amsp.role = #amsp.role<param>
// CHECK-SAME: %arg3: tensor<f32> {amsp.name = "lr", amsp.role = #amsp.role<constant>}
// CHECK-SAME: %arg4: tensor<8x3xf32> {amsp.name = "x", amsp.role = #amsp.role<batch>}
// expected-remark @+1 {{taken for state: 2 'params['w']' = result 0; 3 'lr' stays as it is: if result 1 or 2 or 3 is its new value, name it with --state-args}}
func.func public @main(%l2: tensor<f32> loc("weights['l2']"), %mse: tensor<f32> loc("weights['mse']"),
    %w: tensor<3xf32> loc("params['w']"), %lr: tensor<f32> loc("lr"), %x: tensor<8x3xf32> loc("x"))
    -> (tensor<3xf32> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[1]['l2']"},
        tensor<f32> {jax.result_info = "result[1]['lr']"}, tensor<f32> {jax.result_info = "result[1]['mse']"}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8xf32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %norm = stablehlo.dot_general %w, %w, contracting_dims = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %weighed = stablehlo.multiply %l2, %norm : tensor<f32>
  %scaled = stablehlo.multiply %mse, %loss : tensor<f32>
  %scale = stablehlo.add %weighed, %scaled : tensor<f32>
  %change = stablehlo.multiply %scale, %lr : tensor<f32>
  %changes = stablehlo.broadcast_in_dim %change, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %w1 = stablehlo.subtract %w, %changes : tensor<3xf32>
  return %w1, %norm, %loss, %loss : tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// What could be the last step's loss, or a rate.

// CHECK-LABEL: func.func public @main
// CHECK-SAME: %arg1: tensor<f32> {amsp.name = "metrics['loss']", amsp.role = #amsp.role<constant>}
// CHECK-SAME: %arg2: tensor<f16> {amsp.name = "metrics['grade']", amsp.role = #amsp.role<constant>}
// expected-remark @+1 {{taken for state: 0 'params['w']' = result 0; 1 'metrics['loss']' stays as it is: if result 1 is its new value, name it with --state-args}}
func.func public @main(%w: tensor<3xf32> loc("params['w']"), %last: tensor<f32> loc("metrics['loss']"),
    %grade: tensor<f16> loc("metrics['grade']"), %arg3: tensor<8x1xf32>, %x: tensor<8x3xf32> loc("x"))
    -> (tensor<3xf32> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[1]['loss']"}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8xf32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %better = stablehlo.subtract %last, %loss : tensor<f32>
  %scales = stablehlo.broadcast_in_dim %better, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %w1 = stablehlo.multiply %w, %scales : tensor<3xf32>
  return %w1, %loss : tensor<3xf32>, tensor<f32>
}

// -----

// A loss is elementwise in the weight of its second term, which is not its old
// value. An average of the loss is state, and a scale that the data turns up or
// down.

// CHECK-LABEL: func.func public @main
// CHECK-SAME: %arg1: tensor<f32> {amsp.name = "average", amsp.result = 1 : i64, amsp.role = #amsp.role<state>}
// CHECK-SAME: %arg2: tensor<f32> {amsp.name = "scale", amsp.result = 2 : i64, amsp.role = #amsp.role<state>}
// CHECK-SAME: %arg3: tensor<f32> {amsp.name = "alpha", amsp.role = #amsp.role<constant>}
// expected-remark @+1 {{taken for state: 0 'w' = result 0, 1 'average' = result 1, 2 'scale' = result 2; 3 'alpha' stays as it is: if result 3 is its new value, name it with --state-args}}
func.func public @main(%w: tensor<3xf32> loc("w"), %average: tensor<f32> loc("average"), %scale: tensor<f32> loc("scale"),
    %alpha: tensor<f32> loc("alpha"), %x: tensor<8x3xf32> loc("x"))
    -> (tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8xf32>
  %fit = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %norm = stablehlo.dot_general %w, %w, contracting_dims = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %halved = stablehlo.multiply %norm, %half : tensor<f32>
  %weighed = stablehlo.multiply %alpha, %halved : tensor<f32>
  %loss = stablehlo.add %fit, %weighed : tensor<f32>
  %faded = stablehlo.multiply %average, %half : tensor<f32>
  %share = stablehlo.multiply %loss, %half : tensor<f32>
  %average1 = stablehlo.add %faded, %share : tensor<f32>
  %large = stablehlo.compare GT, %fit, %two : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %factor = stablehlo.select %large, %half, %two : tensor<i1>, tensor<f32>
  %scale1 = stablehlo.multiply %scale, %factor : tensor<f32>
  %changes = stablehlo.broadcast_in_dim %loss, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %w1 = stablehlo.subtract %w, %changes : tensor<3xf32>
  return %w1, %average1, %scale1, %loss : tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>
}
