// RUN: amsp-opt %s --amsp-split-microbatches=count=2 -split-input-file -verify-diagnostics

// A mean over the unmasked: the divisor is not known before all rows are seen.
func.func @masked_mean(
    %x: tensor<8xf32> {amsp.role = #amsp.role<batch>},
    %mask: tensor<8xf32> {amsp.role = #amsp.role<batch>}) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %count = stablehlo.reduce(%mask init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %counts = stablehlo.broadcast_in_dim %count, dims = [] : (tensor<f32>) -> tensor<8xf32>
  // expected-error @below {{the step cannot be split into microbatches: 'stablehlo.divide' takes rows of the batch and what follows from a sum over all of them, which 'stablehlo.reduce' at}}
  %gradient = stablehlo.divide %x, %counts : tensor<8xf32>
  return %gradient : tensor<8xf32>
}

// -----

// Batch norm: sums of what depends on a sum, without rows between them.
func.func @variance(%x: tensor<8x4xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %means = stablehlo.broadcast_in_dim %sum, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  // expected-error @below {{'stablehlo.subtract' takes rows of the batch and what follows from a sum over all of them}}
  %centred = stablehlo.subtract %x, %means : tensor<8x4xf32>
  %square = stablehlo.multiply %centred, %centred : tensor<8x4xf32>
  %variance = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %variance : tensor<4xf32>
}

// -----

func.func @maximum(%x: tensor<8xf32> {amsp.role = #amsp.role<batch>}) -> tensor<f32> {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // expected-error @below {{the step cannot be split into microbatches: 'stablehlo.reduce' makes no sum over the rows of the batch}}
  %max = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %max : tensor<f32>
}

// -----

// In-batch negatives.
func.func @contrastive(%x: tensor<8x4xf32> {amsp.role = #amsp.role<batch>}) -> tensor<8x8xf32> {
  // expected-error @below {{the step cannot be split into microbatches: 'stablehlo.dot_general' needs rows of other microbatches}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A sum that each iteration of a loop needs.
func.func @in_a_loop(%x: tensor<8x4xf32> {amsp.role = #amsp.role<batch>}) -> tensor<4xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %start = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0:2 = stablehlo.while(%i = %c0, %scale = %start) : tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %c3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
    %2 = stablehlo.multiply %x, %1 : tensor<8x4xf32>
    // expected-error @below {{the sum over all rows that 'stablehlo.reduce' makes is needed in a loop or a branch}}
    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
    %4 = stablehlo.tanh %3 : tensor<4xf32>
    %5 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %5, %4 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// -----

// expected-error @below {{the step cannot be split into microbatches: batch argument 'arg0' has 7 rows, which 2 microbatches do not divide}}
func.func @odd(%x: tensor<7xf32> {amsp.role = #amsp.role<batch>}) -> tensor<7xf32> {
  return %x : tensor<7xf32>
}

// -----

// expected-error @below {{it has no batch argument}}
func.func @none(%w: tensor<4xf32> {amsp.role = #amsp.role<param>}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
