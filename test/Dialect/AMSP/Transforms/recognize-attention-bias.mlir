// RUN: amsp-opt %s --amsp-recognize-attention --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

// A bias of heads, queries and keys, which the rows share: its gradient is summed
// over them, before scaling.
// CHECK-LABEL: func.func @shared
// CHECK-SAME: %[[BIAS:[^ ]*]]: tensor<4x8x7xf32>)
// CHECK: %[[B:.*]] = stablehlo.reshape %[[BIAS]] : (tensor<4x8x7xf32>) -> tensor<1x4x8x7xf32>
// CHECK: amsp.attention {{.*}} bias %[[B]] scale = 5.000000e-01
// CHECK: %[[DQ:.*]], %{{.*}}, %{{.*}}, %[[DB:.*]] = amsp.attention_backward {{.*}} bias %[[B]] scale = 5.000000e-01 {{.*}} -> (tensor<3x4x8x16xf32>, tensor<3x4x7x16xf32>, tensor<3x4x7x5xf32>, tensor<1x4x8x7xf32>)
// CHECK: %[[OUT:.*]] = stablehlo.reshape %[[DB]] : (tensor<1x4x8x7xf32>) -> tensor<4x8x7xf32>
// CHECK: return %[[DQ]], %[[OUT]]
func.func @shared(%q: tensor<3x4x8x16xf32>, %k: tensor<3x4x7x16xf32>, %v: tensor<3x4x7x5xf32>, %d: tensor<3x4x8x5xf32>, %bias: tensor<4x8x7xf32>) -> (tensor<3x4x8x16xf32>, tensor<4x8x7xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<3x4x8x7xf32>
  %b = stablehlo.broadcast_in_dim %bias, dims = [1, 2, 3] : (tensor<4x8x7xf32>) -> tensor<3x4x8x7xf32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x16xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x7xf32>
  %1 = stablehlo.multiply %0, %half : tensor<3x4x8x7xf32>
  %s = stablehlo.add %1, %b : tensor<3x4x8x7xf32>
  %2 = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %4 = stablehlo.subtract %s, %3 : tensor<3x4x8x7xf32>
  %5 = stablehlo.exponential %4 : tensor<3x4x8x7xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %p = stablehlo.divide %5, %7 : tensor<3x4x8x7xf32>
  %g = stablehlo.dot_general %d, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x5xf32>, tensor<3x4x7x5xf32>) -> tensor<3x4x8x7xf32>
  %8 = stablehlo.multiply %p, %g : tensor<3x4x8x7xf32>
  %9 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %11 = stablehlo.multiply %p, %10 : tensor<3x4x8x7xf32>
  %ds = stablehlo.subtract %8, %11 : tensor<3x4x8x7xf32>
  %scaled = stablehlo.multiply %ds, %half : tensor<3x4x8x7xf32>
  %dq = stablehlo.dot_general %scaled, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<3x4x8x7xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x16xf32>
  %dbias = stablehlo.reduce(%ds init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<4x8x7xf32>
  return %dq, %dbias : tensor<3x4x8x16xf32>, tensor<4x8x7xf32>
}

// -----

