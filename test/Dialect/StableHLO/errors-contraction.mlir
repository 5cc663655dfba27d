// RUN: amsp-opt %s --split-input-file --verify-diagnostics

func.func @dotSizes(%x: tensor<4x6xf32>, %y: tensor<5x3xf32>) {
  // expected-error@+1 {{contracting dimensions differ in size: 1 of 'tensor<4x6xf32>' and 0 of 'tensor<5x3xf32>'}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dotCounts(%x: tensor<4x6xf32>, %y: tensor<6x3xf32>) {
  // expected-error@+1 {{requires as many contracting dimensions of lhs as of rhs, but got 1 and 0}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [] : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dotTwice(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) {
  // expected-error@+1 {{dimension 1 occurs twice in the dimensions of lhs}}
  %0 = stablehlo.dot_general %x, %y, batching_dims = [1] x [1], contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @dotResult(%x: tensor<4x6xf32>, %y: tensor<6x3xf32>) {
  // expected-error@+1 {{requires a result of type 'tensor<4x3xf32>', but it is 'tensor<3x4xf32>'}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @dotPrecision(%x: tensor<4x6xf32>, %y: tensor<6x3xf32>) {
  // expected-error@+1 {{requires a precision for each of the 2 operands, but got 1}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [HIGH] : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @reduceDimension(%x: tensor<4x6xf32>, %zero: tensor<f32>) {
  // expected-error@+1 {{dimension 2 in dimensions is out of range for rank 2}}
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduceResult(%x: tensor<4x6xf32>, %zero: tensor<f32>) {
  // expected-error@+1 {{requires a result of type 'tensor<4xf32>', but it is 'tensor<6xf32>'}}
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
  return
}

// -----

func.func @reduceInit(%x: tensor<4x6xf32>, %zero: tensor<f64>) {
  // expected-error@+1 {{requires initial value and result #0 to have the region's element type 'f32', but they have 'f64' and 'f32'}}
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f64>) -> tensor<4xf32>
  return
}

// -----

func.func @reduceShortOp(%x: tensor<4x6xf32>, %zero: tensor<f32>) {
  // expected-error@+1 {{expected a commutative op of two operands, but got stablehlo.subtract}}
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.subtract across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduceArguments(%x: tensor<4x6xf32>, %zero: tensor<f32>) {
  // expected-error@+1 {{requires the region's arguments #0 and #1 to be 0-dimensional tensors of 'f32', but they are 'tensor<f32>' and 'tensor<i32>'}}
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%a: tensor<f32>, %b: tensor<i32>) {
    stablehlo.return %a : tensor<f32>
  }
  return
}

// -----

func.func @reduceReturn(%x: tensor<4x6xf32>, %zero: tensor<f32>) {
  // expected-error@+1 {{requires the region to return ('tensor<f32>'), but it returns ('tensor<f32>', 'tensor<f32>')}}
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  }
  return
}

// -----

func.func @sortDimension(%x: tensor<4xf32>) {
  // expected-error@+1 {{dimension 1 is out of range for rank 1}}
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sortComparator(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires the comparator to return ('tensor<i1>'), but it returns ('tensor<f32>')}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @randomState(%state: tensor<3xui64>) {
  // expected-error@+1 {{algorithm THREE_FRY does not take a state of type 'tensor<3xui64>'}}
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<8xui32>)
  return
}
