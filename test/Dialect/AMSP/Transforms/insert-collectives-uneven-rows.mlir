// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=4 strategy=ddp' --canonicalize -split-input-file -verify-diagnostics | FileCheck %s

// Two microbatches of 6 rows for 4 ranks: each computes 2 rows, and the last one
// on copies of the last row. A sum leaves these out.

// CHECK-LABEL: func.func public @main
// CHECK-SAME: %arg1: tensor<3x3xf32>
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[ALL:.*]] = amsp.all_gather %arg1 group = <[1:4]> dim = 0 : tensor<3x3xf32> -> tensor<12x3xf32>
// CHECK: %[[M:.*]] = stablehlo.reshape %[[ALL]] : (tensor<12x3xf32>) -> tensor<2x6x3xf32>
// CHECK: %[[LAST:.*]] = stablehlo.slice %[[M]] [0:2, 5:6, 0:3] : (tensor<2x6x3xf32>) -> tensor<2x1x3xf32>
// CHECK: %[[COPIES:.*]] = stablehlo.broadcast_in_dim %[[LAST]], dims = [0, 2, 3] : (tensor<2x1x3xf32>) -> tensor<2x2x1x3xf32>
// CHECK: %[[MORE:.*]] = stablehlo.reshape %[[COPIES]] : (tensor<2x2x1x3xf32>) -> tensor<2x2x3xf32>
// CHECK: %[[PADDED:.*]] = stablehlo.concatenate %[[M]], %[[MORE]], dim = 1 : (tensor<2x6x3xf32>, tensor<2x2x3xf32>) -> tensor<2x8x3xf32>
// CHECK: %[[OWN:.*]] = amsp.local_slice %[[PADDED]] group = <[1:4]> dim = 1 : tensor<2x8x3xf32> -> tensor<2x2x3xf32>
// CHECK: %[[Y:.*]] = stablehlo.tanh %[[OWN]] : tensor<2x2x3xf32>
// CHECK: %[[MASKED:.*]] = amsp.mask_padding %[[Y]], %[[ZERO]] group = <[1:4]> elements = 6 dim = 1 : tensor<2x2x3xf32>, tensor<f32>
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[MASKED]] init: %[[ZERO]]) applies stablehlo.add across dimensions = [0, 1]
// CHECK: %[[STEP:.*]] = stablehlo.subtract %{{.*}}, %[[SUM]] : tensor<3xf32>
// CHECK: amsp.all_reduce sum %[[STEP]] group = <[1:4]> : tensor<3xf32>
// CHECK: %[[BACK:.*]] = amsp.all_gather %[[Y]] group = <[1:4]> dim = 1 : tensor<2x2x3xf32> -> tensor<2x8x3xf32>
// CHECK: %[[WHOLE:.*]] = stablehlo.slice %[[BACK]] [0:2, 0:6, 0:3] : (tensor<2x8x3xf32>) -> tensor<2x6x3xf32>
// CHECK: return %{{.*}}, %[[WHOLE]]
func.func public @main(
    %w: tensor<3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<12x3xf32> loc("x")) -> (tensor<3xf32>, tensor<2x6x3xf32>) {
  // expected-remark @+1 {{gathers 'tensor<12x3xf32>' (144 bytes): 'stablehlo.reshape' makes 6 rows, which 4 ranks do not divide (4 or 8 would do), so each computes 2, padding included}}
  %m = stablehlo.reshape %x : (tensor<12x3xf32>) -> tensor<2x6x3xf32>
  %y = stablehlo.tanh %m : tensor<2x6x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x6x3xf32>, tensor<f32>) -> tensor<3xf32>
  %w1 = stablehlo.subtract %w, %sum : tensor<3xf32>
  return %w1, %y : tensor<3xf32>, tensor<2x6x3xf32>
}

// -----

// Fewer rows than ranks. The tokens of a row stay together; a contraction over
// them, the gradient of a weight, leaves the copies out on both sides, and a
// largest value is that of real rows.

