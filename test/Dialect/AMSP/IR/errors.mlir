// RUN: amsp-opt %s -split-input-file -verify-diagnostics

func.func @too_small(%piece: tensor<7xf32>) -> tensor<31xf32> {
  // expected-error @+1 {{pieces of 7 elements on 4 ranks cannot hold 31}}
  %0 = amsp.all_gather %piece group = <[1:4]> : tensor<7xf32> -> tensor<31xf32>
  return %0 : tensor<31xf32>
}

// -----

func.func @not_divided(%full: tensor<5x2xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{a group of 2 does not divide dimension 0 of 'tensor<5x2xf32>'}}
  %0 = amsp.reduce_scatter sum %full group = <[1:2]> dim = 0 : tensor<5x2xf32> -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @wrong_piece(%full: tensor<4x2xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{expected a piece of shape [2, 2], got 'tensor<2x3xf32>'}}
  %0 = amsp.local_slice %full group = <[1:2]> dim = 0 : tensor<4x2xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @dim_range(%full: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{dim 1 is out of range for 'tensor<4xf32>'}}
  %0 = amsp.local_slice %full group = <[1:1]> dim = 1 : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @flat_rank(%full: tensor<4x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{a flat piece of 'tensor<4x4xf32>' has its 0 kept dimensions and one more, got 'tensor<2x4xf32>'}}
  %0 = amsp.local_slice %full group = <[1:2]> : tensor<4x4xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @types(%full: tensor<4xf32>) -> tensor<2xf64> {
  // expected-error @+1 {{full side and piece differ in element type}}
  %0 = amsp.local_slice %full group = <[1:2]> : tensor<4xf32> -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

// -----

func.func @digit(%full: tensor<4xf32>) {
  // expected-error @+1 {{a digit needs a positive stride and size, got 0:2}}
  %0 = amsp.all_reduce sum %full group = <[0:2]> : tensor<4xf32>
  return
}
