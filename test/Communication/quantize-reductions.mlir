// RUN: amsp-opt %s --amsp-quantize-collectives='block=8 gathers=false reductions=true' --split-input-file | FileCheck %s
// RUN: not amsp-opt %S/Inputs/no-levels.mlir --amsp-quantize-collectives=reductions=true 2>&1 | FileCheck %s --check-prefix=LEVELS

// LEVELS: error: not a rank's program: no amsp.levels

// Inside the node first: 60 elements are two parts of 32, each four blocks of 8;
// what a rank has then is two parts of 16 for the other node.
#flat = #amsp.placement<flat, 0, [1:2, 2:2]>
module attributes {amsp.levels = array<i64: 2, 2>} {
  // CHECK-LABEL: func.func @by_level
  func.func @by_level(%w: tensor<16xf32> {amsp.placement = #flat, amsp.global_type = tensor<10x6xf32>}, %g: tensor<10x6xf32>) -> tensor<16xf32> {
    // CHECK-NOT: mask_padding
    // CHECK: %[[F:.*]] = stablehlo.reshape %arg1 : (tensor<10x6xf32>) -> tensor<1x60xf32>
    // CHECK: %[[P:.*]] = stablehlo.pad %[[F]], %{{.*}}, low = [0, 0], high = [0, 4], interior = [0, 0]
    // CHECK: stablehlo.reshape %[[P]] : (tensor<1x64xf32>) -> tensor<2x32xf32>
    // CHECK: %[[C:.*]] = amsp.all_to_all %{{.*}} group = <[1:2]> parameter = 0 unit = "a" : tensor<64xi8>
    // CHECK: %[[S:.*]] = amsp.all_to_all %{{.*}} group = <[1:2]> parameter = 0 unit = "a" : tensor<8xf32>
    // CHECK: %[[D:.*]] = stablehlo.reshape %{{.*}} : (tensor<2x32xf32>) -> tensor<1x2x32xf32>
    // CHECK: %[[N:.*]] = stablehlo.reduce(%[[D]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<1x2x32xf32>, tensor<f32>) -> tensor<1x32xf32>
    // CHECK: stablehlo.reshape %[[N]] : (tensor<1x32xf32>) -> tensor<2x16xf32>
    // CHECK: amsp.all_to_all %{{.*}} group = <[2:2]> parameter = 0 unit = "a" : tensor<32xi8>
    // CHECK: amsp.all_to_all %{{.*}} group = <[2:2]> parameter = 0 unit = "a" : tensor<4xf32>
    // CHECK: %[[R:.*]] = stablehlo.reduce(%{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<1x2x16xf32>, tensor<f32>) -> tensor<1x16xf32>
    // CHECK: %[[O:.*]] = stablehlo.reshape %[[R]] : (tensor<1x16xf32>) -> tensor<16xf32>
    // CHECK: return %[[O]]
    %0 = amsp.reduce_scatter sum %g group = <[1:2, 2:2]> parameter = 0 unit = "a" : tensor<10x6xf32> -> tensor<16xf32>
    return %0 : tensor<16xf32>
  }
}

// -----

// In two stages: of what the first one leaves, the padding is masked. Over the
// replicas, all ranks get the sum by a gather, which is of no parameter.
#flat = #amsp.placement<flat, 0, [1:2, 2:2]>
module attributes {amsp.levels = array<i64: 2, 4>} {
  // CHECK-LABEL: func.func @replicas
  func.func @replicas(%w: tensor<16xbf16> {amsp.placement = #flat, amsp.global_type = tensor<61xbf16>}, %g: tensor<61xbf16>) -> tensor<16xbf16> {
    // CHECK-NOT: mask_padding
    // CHECK: amsp.all_to_all %{{.*}} group = <[1:2]> parameter = 0 : tensor<64xi8>
    // CHECK: stablehlo.convert %{{.*}} : (tensor<1x32xf32>) -> tensor<1x32xbf16>
    // CHECK: amsp.mask_padding %{{.*}}, %{{.*}} group = <[1:2]> elements = 61 : tensor<1x32xbf16>
    // CHECK: amsp.all_to_all %{{.*}} group = <[2:2]> parameter = 0 : tensor<32xi8>
    // CHECK: stablehlo.convert %{{.*}} : (tensor<1x16xf32>) -> tensor<1x16xbf16>
    // CHECK: amsp.mask_padding %{{.*}}, %{{.*}} group = <[1:2, 2:2]> elements = 61 : tensor<1x16xbf16>
    // CHECK: amsp.all_to_all %{{.*}} group = <[4:2]> parameter = 0 : tensor<16xi8>
    // CHECK: amsp.all_gather %{{.*}} group = <[4:2]> : tensor<8xi8> -> tensor<16xi8>
    // CHECK: amsp.all_gather %{{.*}} group = <[4:2]> : tensor<1xf32> -> tensor<2xf32>
    %0 = amsp.reduce_scatter sum %g group = <[1:2]> parameter = 0 : tensor<61xbf16> -> tensor<32xbf16>
    %1 = amsp.reduce_scatter sum %0 group = <[2:2]> parameter = 0 : tensor<32xbf16> -> tensor<16xbf16>
    %2 = amsp.all_reduce sum %1 group = <[4:2]> parameter = 0 : tensor<16xbf16>
    return %2 : tensor<16xbf16>
  }
}

// -----

// The order of an all_reduce has no meaning: innermost first. Seven elements are
// four parts of two.
module attributes {amsp.levels = array<i64: 2, 2>} {
  // CHECK-LABEL: func.func @all_reduce
  func.func @all_reduce(%w: tensor<7xf32> {amsp.placement = #amsp.placement<replicated>, amsp.global_type = tensor<7xf32>}, %g: tensor<7xf32>) -> tensor<7xf32> {
    // CHECK: amsp.all_to_all %{{.*}} group = <[1:2]> {{.*}} : tensor<8xi8>
    // CHECK: amsp.all_to_all %{{.*}} group = <[2:2]> {{.*}} : tensor<4xi8>
    // CHECK: amsp.all_gather %{{.*}} group = <[1:2, 2:2]> : tensor<2xi8> -> tensor<8xi8>
    // CHECK: stablehlo.slice %{{.*}} [0:1, 0:7]
    %0 = amsp.all_reduce sum %g group = <[1:4]> parameter = 0 : tensor<7xf32>
    return %0 : tensor<7xf32>
  }
}

// -----

// One layer of a stack, and all of them: a row each, with padding and blocks of
// its own. In two stages, the second of which finds the padding of the first.
#stack = #amsp.placement<flat, 1, [1:2, 2:2]>
module attributes {amsp.levels = array<i64: 2, 2>} {
  // CHECK-LABEL: func.func @stack
  func.func @stack(%w: tensor<3x4xf32> {amsp.placement = #stack, amsp.global_type = tensor<3x13xf32>}, %g: tensor<1x13xf32>, %h: tensor<3x13xf32>) -> (tensor<1x8xf32>, tensor<3x4xf32>) {
    // CHECK: amsp.all_to_all %{{.*}} : tensor<16xi8>
    // CHECK: %[[L:.*]] = stablehlo.reduce({{.*}} across dimensions = [1] : (tensor<1x2x8xf32>, tensor<f32>) -> tensor<1x8xf32>
    %0 = amsp.reduce_scatter sum %g group = <[1:2]> keep = 1 parameter = 0 : tensor<1x13xf32> -> tensor<1x8xf32>
    // CHECK: stablehlo.pad %arg2, %{{.*}}, low = [0, 0], high = [0, 3], interior = [0, 0] : (tensor<3x13xf32>, tensor<f32>) -> tensor<3x16xf32>
    // CHECK: stablehlo.reshape %{{.*}} : (tensor<3x16xf32>) -> tensor<6x8xf32>
    // CHECK: amsp.all_to_all %{{.*}} group = <[1:2]> keep = 1 parameter = 0 : tensor<3x16xi8>
    // CHECK: amsp.all_to_all %{{.*}} group = <[1:2]> keep = 1 parameter = 0 : tensor<3x2xf32>
    // CHECK: %[[A:.*]] = stablehlo.reduce({{.*}} across dimensions = [1] : (tensor<3x2x8xf32>, tensor<f32>) -> tensor<3x8xf32>
    %1 = amsp.reduce_scatter sum %h group = <[1:2]> keep = 1 parameter = 0 : tensor<3x13xf32> -> tensor<3x8xf32>
    // CHECK: amsp.mask_padding %[[A]], %{{.*}} group = <[1:2]> elements = 13 : tensor<3x8xf32>
    // CHECK: amsp.all_to_all %{{.*}} group = <[2:2]> keep = 1 parameter = 0 : tensor<3x8xi8>
    // CHECK: %[[B:.*]] = stablehlo.reduce({{.*}} across dimensions = [1] : (tensor<3x2x4xf32>, tensor<f32>) -> tensor<3x4xf32>
    // CHECK: return %[[L]], %[[B]]
    %2 = amsp.reduce_scatter sum %1 group = <[2:2]> keep = 1 parameter = 0 : tensor<3x8xf32> -> tensor<3x4xf32>
    return %0, %2 : tensor<1x8xf32>, tensor<3x4xf32>
  }
}

// -----

// An all_reduce does not say what is kept. Pieces lie along the last dimension,
// and only they have padding; whole rows have any shape.
#stack = #amsp.placement<flat, 1, [1:2]>
module attributes {amsp.levels = array<i64: 2, 2>} {
  // CHECK-LABEL: func.func @replicas_of_a_stack
  func.func @replicas_of_a_stack(%w: tensor<3x8xf32> {amsp.placement = #stack, amsp.global_type = tensor<3x3x5xf32>}, %g: tensor<3x8xf32>, %h: tensor<3x3x5xf32>) -> (tensor<3x8xf32>, tensor<3x3x5xf32>) {
    // CHECK: amsp.mask_padding %arg1, %{{.*}} group = <[1:2]> elements = 15 : tensor<3x8xf32>
    // CHECK: amsp.all_to_all %{{.*}} group = <[2:2]> keep = 1 parameter = 0 : tensor<3x8xi8>
    // CHECK: amsp.all_gather %{{.*}} group = <[2:2]> keep = 1 : tensor<3x4xi8> -> tensor<3x8xi8>
    // CHECK: stablehlo.reshape %arg2 : (tensor<3x3x5xf32>) -> tensor<3x15xf32>
    // CHECK-NOT: mask_padding
    // CHECK: amsp.all_to_all %{{.*}} group = <[2:2]> keep = 1 parameter = 0 : tensor<3x16xi8>
    // CHECK: stablehlo.slice %{{.*}} [0:3, 0:15] : (tensor<3x16xf32>) -> tensor<3x15xf32>
    %0 = amsp.all_reduce sum %g group = <[2:2]> parameter = 0 : tensor<3x8xf32>
    %1 = amsp.all_reduce sum %h group = <[2:2]> parameter = 0 : tensor<3x3x5xf32>
    return %0, %1 : tensor<3x8xf32>, tensor<3x3x5xf32>
  }
}

// -----

// Maxima, rows of the batch, sums for no parameter's sake, what has fewer
// elements than pieces, and what may be a whole layer or pieces of three layers,
// some of which are padding.
#flat = #amsp.placement<flat, 0, [1:2]>
#stack = #amsp.placement<flat, 1, [1:4]>
module attributes {amsp.levels = array<i64: 4, 2>} {
  // CHECK-LABEL: func.func @as_they_are
  func.func @as_they_are(%w: tensor<8xf32> {amsp.placement = #flat, amsp.global_type = tensor<16xf32>},
                         %s: tensor<5x3xf32> {amsp.placement = #stack, amsp.global_type = tensor<5x3x3xf32>},
                         %t: tensor<1xf32> {amsp.placement = #flat, amsp.global_type = tensor<f32>},
                         %g: tensor<16xf32>, %h: tensor<3x3xf32>, %i: tensor<f32>)
      -> (tensor<8xf32>, tensor<3x3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<16xf32>) {
    // CHECK-NOT: xi8
    %0 = amsp.reduce_scatter max %g group = <[1:2]> parameter = 0 : tensor<16xf32> -> tensor<8xf32>
    %1 = amsp.all_reduce sum %h group = <[4:2]> parameter = 1 : tensor<3x3xf32>
    %2 = amsp.reduce_scatter sum %g group = <[1:2]> dim = 0 parameter = 0 : tensor<16xf32> -> tensor<8xf32>
    %3 = amsp.reduce_scatter sum %g group = <[1:2]> : tensor<16xf32> -> tensor<8xf32>
    %4 = amsp.reduce_scatter sum %i group = <[1:2]> parameter = 2 : tensor<f32> -> tensor<1xf32>
    %5 = amsp.all_gather %w group = <[1:2]> parameter = 0 : tensor<8xf32> -> tensor<16xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<8xf32>, tensor<3x3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<16xf32>
  }
}
