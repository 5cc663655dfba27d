// RUN: amsp-opt %s --split-input-file --verify-diagnostics

func.func @dimension_twice(%x: tensor<2x8x3xf32>, %k: tensor<3x3x4xf32>) {
  // expected-error@+1 {{expected one each of 'b' and 'f', but got 'b'}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, b]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @dimension_missing(%x: tensor<2x8x3xf32>, %k: tensor<3x3x4xf32>) {
  // expected-error@+1 {{expected the spatial dimensions 0 to 0}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 1, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @rank(%x: tensor<2x8x3xf32>, %k: tensor<3x3x4xf32>) {
  // expected-error@+1 {{names 4 dimensions of lhs, which has rank 3}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @features(%x: tensor<2x8x3xf32>, %k: tensor<3x2x4xf32>) {
  // expected-error@+1 {{requires a kernel of 3 input features, but got 2}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<3x2x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @groups(%x: tensor<2x8x3xf32>, %k: tensor<3x1x4xf32>) {
  // expected-error@+1 {{cannot cut the output features of size 4 into 3 groups}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<2x8x3xf32>, tensor<3x1x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @both_groups(%x: tensor<2x8x2xf32>, %k: tensor<3x1x4xf32>) {
  // expected-error@+1 {{requires feature_group_count or batch_group_count to be 1, but they are 2 and 2}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<2x8x2xf32>, tensor<3x1x4xf32>) -> tensor<1x6x4xf32>
  return
}

// -----

func.func @strides(%x: tensor<2x8x3xf32>, %k: tensor<3x3x4xf32>) {
  // expected-error@+1 {{requires window strides for each of the 1 dimensions of the window, but got 2}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @dilation(%x: tensor<2x8x3xf32>, %k: tensor<3x3x4xf32>) {
  // expected-error@+1 {{requires positive base dilations, but got [0]}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {lhs_dilate = [0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @convolution_result(%x: tensor<2x8x3xf32>, %k: tensor<3x3x4xf32>) {
  // expected-error@+1 {{requires a result of type 'tensor<2x6x4xf32>', but it is 'tensor<2x8x4xf32>'}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @window_rank(%x: tensor<4x6xf32>, %init: tensor<f32>) {
  // expected-error@+1 {{requires a window of 2 dimensions, but got 1}}
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @window_padding(%x: tensor<4x6xf32>, %init: tensor<f32>) {
  // expected-error@+1 {{requires padding before and behind each of the 2 dimensions of the window, but got 'tensor<1x2xi64>'}}
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 2, 1>, padding = dense<0> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @window_result(%x: tensor<4x6xf32>, %init: tensor<f32>) {
  // expected-error@+1 {{requires a result of type 'tensor<3x6xf32>', but it is 'tensor<4x6xf32>'}}
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @window_init(%x: tensor<4x6xf32>, %init: tensor<f64>) {
  // expected-error@+1 {{requires initial value and result #0 to have the region's element type 'f32', but they have 'f64' and 'f32'}}
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f64>) -> tensor<3x6xf32>
  return
}

// -----

func.func @scatter_source(%x: tensor<4x6xf32>, %source: tensor<4x6xf32>, %init: tensor<f32>) {
  // expected-error@+1 {{requires a source of type 'tensor<3x6xf32>', but it is 'tensor<4x6xf32>'}}
  %0 = "stablehlo.select_and_scatter"(%x, %source, %init) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @selection(%x: tensor<4x6xf32>, %source: tensor<3x6xf32>, %init: tensor<f32>) {
  // expected-error@+1 {{requires the selection to return ('tensor<i1>'), but it returns ('tensor<f32>')}}
  %0 = "stablehlo.select_and_scatter"(%x, %source, %init) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}
