// RUN: amsp-opt %s --amsp-recognize-attention --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

// As Flax writes dropout: one mask for all rows, made a factor.
// CHECK-LABEL: func.func @factor
// CHECK-SAME: %[[Q:[^,]*]]: tensor<3x8x16xf32>, %[[K:[^,]*]]: tensor<3x7x16xf32>, %[[V:[^,]*]]: tensor<3x7x5xf32>, %[[D:[^,]*]]: tensor<3x8x5xf32>, %[[KEEP:.*]]: tensor<8x7xi1>)
// CHECK: %[[MASK:.*]] = stablehlo.reshape %[[KEEP]] : (tensor<8x7xi1>) -> tensor<1x8x7xi1>
// CHECK: amsp.attention %{{.*}}, %{{.*}}, %{{.*}} keep %[[MASK]] scale = 1.000000e+00 keep_scale = 1.250000e+00 : (tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>, tensor<1x8x7xi1>)
// CHECK: amsp.attention_backward {{.*}} keep %[[MASK]] scale = 1.000000e+00 keep_scale = 1.250000e+00
// CHECK-NOT: dot_general
func.func @factor(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x5xf32>, %d: tensor<3x8x5xf32>, %keep: tensor<8x7xi1>) -> (tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %kept = stablehlo.constant dense<8.000000e-01> : tensor<8x7xf32>
  %number = stablehlo.convert %keep : (tensor<8x7xi1>) -> tensor<8x7xf32>
  %scaled = stablehlo.divide %number, %kept : tensor<8x7xf32>
  %z = stablehlo.broadcast_in_dim %scaled, dims = [1, 2] : (tensor<8x7xf32>) -> tensor<3x8x7xf32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<3x8x7xf32>
  %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
  %w = stablehlo.multiply %p, %z : tensor<3x8x7xf32>
  %r = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x5xf32>) -> tensor<3x8x5xf32>
  %g = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x5xf32>, tensor<3x7x5xf32>) -> tensor<3x8x7xf32>
  %dp = stablehlo.multiply %g, %z : tensor<3x8x7xf32>
  %dv = stablehlo.dot_general %w, %d, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x5xf32>) -> tensor<3x7x5xf32>
  %7 = stablehlo.multiply %p, %dp : tensor<3x8x7xf32>
  %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %10 = stablehlo.multiply %p, %9 : tensor<3x8x7xf32>
  %ds = stablehlo.subtract %7, %10 : tensor<3x8x7xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x16xf32>) -> tensor<3x7x16xf32>
  return %r, %dq, %dk, %dv : tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>
}

// -----

// Written by hand: a mask for each row; the zero is a converted integer.
// CHECK-LABEL: func.func @selection
// CHECK-SAME: %[[KEEP:[^ ]*]]: tensor<3x8x7xi1>)
// CHECK: amsp.attention {{.*}} keep %[[KEEP]] scale = 1.000000e+00 keep_scale = 2.000000e+00
// CHECK: amsp.attention_backward {{.*}} keep %[[KEEP]] scale = 1.000000e+00 keep_scale = 2.000000e+00
func.func @selection(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x5xf32>, %d: tensor<3x8x5xf32>, %keep: tensor<3x8x7xi1>) -> (tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %nones = stablehlo.convert %none : (tensor<i32>) -> tensor<f32>
  %otherwise = stablehlo.broadcast_in_dim %nones, dims = [] : (tensor<f32>) -> tensor<3x8x7xf32>
  %kept = stablehlo.constant dense<5.000000e-01> : tensor<3x8x7xf32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<3x8x7xf32>
  %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
  %w0 = stablehlo.divide %p, %kept : tensor<3x8x7xf32>
  %w = stablehlo.select %keep, %w0, %otherwise : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %r = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x5xf32>) -> tensor<3x8x5xf32>
  %g = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x5xf32>, tensor<3x7x5xf32>) -> tensor<3x8x7xf32>
  %dp0 = stablehlo.divide %g, %kept : tensor<3x8x7xf32>
  %dp = stablehlo.select %keep, %dp0, %otherwise : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %dv = stablehlo.dot_general %w, %d, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x5xf32>) -> tensor<3x7x5xf32>
  %7 = stablehlo.multiply %p, %dp : tensor<3x8x7xf32>
  %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %10 = stablehlo.multiply %p, %9 : tensor<3x8x7xf32>
  %ds = stablehlo.subtract %7, %10 : tensor<3x8x7xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x16xf32>) -> tensor<3x7x16xf32>
  return %r, %dq, %dk, %dv : tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>
}

