// RUN: amsp-opt %s --amsp-quantize-collectives='block=4 min-bytes=32' --split-input-file | FileCheck %s

// Nine elements in two pieces of five: one of padding, masked. Five are two
// blocks of three.
#flat = #amsp.placement<flat, 0, [1:2]>
// CHECK-LABEL: func.func @padded
func.func @padded(%w: tensor<5xbf16> {amsp.placement = #flat, amsp.global_type = tensor<3x3xbf16>},
                  %x: tensor<5xf32> {amsp.placement = #flat, amsp.global_type = tensor<9xf32>}) -> tensor<9xf32> {
  // CHECK: %[[M:.*]] = amsp.mask_padding %arg1, %{{.*}} group = <[1:2]> elements = 9 : tensor<5xf32>, tensor<f32>
  // CHECK: %[[R:.*]] = stablehlo.reshape %[[M]] : (tensor<5xf32>) -> tensor<1x5xf32>
  // CHECK: %[[P:.*]] = stablehlo.pad %[[R]], %{{.*}}, low = [0, 0], high = [0, 1], interior = [0, 0]
  // CHECK: %[[C:.*]] = stablehlo.reshape %[[P]] : (tensor<1x6xf32>) -> tensor<1x2x3xf32>
  // CHECK: %[[A:.*]] = stablehlo.abs %[[C]]
  // CHECK: %[[L:.*]] = stablehlo.reduce(%[[A]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [2]
  // CHECK: %[[S:.*]] = stablehlo.divide %[[L]], %{{.*}} : tensor<1x2xf32>
  // CHECK: stablehlo.round_nearest_even
  // CHECK: %[[Q:.*]] = stablehlo.convert %{{.*}} : (tensor<1x2x3xf32>) -> tensor<1x2x3xi8>
  // CHECK: %[[GQ:.*]] = amsp.all_gather %{{.*}} group = <[1:2]> parameter = 1 unit = "a" window = 5 : tensor<6xi8> -> tensor<2x6xi8>
  // CHECK: %[[GS:.*]] = amsp.all_gather %{{.*}} group = <[1:2]> parameter = 1 unit = "a" window = 5 : tensor<2xf32> -> tensor<2x2xf32>
  // CHECK: %[[D:.*]] = stablehlo.convert %{{.*}} : (tensor<2x2x3xi8>) -> tensor<2x2x3xf32>
  // CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[GS]], dims = [0, 1]
  // CHECK: stablehlo.multiply %[[D]], %[[B]]
  // CHECK: stablehlo.slice %{{.*}} [0:2, 0:5]
  // CHECK: stablehlo.slice %{{.*}} [0:9]
  %0 = amsp.all_gather %x group = <[1:2]> parameter = 1 unit = "a" window = 5 : tensor<5xf32> -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

// To the pieces that are kept, then to the whole: pieces nest, and the mask is
// that of the pieces on the way.
#flat = #amsp.placement<flat, 0, [1:2, 2:2]>
// CHECK-LABEL: func.func @in_two_stages
func.func @in_two_stages(%w: tensor<4xf32> {amsp.placement = #flat, amsp.global_type = tensor<3x5xf32>}) -> tensor<3x5xf32> {
  // CHECK: amsp.mask_padding %arg0, %{{.*}} group = <[1:2, 2:2]> elements = 15
  // CHECK: amsp.all_gather %{{.*}} group = <[2:2]> parameter = 0 : tensor<4xi8> -> tensor<2x4xi8>
  // CHECK: amsp.mask_padding %{{.*}}, %{{.*}} group = <[1:2]> elements = 15
  // CHECK: amsp.all_gather %{{.*}} group = <[1:2]> parameter = 0 window = 1 : tensor<8xi8> -> tensor<2x8xi8>
  %0 = amsp.all_gather %w group = <[2:2]> parameter = 0 : tensor<4xf32> -> tensor<8xf32>
  %1 = amsp.all_gather %0 group = <[1:2]> parameter = 0 window = 1 : tensor<8xf32> -> tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}

// -----

// No padding, no mask. bf16 is widened for the arithmetic.
#flat = #amsp.placement<flat, 0, [1:2]>
// CHECK-LABEL: func.func @bf16
func.func @bf16(%w: tensor<8xbf16> {amsp.placement = #flat, amsp.global_type = tensor<4x4xbf16>}) -> tensor<4x4xbf16> {
  // CHECK-NOT: mask_padding
  // CHECK: stablehlo.convert %{{.*}} : (tensor<1x8xbf16>) -> tensor<1x8xf32>
  // CHECK: amsp.all_gather %{{.*}} : tensor<8xi8> -> tensor<2x8xi8>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<16xf32>) -> tensor<16xbf16>
  %0 = amsp.all_gather %w group = <[1:2]> parameter = 0 : tensor<8xbf16> -> tensor<4x4xbf16>
  return %0 : tensor<4x4xbf16>
}

// -----

// Integers, rows of the batch, what is small, and what is no parameter.
#flat = #amsp.placement<flat, 0, [1:2]>
// CHECK-LABEL: func.func @as_they_are
func.func @as_they_are(%i: tensor<8xi32> {amsp.placement = #flat, amsp.global_type = tensor<16xi32>},
                       %w: tensor<8xf32> {amsp.placement = #flat, amsp.global_type = tensor<16xf32>},
                       %s: tensor<3xf32> {amsp.placement = #flat, amsp.global_type = tensor<6xf32>},
                       %x: tensor<8xf32>) -> (tensor<16xi32>, tensor<16xf32>, tensor<16xf32>, tensor<6xf32>) {
  // CHECK-NOT: xi8
  %0 = amsp.all_gather %i group = <[1:2]> parameter = 0 : tensor<8xi32> -> tensor<16xi32>
  %1 = amsp.all_gather %w group = <[1:2]> : tensor<8xf32> -> tensor<16xf32>
  %2 = amsp.all_gather %x group = <[1:2]> dim = 0 parameter = 1 : tensor<8xf32> -> tensor<16xf32>
  %3 = amsp.all_gather %s group = <[1:2]> parameter = 2 : tensor<3xf32> -> tensor<6xf32>
  return %0, %1, %2, %3 : tensor<16xi32>, tensor<16xf32>, tensor<16xf32>, tensor<6xf32>
}
