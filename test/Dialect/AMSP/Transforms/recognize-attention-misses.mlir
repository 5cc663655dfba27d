// RUN: amsp-opt %s --amsp-recognize-attention -split-input-file -verify-diagnostics | FileCheck %s

// Twice the softmax.
// CHECK-LABEL: func.func @scaled
// CHECK-NOT: amsp.attention
func.func @scaled(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>) -> tensor<3x8x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<3x8x7xf32>
  // expected-remark @+1 {{no attention: the softmax of this contraction takes 672 bytes, and 'stablehlo.dot_general' reads it, or what is made of it}}
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %5 = stablehlo.subtract %0, %4 : tensor<3x8x7xf32>
  %6 = stablehlo.exponential %5 : tensor<3x8x7xf32>
  %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %10 = stablehlo.divide %6, %9 : tensor<3x8x7xf32>
  %11 = stablehlo.multiply %10, %two : tensor<3x8x7xf32>
  // expected-note @+1 {{here}}
  %12 = stablehlo.dot_general %11, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
  return %12 : tensor<3x8x16xf32>
}

// -----

// Weights of each key that add up to one over the queries.
// CHECK-LABEL: func.func @other_axis
// CHECK-NOT: amsp.attention
func.func @other_axis(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>) -> tensor<3x8x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // expected-remark @+1 {{no attention: the softmax of this contraction takes 672 bytes, and does not multiply values}}
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x7xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 2] : (tensor<3x7xf32>) -> tensor<3x8x7xf32>
  %5 = stablehlo.subtract %0, %4 : tensor<3x8x7xf32>
  %6 = stablehlo.exponential %5 : tensor<3x8x7xf32>
  %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x7xf32>
  %9 = stablehlo.broadcast_in_dim %7, dims = [0, 2] : (tensor<3x7xf32>) -> tensor<3x8x7xf32>
  %10 = stablehlo.divide %6, %9 : tensor<3x8x7xf32>
  %12 = stablehlo.dot_general %10, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
  return %12 : tensor<3x8x16xf32>
}

// -----

// The probabilities are read elsewhere too.
// CHECK-LABEL: func.func @returned
// CHECK-NOT: amsp.attention
func.func @returned(%q: tensor<3x8x16xf32>, %k: tensor<3x7x16xf32>) -> (tensor<3x8x16xf32>, tensor<3x8x7xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // expected-remark @+1 {{no attention: the softmax of this contraction takes 672 bytes, and 'func.return' reads it, or what is made of it}}
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x16xf32>, tensor<3x7x16xf32>) -> tensor<3x8x7xf32>
  %3 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %5 = stablehlo.subtract %0, %4 : tensor<3x8x7xf32>
  %6 = stablehlo.exponential %5 : tensor<3x8x7xf32>
  %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x8x7xf32>, tensor<f32>) -> tensor<3x8xf32>
  %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x7xf32>
  %10 = stablehlo.divide %6, %9 : tensor<3x8x7xf32>
  %12 = stablehlo.dot_general %10, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x7xf32>, tensor<3x7x16xf32>) -> tensor<3x8x16xf32>
  // expected-note @+1 {{here}}
  return %12, %10 : tensor<3x8x16xf32>, tensor<3x8x7xf32>
}

// -----

// The scores that a classifier's softmax takes are no attention's, and no miss.
// CHECK-LABEL: func.func @classifier
func.func @classifier(%x: tensor<8x16xf32>, %w: tensor<7x16xf32>) -> tensor<8x7xf32> {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x16xf32>, tensor<7x16xf32>) -> tensor<8x7xf32>
  %3 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<8x7xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<8xf32>) -> tensor<8x7xf32>
  %5 = stablehlo.subtract %0, %4 : tensor<8x7xf32>
  %6 = stablehlo.exponential %5 : tensor<8x7xf32>
  return %6 : tensor<8x7xf32>
}
