// RUN: amsp-opt %s --amsp-recognize-attention --canonicalize --cse | FileCheck %s

// Forward and backward, as differentiation of a softmax prints it: queries are
// divided by 4, a causal mask from indices.
// CHECK-LABEL: func.func @causal
// CHECK-SAME: (%[[Q:.*]]: tensor<2x3x8x16xf32>, %[[K:.*]]: tensor<2x3x8x16xf32>, %[[V:.*]]: tensor<2x3x8x16xf32>, %[[D:.*]]: tensor<2x3x8x16xf32>)
// CHECK-NEXT: %[[R:.*]], %[[MAX:.*]], %[[SUM:.*]] = amsp.attention %[[Q]], %[[K]], %[[V]] scale = 2.500000e-01 causal masked_score = -1.000000e+09
// CHECK-NEXT: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = amsp.attention_backward %[[Q]], %[[K]], %[[V]], %[[MAX]], %[[SUM]], %[[D]] scale = 2.500000e-01 causal masked_score = -1.000000e+09
// CHECK: return %[[R]], %[[DQ]], %[[DK]], %{{.*}} :
func.func @causal(%q: tensor<2x3x8x16xf32>, %k: tensor<2x3x8x16xf32>, %v: tensor<2x3x8x16xf32>, %d: tensor<2x3x8x16xf32>) -> (tensor<2x3x8x16xf32>, tensor<2x3x8x16xf32>, tensor<2x3x8x16xf32>, tensor<2x3x8x16xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %four = stablehlo.constant dense<4.0> : tensor<2x3x8x8xf32>
  %left = stablehlo.constant dense<-1.0e9> : tensor<2x3x8x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<2x3x8x1xf32>
  %none = stablehlo.constant dense<0.0> : tensor<2x3x8x8xf32>
  %rows = stablehlo.iota dim = 0 : tensor<8x8xi32>
  %columns = stablehlo.iota dim = 1 : tensor<8x8xi32>
  %holds = stablehlo.compare GE, %rows, %columns, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %mask = stablehlo.broadcast_in_dim %holds, dims = [2, 3] : (tensor<8x8xi1>) -> tensor<2x3x8x8xi1>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x8x16xf32>, tensor<2x3x8x16xf32>) -> tensor<2x3x8x8xf32>
  %1 = stablehlo.divide %0, %four : tensor<2x3x8x8xf32>
  %2 = stablehlo.select %mask, %1, %left : tensor<2x3x8x8xi1>, tensor<2x3x8x8xf32>
  %3 = stablehlo.reduce(%2 init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x8x8xf32>, tensor<f32>) -> tensor<2x3x8xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x3x8xf32>) -> tensor<2x3x8x8xf32>
  %5 = stablehlo.subtract %2, %4 : tensor<2x3x8x8xf32>
  %6 = stablehlo.exponential %5 : tensor<2x3x8x8xf32>
  %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x3x8x8xf32>, tensor<f32>) -> tensor<2x3x8xf32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x3x8xf32>) -> tensor<2x3x8x1xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<2x3x8x1xf32>) -> tensor<2x3x8x8xf32>
  %10 = stablehlo.divide %6, %9 : tensor<2x3x8x8xf32>
  %11 = stablehlo.dot_general %10, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x8x8xf32>, tensor<2x3x8x16xf32>) -> tensor<2x3x8x16xf32>
  %12 = stablehlo.dot_general %d, %10, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x3x8x16xf32>, tensor<2x3x8x8xf32>) -> tensor<2x3x16x8xf32>
  %dv = stablehlo.transpose %12, dims = [0, 1, 3, 2] : (tensor<2x3x16x8xf32>) -> tensor<2x3x8x16xf32>
  %13 = stablehlo.dot_general %d, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x3x8x16xf32>, tensor<2x3x8x16xf32>) -> tensor<2x3x8x8xf32>
  %14 = stablehlo.multiply %8, %8 : tensor<2x3x8x1xf32>
  %15 = stablehlo.divide %one, %14 : tensor<2x3x8x1xf32>
  %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x3x8x1xf32>) -> tensor<2x3x8x8xf32>
  %17 = stablehlo.multiply %13, %16 : tensor<2x3x8x8xf32>
  %18 = stablehlo.multiply %17, %6 : tensor<2x3x8x8xf32>
  %19 = stablehlo.reduce(%18 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x3x8x8xf32>, tensor<f32>) -> tensor<2x3x8xf32>
  %20 = stablehlo.negate %19 : tensor<2x3x8xf32>
  %21 = stablehlo.divide %13, %9 : tensor<2x3x8x8xf32>
  %22 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<2x3x8xf32>) -> tensor<2x3x8x8xf32>
  %23 = stablehlo.add %21, %22 : tensor<2x3x8x8xf32>
  %24 = stablehlo.multiply %23, %6 : tensor<2x3x8x8xf32>
  %25 = stablehlo.select %mask, %24, %none : tensor<2x3x8x8xi1>, tensor<2x3x8x8xf32>
  %26 = stablehlo.divide %25, %four : tensor<2x3x8x8xf32>
  %dk = stablehlo.dot_general %26, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x3x8x8xf32>, tensor<2x3x8x16xf32>) -> tensor<2x3x8x16xf32>
  %dq = stablehlo.dot_general %26, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x3x8x8xf32>, tensor<2x3x8x16xf32>) -> tensor<2x3x8x16xf32>
  return %11, %dq, %dk, %dv : tensor<2x3x8x16xf32>, tensor<2x3x8x16xf32>, tensor<2x3x8x16xf32>, tensor<2x3x8x16xf32>
}

