// RUN: amsp-opt %s --split-input-file --amsp-annotate-roles --amsp-propagate-placements='world=4' | FileCheck %s --check-prefix=PLACE
// RUN: amsp-opt %s --split-input-file --amsp-annotate-roles --amsp-insert-collectives='levels=4 strategy=zero3' | FileCheck %s --check-prefix=ZERO3
// RUN: amsp-opt %s --split-input-file --amsp-annotate-roles --amsp-insert-collectives='levels=2,2 strategy=p=2,g=2,os=4' --canonicalize --cse | FileCheck %s --check-prefix=KEPT

// Momentum on a loop over three stacked layers and its backward loop. A slice
// of the stack is a piece of 4 of 15 elements, gathered by itself; the gradient
// of each is reduced in the iteration that makes it.

// PLACE-LABEL: func.func public @main
// ZERO3-LABEL: func.func public @main
// ZERO3-SAME: %arg0: tensor<3x4xf32> {amsp.global_type = tensor<3x3x5xf32>, amsp.placement = #amsp.placement<flat, 1, [1:4]>
// ZERO3-SAME: %arg1: tensor<3x4xf32> {amsp.global_type = tensor<3x3x5xf32>, amsp.placement = #amsp.placement<flat, 1, [1:4]>
// KEPT-LABEL: func.func public @main
func.func public @main(
    %w: tensor<3x3x5xf32> {tf.aliasing_output = 0 : i32},
    %m: tensor<3x3x5xf32> {tf.aliasing_output = 1 : i32},
    %x: tensor<8x3xf32>, %y: tensor<8x5xf32>)
    -> (tensor<3x3x5xf32>, tensor<3x3x5xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %f0 = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %f0, dims = [] : (tensor<f32>) -> tensor<8x5xf32>
  // What is kept of it, for all uses, comes before the loops.
  // KEPT: %[[KEPT:.*]] = amsp.all_gather %arg0 group = <[2:2]> keep = 1 parameter = 0 {{.*}} : tensor<3x4xf32> -> tensor<3x8xf32>
  // KEPT: stablehlo.while
  %forward:2 = stablehlo.while(%i = %zero, %h = %zeros) : tensor<i32>, tensor<8x5xf32>
  cond {
    %more = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    // PLACE: stablehlo.dynamic_slice %arg0, {{.*}} {amsp.made = ["flat(os, keep=1)"]}
    // PLACE: stablehlo.reshape {{.*}} {amsp.made = ["flat(os)"]}
    // ZERO3: %[[SLICE:.*]] = stablehlo.dynamic_slice %arg0, %{{.*}}, %{{.*}}, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    // ZERO3: %[[PIECE:.*]] = stablehlo.reshape %[[SLICE]] : (tensor<1x4xf32>) -> tensor<4xf32>
    // ZERO3: amsp.all_gather %[[PIECE]] group = <[1:4]> parameter = 0 {{.*}} : tensor<4xf32> -> tensor<3x5xf32>
    // KEPT: %[[SLICE:.*]] = stablehlo.dynamic_slice %[[KEPT]], %{{.*}}, %{{.*}}, sizes = [1, 8]
    // KEPT: %[[PIECE:.*]] = stablehlo.reshape %[[SLICE]] : (tensor<1x8xf32>) -> tensor<8xf32>
    // KEPT: amsp.all_gather %[[PIECE]] group = <[1:2]> parameter = 0 {{.*}} : tensor<8xf32> -> tensor<3x5xf32>
    %s = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 3, 5] : (tensor<3x3x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x5xf32>
    %r = stablehlo.reshape %s : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
    %d = stablehlo.dot_general %x, %r, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x5xf32>) -> tensor<8x5xf32>
    %next = stablehlo.add %h, %d : tensor<8x5xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<8x5xf32>
  }
  %error = stablehlo.subtract %forward#1, %y : tensor<8x5xf32>
  %square = stablehlo.multiply %error, %error : tensor<8x5xf32>
  %loss = stablehlo.reduce(%square init: %f0) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<f32>
  %stack = stablehlo.broadcast_in_dim %f0, dims = [] : (tensor<f32>) -> tensor<3x3x5xf32>
  // PLACE: stablehlo.while{{.*}} attributes {amsp.made = ["replicated", "flat(os, keep=1)"]}
  // ZERO3: stablehlo.while{{.*}} : tensor<i32>, tensor<3x4xf32>
  %backward:2 = stablehlo.while(%i = %zero, %g = %stack) : tensor<i32>, tensor<3x3x5xf32>
  cond {
    %more = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %last = stablehlo.subtract %three, %i : tensor<i32>
    %k = stablehlo.subtract %last, %one : tensor<i32>
    // PLACE: stablehlo.dot_general {{.*}} {amsp.made = ["partial(sum, batch)"]}
    // PLACE: stablehlo.broadcast_in_dim {{.*}} {amsp.completed = ["flat(os, keep=1)"], amsp.made = ["partial(sum, batch)"]}
    // PLACE: stablehlo.dynamic_update_slice {{.*}} {amsp.made = ["flat(os, keep=1)"]}
    // ZERO3: %[[G:.*]] = amsp.reduce_scatter sum %{{.*}} group = <[1:4]> keep = 1 parameter = 0 {{.*}} : tensor<1x3x5xf32> -> tensor<1x4xf32>
    // ZERO3: stablehlo.dynamic_update_slice %{{.*}}, %[[G]], %{{.*}}, %{{.*}} : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    // KEPT: amsp.reduce_scatter sum %{{.*}} group = <[1:2, 2:2]> keep = 1 {{.*}} : tensor<1x3x5xf32> -> tensor<1x4xf32>
    %dw = stablehlo.dot_general %x, %error, contracting_dims = [0] x [0] : (tensor<8x3xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
    %u = stablehlo.broadcast_in_dim %dw, dims = [1, 2] : (tensor<3x5xf32>) -> tensor<1x3x5xf32>
    %next = stablehlo.dynamic_update_slice %g, %u, %k, %zero, %zero : (tensor<3x3x5xf32>, tensor<1x3x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x3x5xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<3x3x5xf32>
  }
  // Nothing of the update is gathered; no stack is reduced whole.
  // ZERO3-NOT: amsp.all_gather
  // ZERO3-NOT: amsp.reduce_scatter
  // ZERO3: stablehlo.add %arg1, %{{.*}} : tensor<3x4xf32>
  %m1 = stablehlo.add %m, %backward#1 : tensor<3x3x5xf32>
  %w1 = stablehlo.subtract %w, %m1 : tensor<3x3x5xf32>
  return %w1, %m1, %loss : tensor<3x3x5xf32>, tensor<3x3x5xf32>, tensor<f32>
}

// -----

// Accumulated over microbatches: each slice is reduced to pieces of G, and the
// rest once a step. A per-layer norm masks the padding of each row.

// PLACE-LABEL: func.func public @accumulated
// KEPT-LABEL: func.func public @accumulated
func.func public @accumulated(
    %w: tensor<3x5xf32> {tf.aliasing_output = 0 : i32},
    %x: tensor<8x2x5xf32>)
    -> (tensor<3x5xf32>, tensor<3xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %f0 = stablehlo.constant dense<0.0> : tensor<f32>
  %stack = stablehlo.broadcast_in_dim %f0, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
  // PLACE: stablehlo.while{{.*}} attributes {amsp.completed = ["replicated", "flat(os, keep=1)"], amsp.made = ["replicated", "flat(g, keep=1) and partial(sum)"]}
  // KEPT: stablehlo.while{{.*}} : tensor<i32>, tensor<3x4xf32>
  %total:2 = stablehlo.while(%b = %zero, %acc = %stack) : tensor<i32>, tensor<3x5xf32>
  cond {
    %more = stablehlo.compare LT, %b, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    // PLACE: stablehlo.while{{.*}} attributes {amsp.made = ["replicated", "flat(g, keep=1) and partial(sum)"]}
    %grads:2 = stablehlo.while(%i = %zero, %g = %stack) : tensor<i32>, tensor<3x5xf32>
    cond {
      %more = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      // KEPT: amsp.all_gather {{.*}} group = <[1:2]> keep = 1 parameter = 0 {{.*}} : tensor<1x4xf32> -> tensor<1x5xf32>
      // KEPT: amsp.reduce_scatter sum %{{.*}} group = <[1:2]> keep = 1 parameter = 0 {{.*}} : tensor<1x5xf32> -> tensor<1x4xf32>
      %mb = stablehlo.dynamic_slice %x, %zero, %b, %zero, sizes = [8, 1, 5] : (tensor<8x2x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x1x5xf32>
      %rows = stablehlo.reshape %mb : (tensor<8x1x5xf32>) -> tensor<8x5xf32>
      %s = stablehlo.dynamic_slice %w, %i, %zero, sizes = [1, 5] : (tensor<3x5xf32>, tensor<i32>, tensor<i32>) -> tensor<1x5xf32>
      %sb = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<1x5xf32>) -> tensor<8x5xf32>
      %p = stablehlo.multiply %rows, %sb : tensor<8x5xf32>
      %dw = stablehlo.reduce(%p init: %f0) applies stablehlo.add across dimensions = [0] : (tensor<8x5xf32>, tensor<f32>) -> tensor<5xf32>
      %u = stablehlo.reshape %dw : (tensor<5xf32>) -> tensor<1x5xf32>
      %next = stablehlo.dynamic_update_slice %g, %u, %i, %zero : (tensor<3x5xf32>, tensor<1x5xf32>, tensor<i32>, tensor<i32>) -> tensor<3x5xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next : tensor<i32>, tensor<3x5xf32>
    }
    %sum = stablehlo.add %acc, %grads#1 : tensor<3x5xf32>
    %c = stablehlo.add %b, %one : tensor<i32>
    stablehlo.return %c, %sum : tensor<i32>, tensor<3x5xf32>
  }
  // KEPT: amsp.reduce_scatter sum %{{.*}} group = <[2:2]> keep = 1 parameter = 0 {{.*}} : tensor<3x4xf32> -> tensor<3x2xf32>
  %w1 = stablehlo.subtract %w, %total#1 : tensor<3x5xf32>
  %square = stablehlo.multiply %w1, %w1 : tensor<3x5xf32>
  // KEPT: %[[MASKED:.*]] = amsp.mask_padding %{{.*}}, %{{.*}} group = <[1:2, 2:2]> elements = 5 : tensor<3x2xf32>, tensor<f32>
  // KEPT: %[[NORMS:.*]] = stablehlo.reduce(%[[MASKED]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3xf32>
  // KEPT: amsp.all_reduce sum %[[NORMS]] group = <[1:2, 2:2]> : tensor<3xf32>
  %norms = stablehlo.reduce(%square init: %f0) applies stablehlo.add across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
  return %w1, %norms : tensor<3x5xf32>, tensor<3xf32>
}

// -----

// The loop slices a bf16 copy of an f32 master, whose new value does not read the
// old copy: the master is cut as the copy is, and nothing moves between them.

// ZERO3-LABEL: func.func public @master
// ZERO3-SAME: %arg0: tensor<3x4xbf16> {amsp.global_type = tensor<3x15xbf16>, amsp.placement = #amsp.placement<flat, 1, [1:4]>
// ZERO3-SAME: %arg1: tensor<3x4xf32> {amsp.global_type = tensor<3x15xf32>, amsp.placement = #amsp.placement<flat, 1, [1:4]>
func.func public @master(
    %w: tensor<3x15xbf16> {tf.aliasing_output = 0 : i32},
    %v: tensor<3x15xf32> {tf.aliasing_output = 1 : i32},
    %x: tensor<8x15xbf16>) -> (tensor<3x15xbf16>, tensor<3x15xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %b0 = stablehlo.constant dense<0.0> : tensor<bf16>
  %stack = stablehlo.broadcast_in_dim %b0, dims = [] : (tensor<bf16>) -> tensor<3x15xbf16>
  // ZERO3: stablehlo.while
  %grads:2 = stablehlo.while(%i = %zero, %g = %stack) : tensor<i32>, tensor<3x15xbf16>
  cond {
    %more = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    // ZERO3: amsp.all_gather {{.*}} parameter = 0
    // ZERO3: amsp.reduce_scatter sum %{{.*}} keep = 1 parameter = 0 {{.*}} : tensor<1x15x{{.*}}> -> tensor<1x4x
    // ZERO3: stablehlo.return
    // ZERO3-NOT: = amsp.
    // ZERO3: return
    %s = stablehlo.dynamic_slice %w, %i, %zero, sizes = [1, 15] : (tensor<3x15xbf16>, tensor<i32>, tensor<i32>) -> tensor<1x15xbf16>
    %sb = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<1x15xbf16>) -> tensor<8x15xbf16>
    %p = stablehlo.multiply %x, %sb : tensor<8x15xbf16>
    %dw = stablehlo.reduce(%p init: %b0) applies stablehlo.add across dimensions = [0] : (tensor<8x15xbf16>, tensor<bf16>) -> tensor<15xbf16>
    %u = stablehlo.reshape %dw : (tensor<15xbf16>) -> tensor<1x15xbf16>
    %next = stablehlo.dynamic_update_slice %g, %u, %i, %zero : (tensor<3x15xbf16>, tensor<1x15xbf16>, tensor<i32>, tensor<i32>) -> tensor<3x15xbf16>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<3x15xbf16>
  }
  %gradient = stablehlo.convert %grads#1 : (tensor<3x15xbf16>) -> tensor<3x15xf32>
  %v1 = stablehlo.subtract %v, %gradient : tensor<3x15xf32>
  %w1 = stablehlo.convert %v1 : (tensor<3x15xf32>) -> tensor<3x15xbf16>
  return %w1, %v1 : tensor<3x15xbf16>, tensor<3x15xf32>
}