// -----

// Gradients of other weights than those that met the values.
// CHECK-LABEL: func.func @other_mask
// CHECK-NOT: amsp.attention
func.func @other_mask(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x5xf32>, %d: tensor<3x8x5xf32>, %keep: tensor<3x8x7xi1>, %other: tensor<3x8x7xi1>) -> (tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %nones = stablehlo.convert %none : (tensor<i32>) -> tensor<f32>
  %otherwise = stablehlo.broadcast_in_dim %nones, dims = [] : (tensor<f32>) -> tensor<3x8x7xf32>
  %kept = stablehlo.constant dense<5.000000e-01> : tensor<3x8x7xf32>
  // expected-remark @+1 {{no attention: the softmax of this contraction takes 672 bytes, and 'stablehlo.dot_general' reads it, or what is made of it}}
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<3x8x7xf32>
  %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
  %w0 = stablehlo.divide %p, %kept : tensor<3x8x7xf32>
  %w = stablehlo.select %keep, %w0, %otherwise : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %r = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x5xf32>) -> tensor<3x8x5xf32>
  %g = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x5xf32>, tensor<3x7x5xf32>) -> tensor<3x8x7xf32>
  %dp0 = stablehlo.divide %g, %kept : tensor<3x8x7xf32>
  %dp = stablehlo.select %other, %dp0, %otherwise : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %dv = stablehlo.dot_general %w, %d, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x5xf32>) -> tensor<3x7x5xf32>
  %7 = stablehlo.multiply %p, %dp : tensor<3x8x7xf32>
  %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %10 = stablehlo.multiply %p, %9 : tensor<3x8x7xf32>
  %ds = stablehlo.subtract %7, %10 : tensor<3x8x7xf32>
  // expected-note @+1 {{here}}
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x16xf32>) -> tensor<3x7x16xf32>
  return %r, %dq, %dk, %dv : tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>
}

// -----

// Scaled in the forward pass only.
// CHECK-LABEL: func.func @other_scale
// CHECK-NOT: amsp.attention
func.func @other_scale(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x5xf32>, %d: tensor<3x8x5xf32>, %keep: tensor<3x8x7xi1>) -> (tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %nones = stablehlo.convert %none : (tensor<i32>) -> tensor<f32>
  %otherwise = stablehlo.broadcast_in_dim %nones, dims = [] : (tensor<f32>) -> tensor<3x8x7xf32>
  %kept = stablehlo.constant dense<5.000000e-01> : tensor<3x8x7xf32>
  // expected-remark @+1 {{no attention: the softmax of this contraction takes 672 bytes, and 'stablehlo.dot_general' reads it, or what is made of it}}
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<3x8x7xf32>
  %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
  %w0 = stablehlo.divide %p, %kept : tensor<3x8x7xf32>
  %w = stablehlo.select %keep, %w0, %otherwise : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %r = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x5xf32>) -> tensor<3x8x5xf32>
  %g = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x5xf32>, tensor<3x7x5xf32>) -> tensor<3x8x7xf32>
  %dp = stablehlo.select %keep, %g, %otherwise : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %dv = stablehlo.dot_general %w, %d, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x5xf32>) -> tensor<3x7x5xf32>
  %7 = stablehlo.multiply %p, %dp : tensor<3x8x7xf32>
  %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %10 = stablehlo.multiply %p, %9 : tensor<3x8x7xf32>
  %ds = stablehlo.subtract %7, %10 : tensor<3x8x7xf32>
  // expected-note @+1 {{here}}
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x16xf32>) -> tensor<3x7x16xf32>
  return %r, %dq, %dk, %dv : tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>
}

// -----

// Not a mask but any factor.
// CHECK-LABEL: func.func @weighted
// CHECK-NOT: amsp.attention
func.func @weighted(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x5xf32>, %d: tensor<3x8x5xf32>, %z: tensor<3x8x7xf32>) -> tensor<3x8x5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // expected-remark @+1 {{no attention: the softmax of this contraction takes 672 bytes, and 'stablehlo.multiply' reads it, or what is made of it}}
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<3x8x7xf32>
  %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
  // expected-note @+1 {{here}}
  %w = stablehlo.multiply %p, %z : tensor<3x8x7xf32>
  %r = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x5xf32>) -> tensor<3x8x5xf32>
  return %r : tensor<3x8x5xf32>
}

