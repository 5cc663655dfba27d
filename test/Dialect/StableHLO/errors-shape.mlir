// RUN: amsp-opt %s --split-input-file --verify-diagnostics

func.func @iota() {
  // expected-error@+1 {{dimension 1 in iota_dimension is out of range for rank 1}}
  %0 = stablehlo.iota dim = 1 : tensor<4xi32>
  return
}

// -----

func.func @bitcast(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires the same bits in the same order, but the types are 'tensor<4xf32>' and 'tensor<4xi16>'}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xi16>
  return
}

// -----

func.func @broadcastCount(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires one dimension of the result for each of the 1 of the operand, but got 0}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcastRange(%x: tensor<4xf32>) {
  // expected-error@+1 {{dimension 2 in broadcast_dimensions is out of range for rank 2}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [2] : (tensor<4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcastTwice(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{dimension 1 occurs twice in broadcast_dimensions}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcastSize(%x: tensor<3xf32>) {
  // expected-error@+1 {{cannot broadcast dimension 0 of size 3 to dimension 1 of size 4}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @reshape(%x: tensor<3xf32>) {
  // expected-error@+1 {{cannot reshape 3 elements to 4}}
  %0 = stablehlo.reshape %x : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @transpose(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{'stablehlo.transpose' op requires a permutation of 2 dimensions, but got [0, 0]}}
  %0 = stablehlo.transpose %x, dims = [0, 0] : (tensor<3x4xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @transposeResult(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{requires a result of type 'tensor<4x3xf32>', but it is 'tensor<3x4xf32>'}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reverse(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{dimension 2 in dimensions is out of range for rank 2}}
  %0 = stablehlo.reverse %x, dims = [2] : tensor<3x4xf32>
  return
}

// -----

func.func @sliceBounds(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.slice' op requires 0 <= start <= limit <= size and stride >= 1, but dimension 0 of size 4 is cut as 1:5:1}}
  %0 = stablehlo.slice %x [1:5] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sliceRank(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires one start, limit and stride for each of the 1 dimensions}}
  %0 = stablehlo.slice %x [1:2, 1:2] : (tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @padNegative(%x: tensor<4xf32>, %zero: tensor<f32>) {
  // expected-error@+1 {{cuts off more than there is of dimension 0: the result's size would be -1}}
  %0 = stablehlo.pad %x, %zero, low = [-5], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<0xf32>
  return
}

// -----

func.func @padInterior(%x: tensor<4xf32>, %zero: tensor<f32>) {
  // expected-error@+1 {{requires interior padding >= 0, but dimension 0 has -1}}
  %0 = stablehlo.pad %x, %zero, low = [0], high = [0], interior = [-1] : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
  return
}

// -----

func.func @concatenateShapes(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // expected-error@+1 {{requires inputs that differ in dimension 0 only, but they are 'tensor<4x2xf32>' and 'tensor<4x3xf32>'}}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return
}

// -----

func.func @concatenateDimension(%x: tensor<4xf32>) {
  // expected-error@+1 {{dimension 1 is out of range for rank 1}}
  %0 = stablehlo.concatenate %x, dim = 1 : (tensor<4xf32>) -> tensor<4xf32>
  return
}
