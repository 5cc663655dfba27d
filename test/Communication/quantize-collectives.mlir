// RUN: amsp-opt %s --amsp-quantize-collectives='block=8 min-bytes=32' --split-input-file | FileCheck %s
// RUN: amsp-opt %s --amsp-quantize-collectives=block=1 --split-input-file | FileCheck %s --check-prefix=ONE
// RUN: amsp-opt %s --amsp-quantize-collectives=block=1000000000000000000 --split-input-file | FileCheck %s --check-prefix=WHOLE
// RUN: not amsp-opt %s --amsp-quantize-collectives=block=0 --split-input-file 2>&1 | FileCheck %s --check-prefix=ZERO

// Scales of single elements are larger than these; one block may be all of a piece.
// ONE-NOT: xi8
// WHOLE-LABEL: func.func @padded
// WHOLE: amsp.all_gather %{{.*}} : tensor<13xi8> -> tensor<26xi8>
// WHOLE: amsp.all_gather %{{.*}} : tensor<1xf32> -> tensor<2xf32>
// ZERO: error: a block has at least one element

// 25 elements in two pieces of 13: one of padding, masked. Thirteen are two
// blocks of seven.
#flat = #amsp.placement<flat, 0, [1:2]>
// CHECK-LABEL: func.func @padded
func.func @padded(%w: tensor<13xbf16> {amsp.placement = #flat, amsp.global_type = tensor<5x5xbf16>},
                  %x: tensor<13xf32> {amsp.placement = #flat, amsp.global_type = tensor<25xf32>}) -> tensor<25xf32> {
  // CHECK: %[[R:.*]] = stablehlo.reshape %arg1 : (tensor<13xf32>) -> tensor<1x13xf32>
  // CHECK: %[[M:.*]] = amsp.mask_padding %[[R]], %{{.*}} group = <[1:2]> elements = 25 : tensor<1x13xf32>, tensor<f32>
  // CHECK: %[[P:.*]] = stablehlo.pad %[[M]], %{{.*}}, low = [0, 0], high = [0, 1], interior = [0, 0]
  // CHECK: %[[C:.*]] = stablehlo.reshape %[[P]] : (tensor<1x14xf32>) -> tensor<1x2x7xf32>
  // CHECK: %[[A:.*]] = stablehlo.abs %[[C]]
  // CHECK: %[[L:.*]] = stablehlo.reduce(%[[A]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [2]
  // CHECK: %[[S:.*]] = stablehlo.divide %[[L]], %{{.*}} : tensor<1x2xf32>
  // CHECK: stablehlo.round_nearest_even
  // CHECK: %[[Q:.*]] = stablehlo.convert %{{.*}} : (tensor<1x2x7xf32>) -> tensor<1x2x7xi8>
  // CHECK: %[[GQ:.*]] = amsp.all_gather %{{.*}} group = <[1:2]> parameter = 1 unit = "a" window = 5 : tensor<14xi8> -> tensor<28xi8>
  // CHECK: %[[GS:.*]] = amsp.all_gather %{{.*}} group = <[1:2]> parameter = 1 unit = "a" window = 5 : tensor<2xf32> -> tensor<4xf32>
  // CHECK: %[[B:.*]] = stablehlo.reshape %[[GS]] : (tensor<4xf32>) -> tensor<2x2xf32>
  // CHECK: %[[D:.*]] = stablehlo.convert %{{.*}} : (tensor<2x2x7xi8>) -> tensor<2x2x7xf32>
  // CHECK: %[[E:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [0, 1]
  // CHECK: stablehlo.multiply %[[D]], %[[E]]
  // CHECK: stablehlo.slice %{{.*}} [0:2, 0:13]
  // CHECK: stablehlo.slice %{{.*}} [0:1, 0:25]
  %0 = amsp.all_gather %x group = <[1:2]> parameter = 1 unit = "a" window = 5 : tensor<13xf32> -> tensor<25xf32>
  return %0 : tensor<25xf32>
}

// -----

// To the pieces that are kept, then to the whole: pieces nest, and the mask is
// that of the pieces on the way.
#flat = #amsp.placement<flat, 0, [1:2, 2:2]>
// CHECK-LABEL: func.func @in_two_stages
func.func @in_two_stages(%w: tensor<8xf32> {amsp.placement = #flat, amsp.global_type = tensor<5x6xf32>}) -> tensor<5x6xf32> {
  // CHECK: amsp.mask_padding %{{.*}}, %{{.*}} group = <[1:2, 2:2]> elements = 30 : tensor<1x8xf32>
  // CHECK: amsp.all_gather %{{.*}} group = <[2:2]> parameter = 0 : tensor<8xi8> -> tensor<16xi8>
  // CHECK: amsp.mask_padding %{{.*}}, %{{.*}} group = <[1:2]> elements = 30 : tensor<1x16xf32>
  // CHECK: amsp.all_gather %{{.*}} group = <[1:2]> parameter = 0 window = 1 : tensor<16xi8> -> tensor<32xi8>
  %0 = amsp.all_gather %w group = <[2:2]> parameter = 0 : tensor<8xf32> -> tensor<16xf32>
  %1 = amsp.all_gather %0 group = <[1:2]> parameter = 0 window = 1 : tensor<16xf32> -> tensor<5x6xf32>
  return %1 : tensor<5x6xf32>
}

// -----

// No padding, no mask. bf16 is widened for the arithmetic.
#flat = #amsp.placement<flat, 0, [1:2]>
// CHECK-LABEL: func.func @bf16
func.func @bf16(%w: tensor<16xbf16> {amsp.placement = #flat, amsp.global_type = tensor<4x8xbf16>}) -> tensor<4x8xbf16> {
  // CHECK-NOT: mask_padding
  // CHECK: stablehlo.convert %{{.*}} : (tensor<1x16xbf16>) -> tensor<1x16xf32>
  // CHECK: amsp.all_gather %{{.*}} : tensor<16xi8> -> tensor<32xi8>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<1x32xf32>) -> tensor<1x32xbf16>
  %0 = amsp.all_gather %w group = <[1:2]> parameter = 0 : tensor<16xbf16> -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// -----

// A stack as a whole: each row has padding and blocks of its own, and nothing is
// transposed.
#stack = #amsp.placement<flat, 1, [1:2]>
// CHECK-LABEL: func.func @stack
func.func @stack(%w: tensor<3x13xf32> {amsp.placement = #stack, amsp.global_type = tensor<3x5x5xf32>}) -> tensor<3x5x5xf32> {
  // CHECK: amsp.mask_padding %arg0, %{{.*}} group = <[1:2]> elements = 25 : tensor<3x13xf32>, tensor<f32>
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<3x14xf32>) -> tensor<3x2x7xf32>
  // CHECK: %[[C:.*]] = amsp.all_gather %{{.*}} group = <[1:2]> keep = 1 parameter = 0 : tensor<3x14xi8> -> tensor<3x28xi8>
  // CHECK: %[[S:.*]] = amsp.all_gather %{{.*}} group = <[1:2]> keep = 1 parameter = 0 : tensor<3x2xf32> -> tensor<3x4xf32>
  // CHECK-NOT: stablehlo.transpose
  // CHECK: stablehlo.slice %{{.*}} [0:6, 0:13] : (tensor<6x14xf32>) -> tensor<6x13xf32>
  // CHECK: stablehlo.slice %{{.*}} [0:3, 0:25] : (tensor<3x26xf32>) -> tensor<3x25xf32>
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<3x25xf32>) -> tensor<3x5x5xf32>
  %0 = amsp.all_gather %w group = <[1:2]> keep = 1 parameter = 0 : tensor<3x13xf32> -> tensor<3x5x5xf32>
  return %0 : tensor<3x5x5xf32>
}

// -----

// Two kept dimensions, experts in layers: one layer of them, and a slice that
// has lost its own dimension.
#stack = #amsp.placement<flat, 2, [1:2]>
// CHECK-LABEL: func.func @slices
func.func @slices(%w: tensor<3x4x8xf32> {amsp.placement = #stack, amsp.global_type = tensor<3x4x16xf32>},
                  %layer: tensor<1x4x8xf32>, %expert: tensor<8xf32>) -> (tensor<1x4x16xf32>, tensor<16xf32>) {
  // CHECK: amsp.all_gather %{{.*}} group = <[1:2]> keep = 1 parameter = 0 : tensor<4x8xi8> -> tensor<4x16xi8>
  // CHECK: amsp.all_gather %{{.*}} group = <[1:2]> keep = 1 parameter = 0 : tensor<4x1xf32> -> tensor<4x2xf32>
  // CHECK: amsp.all_gather %{{.*}} group = <[1:2]> parameter = 0 : tensor<8xi8> -> tensor<16xi8>
  %0 = amsp.all_gather %layer group = <[1:2]> keep = 2 parameter = 0 : tensor<1x4x8xf32> -> tensor<1x4x16xf32>
  %1 = amsp.all_gather %expert group = <[1:2]> parameter = 0 : tensor<8xf32> -> tensor<16xf32>
  return %0, %1 : tensor<1x4x16xf32>, tensor<16xf32>
}

// -----

// Integers, rows of the batch, what is small, and what is no parameter. A row
// of a single element, whose scale is larger; pieces that are not those at rest.
#flat = #amsp.placement<flat, 0, [1:2]>
#stack = #amsp.placement<flat, 1, [1:2]>
// CHECK-LABEL: func.func @as_they_are
func.func @as_they_are(%i: tensor<8xi32> {amsp.placement = #flat, amsp.global_type = tensor<16xi32>},
                       %w: tensor<8xf32> {amsp.placement = #flat, amsp.global_type = tensor<16xf32>},
                       %s: tensor<3xf32> {amsp.placement = #flat, amsp.global_type = tensor<6xf32>},
                       %b: tensor<8x1xf32> {amsp.placement = #stack, amsp.global_type = tensor<8x2xf32>},
                       %x: tensor<8xf32>, %y: tensor<5xf32>)
    -> (tensor<16xi32>, tensor<16xf32>, tensor<16xf32>, tensor<6xf32>, tensor<8x2xf32>, tensor<9xf32>) {
  // CHECK-NOT: xi8
  %0 = amsp.all_gather %i group = <[1:2]> parameter = 0 : tensor<8xi32> -> tensor<16xi32>
  %1 = amsp.all_gather %w group = <[1:2]> : tensor<8xf32> -> tensor<16xf32>
  %2 = amsp.all_gather %x group = <[1:2]> dim = 0 parameter = 1 : tensor<8xf32> -> tensor<16xf32>
  %3 = amsp.all_gather %s group = <[1:2]> parameter = 2 : tensor<3xf32> -> tensor<6xf32>
  %4 = amsp.all_gather %b group = <[1:2]> keep = 1 parameter = 3 : tensor<8x1xf32> -> tensor<8x2xf32>
  %5 = amsp.all_gather %y group = <[1:2]> parameter = 1 : tensor<5xf32> -> tensor<9xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<16xi32>, tensor<16xf32>, tensor<16xf32>, tensor<6xf32>, tensor<8x2xf32>, tensor<9xf32>
}