// -----

// Each convert of a number rounds by itself: 2.5 is 2.
// CHECK-LABEL: func.func @scale_through_an_integer
// CHECK: amsp.attention {{.*}} scale = 2.000000e+00 :
func.func @scale_through_an_integer(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>) -> tensor<3x8x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %number = stablehlo.constant dense<2.5> : tensor<f32>
  %c0 = stablehlo.convert %number : (tensor<f32>) -> tensor<i32>
  %c1 = stablehlo.convert %c0 : (tensor<i32>) -> tensor<f32>
  %scale = stablehlo.broadcast_in_dim %c1, dims = [] : (tensor<f32>) -> tensor<3x8x7xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %0 = stablehlo.multiply %s, %scale : tensor<3x8x7xf32>
  %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<3x8x7xf32>
  %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
  %r = stablehlo.dot_general %p, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
  return %r : tensor<3x8x16xf32>
}

// -----

// 0.3, rounded to bf16.
// CHECK-LABEL: func.func @scale_through_bf16
// CHECK: amsp.attention {{.*}} scale = 0.30078125 :
func.func @scale_through_bf16(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>) -> tensor<3x8x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %number = stablehlo.constant dense<3.000000e-01> : tensor<f32>
  %c0 = stablehlo.convert %number : (tensor<f32>) -> tensor<bf16>
  %c1 = stablehlo.convert %c0 : (tensor<bf16>) -> tensor<f32>
  %scale = stablehlo.broadcast_in_dim %c1, dims = [] : (tensor<f32>) -> tensor<3x8x7xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %0 = stablehlo.multiply %s, %scale : tensor<3x8x7xf32>
  %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<3x8x7xf32>
  %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
  %r = stablehlo.dot_general %p, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
  return %r : tensor<3x8x16xf32>
}

// -----

// 255 as it is read without a sign.
// CHECK-LABEL: func.func @scale_through_unsigned
// CHECK: amsp.attention {{.*}} scale = 2.550000e+02 :
func.func @scale_through_unsigned(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>) -> tensor<3x8x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %number = stablehlo.constant dense<255> : tensor<ui8>
  %c0 = stablehlo.convert %number : (tensor<ui8>) -> tensor<i32>
  %c1 = stablehlo.convert %c0 : (tensor<i32>) -> tensor<f32>
  %scale = stablehlo.broadcast_in_dim %c1, dims = [] : (tensor<f32>) -> tensor<3x8x7xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %0 = stablehlo.multiply %s, %scale : tensor<3x8x7xf32>
  %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<3x8x7xf32>
  %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
  %r = stablehlo.dot_general %p, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
  return %r : tensor<3x8x16xf32>
}

// -----

// 1 / 0.9 in f32, rounded to bf16.
// CHECK-LABEL: func.func @factor_rounds
// CHECK: amsp.attention {{.*}} keep_scale = 1.109375 :
func.func @factor_rounds(%q: tensor<3x8x16xbf16>, %k: tensor<3x7x16xbf16>, %keep: tensor<3x8x7xi1>) -> tensor<3x8x16xbf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %least = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %kept = stablehlo.constant dense<0.9> : tensor<3x8x7xf32>
  %number = stablehlo.convert %keep : (tensor<3x8x7xi1>) -> tensor<3x8x7xf32>
  %wide = stablehlo.divide %number, %kept : tensor<3x8x7xf32>
  %z = stablehlo.convert %wide : (tensor<3x8x7xf32>) -> tensor<3x8x7xbf16>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xbf16>, tensor<3x7x16xbf16>) -> tensor<3x8x7xbf16>
  %1 = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xbf16>, tensor<bf16>) -> tensor<3x8xbf16>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xbf16>) -> tensor<3x8x7xbf16>
  %3 = stablehlo.subtract %s, %2 : tensor<3x8x7xbf16>
  %4 = stablehlo.exponential %3 : tensor<3x8x7xbf16>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xbf16>, tensor<bf16>) -> tensor<3x8xbf16>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xbf16>) -> tensor<3x8x7xbf16>
  %p = stablehlo.divide %4, %6 : tensor<3x8x7xbf16>
  %w = stablehlo.multiply %p, %z : tensor<3x8x7xbf16>
  %r = stablehlo.dot_general %w, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xbf16>, tensor<3x7x16xbf16>) -> tensor<3x8x16xbf16>
  return %r : tensor<3x8x16xbf16>
}