// A bias to which a mask was added is of all rows, its gradient is not; rows of
// keys before heads.
// CHECK-LABEL: func.func @with_mask
// CHECK-SAME: %[[BIAS:[^ ]*]]: tensor<3x4x8x7xf32>)
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[DB:.*]] = amsp.attention_backward {{.*}} bias %[[BIAS]] {{.*}} -> ({{.*}}, tensor<1x4x1x7xf32>)
// CHECK: %[[FLAT:.*]] = stablehlo.reshape %[[DB]] : (tensor<1x4x1x7xf32>) -> tensor<4x7xf32>
// CHECK: %[[OUT:.*]] = stablehlo.transpose %[[FLAT]], dims = [1, 0]
// CHECK: return %{{.*}}, %[[OUT]]
func.func @with_mask(%q: tensor<3x4x8x16xf32>, %k: tensor<3x4x7x16xf32>, %v: tensor<3x4x7x5xf32>, %d: tensor<3x4x8x5xf32>, %b: tensor<3x4x8x7xf32>) -> (tensor<3x4x8x16xf32>, tensor<7x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<3x4x8x7xf32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x16xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x7xf32>
  %1 = stablehlo.multiply %0, %half : tensor<3x4x8x7xf32>
  %s = stablehlo.add %1, %b : tensor<3x4x8x7xf32>
  %2 = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %4 = stablehlo.subtract %s, %3 : tensor<3x4x8x7xf32>
  %5 = stablehlo.exponential %4 : tensor<3x4x8x7xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %p = stablehlo.divide %5, %7 : tensor<3x4x8x7xf32>
  %g = stablehlo.dot_general %d, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x5xf32>, tensor<3x4x7x5xf32>) -> tensor<3x4x8x7xf32>
  %8 = stablehlo.multiply %p, %g : tensor<3x4x8x7xf32>
  %9 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %11 = stablehlo.multiply %p, %10 : tensor<3x4x8x7xf32>
  %ds = stablehlo.subtract %8, %11 : tensor<3x4x8x7xf32>
  %scaled = stablehlo.multiply %ds, %half : tensor<3x4x8x7xf32>
  %dq = stablehlo.dot_general %scaled, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<3x4x8x7xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x16xf32>
  %moved = stablehlo.transpose %ds, dims = [0, 2, 3, 1] : (tensor<3x4x8x7xf32>) -> tensor<3x8x7x4xf32>
  %dbias = stablehlo.reduce(%moved init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x8x7x4xf32>, tensor<f32>) -> tensor<7x4xf32>
  return %dq, %dbias : tensor<3x4x8x16xf32>, tensor<7x4xf32>
}

// -----

// Heads that share keys are a dimension of queries: told apart in part, they are
// told apart in the op, and summed behind it.
// CHECK-LABEL: func.func @of_groups
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[DB:.*]] = amsp.attention_backward {{.*}} bias {{.*}} -> ({{.*}}, tensor<1x6x8x7xf32>)
// CHECK: %[[APART:.*]] = stablehlo.reshape %[[DB]] : (tensor<1x6x8x7xf32>) -> tensor<2x3x8x7xf32>
// CHECK: %[[OUT:.*]] = stablehlo.reduce(%[[APART]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<2x3x8x7xf32>, tensor<f32>) -> tensor<2x8x7xf32>
// CHECK: return %{{.*}}, %[[OUT]]
func.func @of_groups(%q: tensor<5x2x3x8x16xf32>, %k: tensor<5x2x7x16xf32>, %v: tensor<5x2x7x4xf32>, %d: tensor<5x2x3x8x4xf32>, %bias: tensor<2x8x7xf32>) -> (tensor<5x2x3x8x16xf32>, tensor<2x8x7xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %bias, dims = [1, 3, 4] : (tensor<2x8x7xf32>) -> tensor<5x2x3x8x7xf32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [4] x [3] : (tensor<5x2x3x8x16xf32>, tensor<5x2x7x16xf32>) -> tensor<5x2x3x8x7xf32>
  %s = stablehlo.add %0, %b : tensor<5x2x3x8x7xf32>
  %2 = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [4] : (tensor<5x2x3x8x7xf32>, tensor<f32>) -> tensor<5x2x3x8xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3] : (tensor<5x2x3x8xf32>) -> tensor<5x2x3x8x7xf32>
  %4 = stablehlo.subtract %s, %3 : tensor<5x2x3x8x7xf32>
  %5 = stablehlo.exponential %4 : tensor<5x2x3x8x7xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [4] : (tensor<5x2x3x8x7xf32>, tensor<f32>) -> tensor<5x2x3x8xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : (tensor<5x2x3x8xf32>) -> tensor<5x2x3x8x7xf32>
  %p = stablehlo.divide %5, %7 : tensor<5x2x3x8x7xf32>
  %g = stablehlo.dot_general %d, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [4] x [3] : (tensor<5x2x3x8x4xf32>, tensor<5x2x7x4xf32>) -> tensor<5x2x3x8x7xf32>
  %8 = stablehlo.multiply %p, %g : tensor<5x2x3x8x7xf32>
  %9 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [4] : (tensor<5x2x3x8x7xf32>, tensor<f32>) -> tensor<5x2x3x8xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<5x2x3x8xf32>) -> tensor<5x2x3x8x7xf32>
  %11 = stablehlo.multiply %p, %10 : tensor<5x2x3x8x7xf32>
  %ds = stablehlo.subtract %8, %11 : tensor<5x2x3x8x7xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [4] x [2] : (tensor<5x2x3x8x7xf32>, tensor<5x2x7x16xf32>) -> tensor<5x2x3x8x16xf32>
  %dbias = stablehlo.reduce(%ds init: %zero) applies stablehlo.add across dimensions = [0, 2] : (tensor<5x2x3x8x7xf32>, tensor<f32>) -> tensor<2x8x7xf32>
  return %dq, %dbias : tensor<5x2x3x8x16xf32>, tensor<2x8x7xf32>
}