// CHECK-LABEL: func.func public @main
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG: %[[LEAST:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK: %[[OWN:.*]] = amsp.local_slice %{{.*}} group = <[1:4]> dim = 0 : tensor<4x5x3xf32> -> tensor<1x5x3xf32>
// CHECK: %[[TOKENS:.*]] = stablehlo.reshape %[[OWN]] : (tensor<1x5x3xf32>) -> tensor<5x3xf32>
// CHECK: %[[Y:.*]] = stablehlo.tanh %[[TOKENS]] : tensor<5x3xf32>
// CHECK-DAG: %[[LEFT:.*]] = amsp.mask_padding %[[TOKENS]], %[[ZERO]] group = <[1:4]> elements = 15 dim = 0 : tensor<5x3xf32>
// CHECK-DAG: %[[RIGHT:.*]] = amsp.mask_padding %[[Y]], %[[ZERO]] group = <[1:4]> elements = 15 dim = 0 : tensor<5x3xf32>
// CHECK: stablehlo.dot_general %[[LEFT]], %[[RIGHT]]
// CHECK: %[[REAL:.*]] = amsp.mask_padding %[[Y]], %[[LEAST]] group = <[1:4]> elements = 15 dim = 0
// CHECK: stablehlo.reduce(%[[REAL]] init: %[[LEAST]]) applies stablehlo.maximum
func.func public @main(
    %w: tensor<3x3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<8x5x3xf32> loc("x")) -> (tensor<3x3xf32>, tensor<3xf32>) {
  // expected-remark @+1 {{'stablehlo.slice' makes 3 rows, which 4 ranks do not divide (4 would do), so each computes 1, padding included}}
  %m = stablehlo.slice %x [2:5, 0:5, 0:3] : (tensor<8x5x3xf32>) -> tensor<3x5x3xf32>
  %t = stablehlo.reshape %m : (tensor<3x5x3xf32>) -> tensor<15x3xf32>
  %y = stablehlo.tanh %t : tensor<15x3xf32>
  %g = stablehlo.dot_general %t, %y, contracting_dims = [0] x [0] : (tensor<15x3xf32>, tensor<15x3xf32>) -> tensor<3x3xf32>
  %w1 = stablehlo.subtract %w, %g : tensor<3x3xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%y init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<15x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %w1, %max : tensor<3x3xf32>, tensor<3xf32>
}

// -----

// Every second row is a microbatch's: the dimension that a loop takes apart is
// not cut.

// CHECK-LABEL: func.func public @main
// CHECK: amsp.all_gather %arg2 group = <[1:4]> dim = 0
// CHECK: amsp.local_slice %{{.*}} group = <[1:4]> dim = 0 : tensor<8x2x3xf32> -> tensor<2x2x3xf32>
// CHECK-NOT: amsp.all_gather
// CHECK: stablehlo.dynamic_slice {{.*}} sizes = [1, 2, 3] : (tensor<2x2x3xf32>
// CHECK: stablehlo.tanh {{.*}} : tensor<1x2x3xf32>
func.func public @main(
    %w: tensor<3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %i: tensor<i32>,
    %x: tensor<12x3xf32> loc("x")) -> (tensor<3xf32>) {
  // expected-remark @+1 {{'stablehlo.reshape' makes 6 rows}}
  %r = stablehlo.reshape %x : (tensor<12x3xf32>) -> tensor<6x2x3xf32>
  %m = stablehlo.transpose %r, dims = [1, 0, 2] : (tensor<6x2x3xf32>) -> tensor<2x6x3xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.dynamic_slice %m, %i, %zero, %zero, sizes = [1, 6, 3] : (tensor<2x6x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x3xf32>
  %y = stablehlo.tanh %one : tensor<1x6x3xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%y init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x6x3xf32>, tensor<f32>) -> tensor<3xf32>
  %w1 = stablehlo.subtract %w, %sum : tensor<3xf32>
  return %w1 : tensor<3xf32>
}

// -----

// A counter of the rows counts on copies what it counts on the last row.

// CHECK-LABEL: func.func public @main
// CHECK-DAG: %[[LAST:.*]] = stablehlo.constant dense<5> : tensor<2xi32>
// CHECK: %[[RANK:.*]] = amsp.group_index group = <[1:4]>
// CHECK: stablehlo.minimum %{{.*}}, %[[LAST]] : tensor<2xi32>
func.func public @main(
    %w: tensor<3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<12xf32> loc("x")) -> (tensor<3xf32>, tensor<f32>) {
  // expected-remark @+1 {{'stablehlo.slice' makes 6 rows}}
  %m = stablehlo.slice %x [3:9] : (tensor<12xf32>) -> tensor<6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6xf32>
  %y = stablehlo.multiply %m, %i : tensor<6xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%y init: %none) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
  return %w, %sum : tensor<3xf32>, tensor<f32>
}

// -----

// Of attention among 6 rows, the gradients of keys and values are sums over
// queries. Only what these are linear in is masked: without its statistics, a
// row's weights would be no numbers.

// CHECK-LABEL: func.func public @main
// CHECK: %[[OWN:.*]] = amsp.local_slice %{{.*}} group = <[1:4]> dim = 0 : tensor<8x3xf32> -> tensor<2x3xf32>
// CHECK: %[[Q:.*]] = stablehlo.reshape %[[OWN]] : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
// CHECK: %{{.*}}, %[[MAX:.*]], %[[SUM:.*]] = amsp.attention %[[Q]], %[[K:[^,]*]], %[[K]] scale
// CHECK: %[[D:.*]] = amsp.mask_padding %[[Q]], %{{.*}} group = <[1:4]> elements = 6 dim = 1 : tensor<1x2x3xf32>, tensor<f32>
// CHECK: amsp.attention_backward %[[Q]], %[[K]], %[[K]], %[[MAX]], %[[SUM]], %[[D]] scale
func.func public @main(
    %w: tensor<1x6x3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %x: tensor<12x3xf32> loc("x")) -> (tensor<1x6x3xf32>) {
  // expected-remark @+1 {{'stablehlo.slice' makes 6 rows}}
  %m = stablehlo.slice %x [3:9, 0:3] : (tensor<12x3xf32>) -> tensor<6x3xf32>
  %q = stablehlo.reshape %m : (tensor<6x3xf32>) -> tensor<1x6x3xf32>
  %r:3 = amsp.attention %q, %w, %w scale = 1.0 : (tensor<1x6x3xf32>, tensor<1x6x3xf32>, tensor<1x6x3xf32>) -> (tensor<1x6x3xf32>, tensor<1x6xf32>, tensor<1x6xf32>)
  %t:3 = amsp.attention_backward %q, %w, %w, %r#1, %r#2, %q scale = 1.0 : (tensor<1x6x3xf32>, tensor<1x6x3xf32>, tensor<1x6x3xf32>, tensor<1x6xf32>, tensor<1x6xf32>, tensor<1x6x3xf32>) -> (tensor<1x6x3xf32>, tensor<1x6x3xf32>, tensor<1x6x3xf32>)
  %w1 = stablehlo.subtract %w, %t#1 : tensor<1x6x3xf32>
  return %w1 : tensor<1x6x3xf32>
}

// -----

// A microbatch of one row is computed by every rank.

// CHECK-LABEL: func.func public @main
// CHECK: %[[M:.*]] = stablehlo.reshape %arg2 : (tensor<3x3xf32>) -> tensor<3x1x3xf32>
// CHECK: %[[ALL:.*]] = amsp.all_gather %[[M]] group = <[1:4]> dim = 0 : tensor<3x1x3xf32> -> tensor<12x1x3xf32>
// CHECK: stablehlo.dynamic_slice %[[ALL]]
// CHECK: stablehlo.tanh {{.*}} : tensor<1x1x3xf32>
// CHECK-NOT: amsp.all_reduce
func.func public @main(
    %w: tensor<3xf32> {tf.aliasing_output = 0 : i32} loc("w"),
    %i: tensor<i32>,
    %x: tensor<12x3xf32> loc("x")) -> (tensor<3xf32>) {
  %m = stablehlo.reshape %x : (tensor<12x3xf32>) -> tensor<12x1x3xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // expected-remark @+1 {{'stablehlo.dynamic_slice' takes microbatches of 1 row, which every rank computes (4 rows, or a multiple, would be cut)}}
  %one = stablehlo.dynamic_slice %m, %i, %zero, %zero, sizes = [1, 1, 3] : (tensor<12x1x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x3xf32>
  %y = stablehlo.tanh %one : tensor<1x1x3xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%y init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x3xf32>, tensor<f32>) -> tensor<3xf32>
  %w1 = stablehlo.subtract %w, %sum : tensor<3xf32>
  return %w1 : tensor<3xf32>
}

// -----

// The same of every 12th row.

// CHECK-LABEL: func.func public @main
// CHECK: stablehlo.tanh {{.*}} : tensor<1x1xf32>
func.func public @main(
    %w: tensor<f32> {tf.aliasing_output = 0 : i32} loc("w"),
    %i: tensor<i32>,
    %x: tensor<12xf32> loc("x")) -> (tensor<f32>) {
  %r = stablehlo.reshape %x : (tensor<12xf32>) -> tensor<1x12xf32>
  %m = stablehlo.transpose %r, dims = [1, 0] : (tensor<1x12xf32>) -> tensor<12x1xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // expected-remark @+1 {{'stablehlo.dynamic_slice' takes microbatches of 1 row}}
  %one = stablehlo.dynamic_slice %m, %i, %zero, sizes = [1, 1] : (tensor<12x1xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
  %y = stablehlo.tanh %one : tensor<1x1xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%y init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1xf32>, tensor<f32>) -> tensor<f32>
  %w1 = stablehlo.subtract %w, %sum : tensor<f32>
  return %w1 : tensor<f32>
}