// Rows, keys, heads, elements: heads of queries that share keys are a free
// dimension, and come in another order than in the op; a bias by distance.
// CHECK-LABEL: func.func @grouped
// CHECK-SAME: (%[[Q:.*]]: tensor<2x8x2x5x16xf32>, %[[K:.*]]: tensor<2x7x2x16xf32>, %{{.*}}: tensor<8x7xf32>)
// CHECK-DAG: %[[QT:.*]] = stablehlo.transpose %[[Q]], dims = [0, 2, 3, 1, 4]
// CHECK-DAG: %[[QR:.*]] = stablehlo.reshape %[[QT]] : (tensor<2x2x5x8x16xf32>) -> tensor<2x10x8x16xf32>
// CHECK-DAG: %[[KT:.*]] = stablehlo.transpose %[[K]], dims = [0, 2, 1, 3]
// CHECK: amsp.attention %[[QR]], %[[KT]], %[[KT]] bias %{{.*}} scale = 1.000000e+00 : (tensor<2x10x8x16xf32>, tensor<2x2x7x16xf32>, tensor<2x2x7x16xf32>, tensor<1x1x8x7xf32>)
func.func @grouped(%q: tensor<2x8x2x5x16xf32>, %k: tensor<2x7x2x16xf32>, %bias: tensor<8x7xf32>) -> tensor<2x2x8x5x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %bias, dims = [2, 4] : (tensor<8x7xf32>) -> tensor<2x2x8x5x7xf32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3] : (tensor<2x8x2x5x16xf32>, tensor<2x7x2x16xf32>) -> tensor<2x2x8x5x7xf32>
  %2 = stablehlo.add %0, %b : tensor<2x2x8x5x7xf32>
  %3 = stablehlo.reduce(%2 init: %least) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x8x5x7xf32>, tensor<f32>) -> tensor<2x2x8x5xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<2x2x8x5xf32>) -> tensor<2x2x8x5x7xf32>
  %5 = stablehlo.subtract %2, %4 : tensor<2x2x8x5x7xf32>
  %6 = stablehlo.exponential %5 : tensor<2x2x8x5x7xf32>
  %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [4] : (tensor<2x2x8x5x7xf32>, tensor<f32>) -> tensor<2x2x8x5xf32>
  %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<2x2x8x5xf32>) -> tensor<2x2x8x5x7xf32>
  %10 = stablehlo.divide %6, %9 : tensor<2x2x8x5x7xf32>
  %11 = stablehlo.dot_general %10, %k, batching_dims = [0, 1] x [0, 2], contracting_dims = [4] x [1] : (tensor<2x2x8x5x7xf32>, tensor<2x7x2x16xf32>) -> tensor<2x2x8x5x16xf32>
  return %11 : tensor<2x2x8x5x16xf32>
}