// -----

// The sum of what was scaled is no gradient of the bias.
// CHECK-LABEL: func.func @scaled
// CHECK-NOT: amsp.attention
func.func @scaled(%q: tensor<3x4x8x16xf32>, %k: tensor<3x4x7x16xf32>, %v: tensor<3x4x7x5xf32>, %d: tensor<3x4x8x5xf32>, %bias: tensor<4x8x7xf32>) -> (tensor<3x4x8x16xf32>, tensor<4x8x7xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<3x4x8x7xf32>
  %b = stablehlo.broadcast_in_dim %bias, dims = [1, 2, 3] : (tensor<4x8x7xf32>) -> tensor<3x4x8x7xf32>
  // expected-remark @+1 {{no attention: the softmax of this contraction takes 2688 bytes, and 'stablehlo.reduce' reads it, or what is made of it}}
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x16xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x7xf32>
  %1 = stablehlo.multiply %0, %half : tensor<3x4x8x7xf32>
  %s = stablehlo.add %1, %b : tensor<3x4x8x7xf32>
  %2 = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %4 = stablehlo.subtract %s, %3 : tensor<3x4x8x7xf32>
  %5 = stablehlo.exponential %4 : tensor<3x4x8x7xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %p = stablehlo.divide %5, %7 : tensor<3x4x8x7xf32>
  %g = stablehlo.dot_general %d, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x5xf32>, tensor<3x4x7x5xf32>) -> tensor<3x4x8x7xf32>
  %8 = stablehlo.multiply %p, %g : tensor<3x4x8x7xf32>
  %9 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %11 = stablehlo.multiply %p, %10 : tensor<3x4x8x7xf32>
  %ds = stablehlo.subtract %8, %11 : tensor<3x4x8x7xf32>
  %scaled = stablehlo.multiply %ds, %half : tensor<3x4x8x7xf32>
  %dq = stablehlo.dot_general %scaled, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<3x4x8x7xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x16xf32>
  // expected-note @+1 {{here}}
  %dbias = stablehlo.reduce(%scaled init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<4x8x7xf32>
  return %dq, %dbias : tensor<3x4x8x16xf32>, tensor<4x8x7xf32>
}

// -----

// A bias of each row has a gradient as large as the scores.
// CHECK-LABEL: func.func @each
// CHECK-NOT: amsp.attention
func.func @each(%q: tensor<3x4x8x16xf32>, %k: tensor<3x4x7x16xf32>, %v: tensor<3x4x7x5xf32>, %d: tensor<3x4x8x5xf32>, %b: tensor<3x4x8x7xf32>) -> (tensor<3x4x8x16xf32>, tensor<3x4x8x7xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<3x4x8x7xf32>
  // expected-remark @+1 {{no attention: the softmax of this contraction takes 2688 bytes, and 'func.return' reads it, or what is made of it}}
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x16xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x7xf32>
  %1 = stablehlo.multiply %0, %half : tensor<3x4x8x7xf32>
  %s = stablehlo.add %1, %b : tensor<3x4x8x7xf32>
  %2 = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %4 = stablehlo.subtract %s, %3 : tensor<3x4x8x7xf32>
  %5 = stablehlo.exponential %4 : tensor<3x4x8x7xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %p = stablehlo.divide %5, %7 : tensor<3x4x8x7xf32>
  %g = stablehlo.dot_general %d, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x5xf32>, tensor<3x4x7x5xf32>) -> tensor<3x4x8x7xf32>
  %8 = stablehlo.multiply %p, %g : tensor<3x4x8x7xf32>
  %9 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %11 = stablehlo.multiply %p, %10 : tensor<3x4x8x7xf32>
  %ds = stablehlo.subtract %8, %11 : tensor<3x4x8x7xf32>
  %scaled = stablehlo.multiply %ds, %half : tensor<3x4x8x7xf32>
  %dq = stablehlo.dot_general %scaled, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<3x4x8x7xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x16xf32>
  %dbias = stablehlo.negate %ds : tensor<3x4x8x7xf32>
  // expected-note @+1 {{here}}
  return %dq, %dbias : tensor<3x4x8x16xf32>, tensor<3x4x8x7xf32>
}

