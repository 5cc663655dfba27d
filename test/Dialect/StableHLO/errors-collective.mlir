// RUN: amsp-opt %s --split-input-file --verify-diagnostics

func.func @gatherSize(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{pieces of type 'tensor<4x8xf32>' along dimension 0 do not make up a value of type 'tensor<12x8xf32>'}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<12x8xf32>
  return
}

// -----

func.func @gatherDimension(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{dimension 2 is out of range for rank 2}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @groups(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{replica_groups contain 1 twice}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @scatterSize(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{pieces of type 'tensor<3x8xf32>' along dimension 0 do not make up a value of type 'tensor<4x8xf32>'}}
  %0 = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @reduceRegion(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{requires the region's arguments #0 and #1 to be 0-dimensional tensors of 'f32', but they are 'tensor<i32>' and 'tensor<i32>'}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @exchangeCount(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{cuts into 4 pieces for groups of 2}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<4x8xf32>) -> tensor<1x32xf32>
  return
}

// -----

func.func @exchangeSize(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_to_all' op cannot cut dimension 0 of 'tensor<4x8xf32>' into 3 pieces and join them along dimension 1}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>, split_count = 3 : i64, split_dimension = 0 : i64}> : (tensor<4x8xf32>) -> tensor<1x24xf32>
  return
}

// -----

func.func @permutePairs(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{source_target_pairs name a source or target twice: 2 to 1}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
