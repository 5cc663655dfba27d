// RUN: amsp-opt %s --amsp-recognize-attention --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

// The scores' mask selects the weights, too: rows of which it leaves nothing are
// zero.
// CHECK-LABEL: func.func @same_mask
// CHECK-SAME: %[[MASK:[^ ]*]]: tensor<3x8x7xi1>)
// CHECK: amsp.attention {{.*}} mask %[[MASK]] keep %[[MASK]] scale = 1.000000e+00 masked_score = -1.000000e+09 keep_scale = 1.000000e+00
// CHECK: amsp.attention_backward {{.*}} mask %[[MASK]] keep %[[MASK]] scale = 1.000000e+00 masked_score = -1.000000e+09 keep_scale = 1.000000e+00
// CHECK-NOT: dot_general
func.func @same_mask(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x5xf32>, %d: tensor<3x8x5xf32>, %mask: tensor<3x8x7xi1>) -> (tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %nothing = stablehlo.constant dense<0.0> : tensor<3x8x7xf32>
  %far = stablehlo.constant dense<-1.0e9> : tensor<3x8x7xf32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %s = stablehlo.select %mask, %0, %far : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %1 = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.subtract %s, %2 : tensor<3x8x7xf32>
  %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
  %w = stablehlo.select %mask, %p, %nothing : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %r = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x5xf32>) -> tensor<3x8x5xf32>
  %g = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x5xf32>, tensor<3x7x5xf32>) -> tensor<3x8x7xf32>
  %dp = stablehlo.select %mask, %g, %nothing : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %dv = stablehlo.dot_general %w, %d, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x5xf32>) -> tensor<3x7x5xf32>
  %7 = stablehlo.multiply %p, %dp : tensor<3x8x7xf32>
  %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %10 = stablehlo.multiply %p, %9 : tensor<3x8x7xf32>
  %11 = stablehlo.subtract %7, %10 : tensor<3x8x7xf32>
  %ds = stablehlo.select %mask, %11, %nothing : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x16xf32>) -> tensor<3x7x16xf32>
  return %r, %dq, %dk, %dv : tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>
}

// -----

// A mask and dropout: weights are selected by both, in the size that they have
// together.
// CHECK-LABEL: func.func @mask_and_dropout
// CHECK-SAME: %[[MASK:[^ ]*]]: tensor<3x8x7xi1>, %[[DROP:[^ ]*]]: tensor<8x7xi1>)
// CHECK: %[[ROW:.*]] = stablehlo.reshape %[[DROP]] : (tensor<8x7xi1>) -> tensor<1x8x7xi1>
// CHECK: %[[WIDE:.*]] = stablehlo.broadcast_in_dim %[[ROW]], dims = [0, 1, 2] : (tensor<1x8x7xi1>) -> tensor<3x8x7xi1>
// CHECK: %[[BOTH:.*]] = stablehlo.and %[[MASK]], %[[WIDE]]
// CHECK: amsp.attention {{.*}} mask %[[MASK]] keep %[[BOTH]] {{.*}} keep_scale = 2.000000e+00
// CHECK: amsp.attention_backward {{.*}} mask %[[MASK]] keep %[[BOTH]] {{.*}} keep_scale = 2.000000e+00
func.func @mask_and_dropout(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x5xf32>, %d: tensor<3x8x5xf32>, %mask: tensor<3x8x7xi1>, %drop: tensor<8x7xi1>) -> (tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %nothing = stablehlo.constant dense<0.0> : tensor<3x8x7xf32>
  %far = stablehlo.constant dense<-1.0e9> : tensor<3x8x7xf32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %s = stablehlo.select %mask, %0, %far : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %1 = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.subtract %s, %2 : tensor<3x8x7xf32>
  %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
  %half = stablehlo.constant dense<0.5> : tensor<3x8x7xf32>
  %keep = stablehlo.broadcast_in_dim %drop, dims = [1, 2] : (tensor<8x7xi1>) -> tensor<3x8x7xi1>
  %w0 = stablehlo.select %mask, %p, %nothing : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %w1 = stablehlo.divide %w0, %half : tensor<3x8x7xf32>
  %w = stablehlo.select %keep, %w1, %nothing : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %r = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x5xf32>) -> tensor<3x8x5xf32>
  %g = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x5xf32>, tensor<3x7x5xf32>) -> tensor<3x8x7xf32>
  %g0 = stablehlo.select %keep, %g, %nothing : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %g1 = stablehlo.divide %g0, %half : tensor<3x8x7xf32>
  %dp = stablehlo.select %mask, %g1, %nothing : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %dv = stablehlo.dot_general %w, %d, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x5xf32>) -> tensor<3x7x5xf32>
  %7 = stablehlo.multiply %p, %dp : tensor<3x8x7xf32>
  %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %10 = stablehlo.multiply %p, %9 : tensor<3x8x7xf32>
  %11 = stablehlo.subtract %7, %10 : tensor<3x8x7xf32>
  %ds = stablehlo.select %mask, %11, %nothing : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x16xf32>) -> tensor<3x7x16xf32>
  return %r, %dq, %dk, %dv : tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>
}

// -----

// Weights are selected by the mask, their gradients are not.
// CHECK-LABEL: func.func @forward_only
// CHECK-NOT: amsp.attention
func.func @forward_only(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>, %v: tensor<3x7x5xf32>, %d: tensor<3x8x5xf32>, %mask: tensor<3x8x7xi1>) -> (tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %nothing = stablehlo.constant dense<0.0> : tensor<3x8x7xf32>
  %far = stablehlo.constant dense<-1.0e9> : tensor<3x8x7xf32>
  // expected-remark @+1 {{no attention: the softmax of this contraction takes 672 bytes, and 'stablehlo.dot_general' reads it, or what is made of it}}
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %s = stablehlo.select %mask, %0, %far : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %1 = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.subtract %s, %2 : tensor<3x8x7xf32>
  %4 = stablehlo.exponential %3 : tensor<3x8x7xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %p = stablehlo.divide %4, %6 : tensor<3x8x7xf32>
  %w = stablehlo.select %mask, %p, %nothing : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  %r = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x5xf32>) -> tensor<3x8x5xf32>
  %dp = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x5xf32>, tensor<3x7x5xf32>) -> tensor<3x8x7xf32>
  %dv = stablehlo.dot_general %w, %d, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x5xf32>) -> tensor<3x7x5xf32>
  %7 = stablehlo.multiply %p, %dp : tensor<3x8x7xf32>
  %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %10 = stablehlo.multiply %p, %9 : tensor<3x8x7xf32>
  %11 = stablehlo.subtract %7, %10 : tensor<3x8x7xf32>
  %ds = stablehlo.select %mask, %11, %nothing : tensor<3x8x7xi1>, tensor<3x8x7xf32>
  // expected-note @+1 {{here}}
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x8x7xf32>, tensor<3x8x16xf32>) -> tensor<3x7x16xf32>
  return %r, %dq, %dk, %dv : tensor<3x8x5xf32>, tensor<3x8x16xf32>, tensor<3x7x16xf32>, tensor<3x7x5xf32>
}