// -----

// Two biases are one, in the size that they have together; so are their
// gradients, of which the smaller is a sum.
// CHECK-LABEL: func.func @two_biases
// CHECK-SAME: %[[BIAS:[^ ]*]]: tensor<4x8x7xf32>, %[[OTHER:[^ ]*]]: tensor<8x7xf32>)
// CHECK-DAG: %[[B:.*]] = stablehlo.reshape %[[BIAS]] : (tensor<4x8x7xf32>) -> tensor<1x4x8x7xf32>
// CHECK-DAG: %[[C:.*]] = stablehlo.reshape %[[OTHER]] : (tensor<8x7xf32>) -> tensor<1x1x8x7xf32>
// CHECK: %[[WIDE:.*]] = stablehlo.broadcast_in_dim %[[C]], dims = [0, 1, 2, 3] : (tensor<1x1x8x7xf32>) -> tensor<1x4x8x7xf32>
// CHECK: %[[SUM:.*]] = stablehlo.add %[[B]], %[[WIDE]]
// CHECK: amsp.attention {{.*}} bias %[[SUM]] scale = 5.000000e-01
// CHECK: %[[DQ:.*]], %{{.*}}, %{{.*}}, %[[DB:.*]] = amsp.attention_backward {{.*}} bias %[[SUM]] scale = 5.000000e-01 {{.*}} -> (tensor<3x4x8x16xf32>, tensor<3x4x7x16xf32>, tensor<3x4x7x5xf32>, tensor<1x4x8x7xf32>)
// CHECK: %[[OUT:.*]] = stablehlo.reshape %[[DB]] : (tensor<1x4x8x7xf32>) -> tensor<4x8x7xf32>
// CHECK: %[[LESS:.*]] = stablehlo.reduce(%[[OUT]] init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<4x8x7xf32>, tensor<f32>) -> tensor<8x7xf32>
// CHECK: return %[[DQ]], %[[OUT]], %[[LESS]]
func.func @two_biases(%q: tensor<3x4x8x16xf32>, %k: tensor<3x4x7x16xf32>, %v: tensor<3x4x7x5xf32>, %d: tensor<3x4x8x5xf32>, %bias: tensor<4x8x7xf32>, %other: tensor<8x7xf32>) -> (tensor<3x4x8x16xf32>, tensor<4x8x7xf32>, tensor<8x7xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<3x4x8x7xf32>
  %b = stablehlo.broadcast_in_dim %bias, dims = [1, 2, 3] : (tensor<4x8x7xf32>) -> tensor<3x4x8x7xf32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x16xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x7xf32>
  %1 = stablehlo.multiply %0, %half : tensor<3x4x8x7xf32>
  %c = stablehlo.broadcast_in_dim %other, dims = [2, 3] : (tensor<8x7xf32>) -> tensor<3x4x8x7xf32>
  %s0 = stablehlo.add %1, %b : tensor<3x4x8x7xf32>
  %s = stablehlo.add %c, %s0 : tensor<3x4x8x7xf32>
  %2 = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %4 = stablehlo.subtract %s, %3 : tensor<3x4x8x7xf32>
  %5 = stablehlo.exponential %4 : tensor<3x4x8x7xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %p = stablehlo.divide %5, %7 : tensor<3x4x8x7xf32>
  %g = stablehlo.dot_general %d, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x5xf32>, tensor<3x4x7x5xf32>) -> tensor<3x4x8x7xf32>
  %8 = stablehlo.multiply %p, %g : tensor<3x4x8x7xf32>
  %9 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %11 = stablehlo.multiply %p, %10 : tensor<3x4x8x7xf32>
  %ds = stablehlo.subtract %8, %11 : tensor<3x4x8x7xf32>
  %scaled = stablehlo.multiply %ds, %half : tensor<3x4x8x7xf32>
  %dq = stablehlo.dot_general %scaled, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<3x4x8x7xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x16xf32>
  %dbias = stablehlo.reduce(%ds init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<4x8x7xf32>
  %dother = stablehlo.reduce(%ds init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<8x7xf32>
  return %dq, %dbias, %dother : tensor<3x4x8x16xf32>, tensor<4x8x7xf32>, tensor<8x7xf32>
}

// -----

// Gradients of rows and keys, and of heads, queries and keys: one that gives both
// is as large as the scores.
// CHECK-LABEL: func.func @together_too_large
// CHECK-NOT: amsp.attention
func.func @together_too_large(%q: tensor<3x4x8x16xf32>, %k: tensor<3x4x7x16xf32>, %v: tensor<3x4x7x5xf32>, %d: tensor<3x4x8x5xf32>, %bias: tensor<4x8x7xf32>, %other: tensor<3x7xf32>) -> (tensor<3x4x8x16xf32>, tensor<4x8x7xf32>, tensor<3x7xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<3x4x8x7xf32>
  %b = stablehlo.broadcast_in_dim %bias, dims = [1, 2, 3] : (tensor<4x8x7xf32>) -> tensor<3x4x8x7xf32>
  // expected-remark @+1 {{no attention: the softmax of this contraction takes 2688 bytes, and 'stablehlo.reduce' reads it, or what is made of it}}
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x16xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x7xf32>
  %1 = stablehlo.multiply %0, %half : tensor<3x4x8x7xf32>
  %c = stablehlo.broadcast_in_dim %other, dims = [0, 3] : (tensor<3x7xf32>) -> tensor<3x4x8x7xf32>
  %s0 = stablehlo.add %1, %b : tensor<3x4x8x7xf32>
  %s = stablehlo.add %c, %s0 : tensor<3x4x8x7xf32>
  %2 = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %4 = stablehlo.subtract %s, %3 : tensor<3x4x8x7xf32>
  %5 = stablehlo.exponential %4 : tensor<3x4x8x7xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %p = stablehlo.divide %5, %7 : tensor<3x4x8x7xf32>
  %g = stablehlo.dot_general %d, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x5xf32>, tensor<3x4x7x5xf32>) -> tensor<3x4x8x7xf32>
  %8 = stablehlo.multiply %p, %g : tensor<3x4x8x7xf32>
  %9 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %11 = stablehlo.multiply %p, %10 : tensor<3x4x8x7xf32>
  %ds = stablehlo.subtract %8, %11 : tensor<3x4x8x7xf32>
  %scaled = stablehlo.multiply %ds, %half : tensor<3x4x8x7xf32>
  %dq = stablehlo.dot_general %scaled, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<3x4x8x7xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x16xf32>
  %dbias = stablehlo.reduce(%ds init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<4x8x7xf32>
  // expected-note @+1 {{here}}
  %dother = stablehlo.reduce(%ds init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x7xf32>
  return %dq, %dbias, %dother : tensor<3x4x8x16xf32>, tensor<4x8x7xf32>, tensor<3x7xf32>
}

// -----

// Layers share a bias to which a mask was added: their gradients are added before
// they are summed over the rows.
// CHECK-LABEL: func.func @of_layers
// CHECK-SAME: %[[BIAS:[^ ]*]]: tensor<3x4x8x7xf32>)
// CHECK: %[[DQ0:.*]], %{{.*}}, %{{.*}}, %[[DB0:.*]] = amsp.attention_backward {{.*}} bias %[[BIAS]] {{.*}}tensor<1x4x8x7xf32>)
// CHECK: %[[DQ1:.*]], %{{.*}}, %{{.*}}, %[[DB1:.*]] = amsp.attention_backward {{.*}} bias %[[BIAS]] {{.*}}tensor<1x4x8x7xf32>)
// CHECK-NOT: reduce
// CHECK: %[[OUT:.*]] = stablehlo.add %{{.*}}, %{{.*}} : tensor<4x8x7xf32>
// CHECK: return %[[DQ0]], %[[DQ1]], %[[OUT]]
func.func @of_layers(%q0: tensor<3x4x8x16xf32>, %q1: tensor<3x4x8x16xf32>, %k: tensor<3x4x7x16xf32>, %v: tensor<3x4x7x5xf32>, %d: tensor<3x4x8x5xf32>, %b: tensor<3x4x8x7xf32>) -> (tensor<3x4x8x16xf32>, tensor<3x4x8x16xf32>, tensor<4x8x7xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<3x4x8x7xf32>
  %t0_0 = stablehlo.dot_general %q0, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x16xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x7xf32>
  %t1_0 = stablehlo.multiply %t0_0, %half : tensor<3x4x8x7xf32>
  %s_0 = stablehlo.add %t1_0, %b : tensor<3x4x8x7xf32>
  %t2_0 = stablehlo.reduce(%s_0 init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %t3_0 = stablehlo.broadcast_in_dim %t2_0, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %t4_0 = stablehlo.subtract %s_0, %t3_0 : tensor<3x4x8x7xf32>
  %t5_0 = stablehlo.exponential %t4_0 : tensor<3x4x8x7xf32>
  %t6_0 = stablehlo.reduce(%t5_0 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %t7_0 = stablehlo.broadcast_in_dim %t6_0, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %p_0 = stablehlo.divide %t5_0, %t7_0 : tensor<3x4x8x7xf32>
  %g_0 = stablehlo.dot_general %d, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x5xf32>, tensor<3x4x7x5xf32>) -> tensor<3x4x8x7xf32>
  %t8_0 = stablehlo.multiply %p_0, %g_0 : tensor<3x4x8x7xf32>
  %t9_0 = stablehlo.reduce(%t8_0 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %t10_0 = stablehlo.broadcast_in_dim %t9_0, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %t11_0 = stablehlo.multiply %p_0, %t10_0 : tensor<3x4x8x7xf32>
  %ds_0 = stablehlo.subtract %t8_0, %t11_0 : tensor<3x4x8x7xf32>
  %scaled_0 = stablehlo.multiply %ds_0, %half : tensor<3x4x8x7xf32>
  %dq_0 = stablehlo.dot_general %scaled_0, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<3x4x8x7xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x16xf32>
  %t0_1 = stablehlo.dot_general %q1, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x16xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x7xf32>
  %t1_1 = stablehlo.multiply %t0_1, %half : tensor<3x4x8x7xf32>
  %s_1 = stablehlo.add %t1_1, %b : tensor<3x4x8x7xf32>
  %t2_1 = stablehlo.reduce(%s_1 init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %t3_1 = stablehlo.broadcast_in_dim %t2_1, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %t4_1 = stablehlo.subtract %s_1, %t3_1 : tensor<3x4x8x7xf32>
  %t5_1 = stablehlo.exponential %t4_1 : tensor<3x4x8x7xf32>
  %t6_1 = stablehlo.reduce(%t5_1 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %t7_1 = stablehlo.broadcast_in_dim %t6_1, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %p_1 = stablehlo.divide %t5_1, %t7_1 : tensor<3x4x8x7xf32>
  %g_1 = stablehlo.dot_general %d, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<3x4x8x5xf32>, tensor<3x4x7x5xf32>) -> tensor<3x4x8x7xf32>
  %t8_1 = stablehlo.multiply %p_1, %g_1 : tensor<3x4x8x7xf32>
  %t9_1 = stablehlo.reduce(%t8_1 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<3x4x8xf32>
  %t10_1 = stablehlo.broadcast_in_dim %t9_1, dims = [0, 1, 2] : (tensor<3x4x8xf32>) -> tensor<3x4x8x7xf32>
  %t11_1 = stablehlo.multiply %p_1, %t10_1 : tensor<3x4x8x7xf32>
  %ds_1 = stablehlo.subtract %t8_1, %t11_1 : tensor<3x4x8x7xf32>
  %scaled_1 = stablehlo.multiply %ds_1, %half : tensor<3x4x8x7xf32>
  %dq_1 = stablehlo.dot_general %scaled_1, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<3x4x8x7xf32>, tensor<3x4x7x16xf32>) -> tensor<3x4x8x16xf32>
  %added = stablehlo.add %ds_1, %ds_0 : tensor<3x4x8x7xf32>
  %dbias = stablehlo.reduce(%added init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x4x8x7xf32>, tensor<f32>) -> tensor<4x8x7xf32>
  return %dq_0, %dq_1, %dbias : tensor<3x4x8x16xf32>, tensor<3x4x8x16xf32>, tensor<4x8x7xf32>
}
