// RUN: amsp-opt %s --amsp-quantize-collectives='block=4 gathers=false reductions=true' --split-input-file | FileCheck %s
// RUN: not amsp-opt %S/Inputs/no-levels.mlir --amsp-quantize-collectives=reductions=true 2>&1 | FileCheck %s --check-prefix=LEVELS

// LEVELS: error: not a rank's program: no amsp.levels

// Inside the node first: 30 elements are two parts of 16, each four blocks of 4;
// what a rank has then is two parts of 8 for the other node.
#flat = #amsp.placement<flat, 0, [1:2, 2:2]>
module attributes {amsp.levels = array<i64: 2, 2>} {
  // CHECK-LABEL: func.func @by_level
  func.func @by_level(%w: tensor<8xf32> {amsp.placement = #flat, amsp.global_type = tensor<5x6xf32>}, %g: tensor<5x6xf32>) -> tensor<8xf32> {
    // CHECK-NOT: mask_padding
    // CHECK: %[[F:.*]] = stablehlo.reshape %arg1 : (tensor<5x6xf32>) -> tensor<30xf32>
    // CHECK: %[[P:.*]] = stablehlo.pad %[[F]], %{{.*}}, low = [0], high = [2], interior = [0]
    // CHECK: stablehlo.reshape %[[P]] : (tensor<32xf32>) -> tensor<2x16xf32>
    // CHECK: %[[C:.*]] = amsp.all_to_all %{{.*}} group = <[1:2]> dim = 0 parameter = 0 unit = "a" : tensor<2x16xi8>
    // CHECK: %[[S:.*]] = amsp.all_to_all %{{.*}} group = <[1:2]> dim = 0 parameter = 0 unit = "a" : tensor<2x4xf32>
    // CHECK: stablehlo.reshape %[[C]] : (tensor<2x16xi8>) -> tensor<2x4x4xi8>
    // CHECK: stablehlo.broadcast_in_dim %[[S]]
    // CHECK: %[[D:.*]] = stablehlo.reshape %{{.*}} : (tensor<2x4x4xf32>) -> tensor<2x16xf32>
    // CHECK: %[[N:.*]] = stablehlo.reduce(%[[D]] init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<2x16xf32>, tensor<f32>) -> tensor<16xf32>
    // CHECK: stablehlo.reshape %[[N]] : (tensor<16xf32>) -> tensor<2x8xf32>
    // CHECK: amsp.all_to_all %{{.*}} group = <[2:2]> dim = 0 parameter = 0 unit = "a" : tensor<2x8xi8>
    // CHECK: amsp.all_to_all %{{.*}} group = <[2:2]> dim = 0 parameter = 0 unit = "a" : tensor<2x2xf32>
    // CHECK: %[[R:.*]] = stablehlo.reduce(%{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<2x8xf32>, tensor<f32>) -> tensor<8xf32>
    // CHECK: return %[[R]]
    %0 = amsp.reduce_scatter sum %g group = <[1:2, 2:2]> parameter = 0 unit = "a" : tensor<5x6xf32> -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// In two stages: of what the first one leaves, the padding is masked. Over the
// replicas, all ranks get the sum by a gather, which is of no parameter.
#flat = #amsp.placement<flat, 0, [1:2, 2:2]>
module attributes {amsp.levels = array<i64: 2, 4>} {
  // CHECK-LABEL: func.func @replicas
  func.func @replicas(%w: tensor<4xbf16> {amsp.placement = #flat, amsp.global_type = tensor<13xbf16>}, %g: tensor<13xbf16>) -> tensor<4xbf16> {
    // CHECK-NOT: mask_padding
    // CHECK: amsp.all_to_all %{{.*}} group = <[1:2]> dim = 0 parameter = 0 : tensor<2x8xi8>
    // CHECK: %[[A:.*]] = stablehlo.convert %{{.*}} : (tensor<8xf32>) -> tensor<8xbf16>
    // CHECK: amsp.mask_padding %[[A]], %{{.*}} group = <[1:2]> elements = 13
    // CHECK: amsp.all_to_all %{{.*}} group = <[2:2]> dim = 0 parameter = 0 : tensor<2x4xi8>
    // CHECK: %[[B:.*]] = stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
    // CHECK: amsp.mask_padding %[[B]], %{{.*}} group = <[1:2, 2:2]> elements = 13
    // CHECK: amsp.all_to_all %{{.*}} group = <[4:2]> dim = 0 parameter = 0 : tensor<2x2xi8>
    // CHECK: amsp.all_gather %{{.*}} group = <[4:2]> : tensor<2xi8> -> tensor<2x2xi8>
    // CHECK: amsp.all_gather %{{.*}} group = <[4:2]> : tensor<1xf32> -> tensor<2x1xf32>
    %0 = amsp.reduce_scatter sum %g group = <[1:2]> parameter = 0 : tensor<13xbf16> -> tensor<8xbf16>
    %1 = amsp.reduce_scatter sum %0 group = <[2:2]> parameter = 0 : tensor<8xbf16> -> tensor<4xbf16>
    %2 = amsp.all_reduce sum %1 group = <[4:2]> parameter = 0 : tensor<4xbf16>
    return %2 : tensor<4xbf16>
  }
}

// -----

// The order of an all_reduce has no meaning: innermost first. Seven elements are
// four parts of two.
module attributes {amsp.levels = array<i64: 2, 2>} {
  // CHECK-LABEL: func.func @all_reduce
  func.func @all_reduce(%w: tensor<7xf32> {amsp.placement = #amsp.placement<replicated>, amsp.global_type = tensor<7xf32>}, %g: tensor<7xf32>) -> tensor<7xf32> {
    // CHECK: amsp.all_to_all %{{.*}} group = <[1:2]> {{.*}} : tensor<2x4xi8>
    // CHECK: amsp.all_to_all %{{.*}} group = <[2:2]> {{.*}} : tensor<2x2xi8>
    // CHECK: amsp.all_gather %{{.*}} group = <[1:2, 2:2]> : tensor<2xi8> -> tensor<4x2xi8>
    // CHECK: stablehlo.slice %{{.*}} [0:7]
    %0 = amsp.all_reduce sum %g group = <[1:4]> parameter = 0 : tensor<7xf32>
    return %0 : tensor<7xf32>
  }
}

// -----

// One layer of a stack is as good as a tensor of its own.
#stack = #amsp.placement<flat, 1, [1:2]>
module attributes {amsp.levels = array<i64: 2>} {
  // CHECK-LABEL: func.func @layer
  func.func @layer(%w: tensor<3x4xf32> {amsp.placement = #stack, amsp.global_type = tensor<3x7xf32>}, %g: tensor<1x7xf32>) -> tensor<1x4xf32> {
    // CHECK: amsp.all_to_all %{{.*}} : tensor<2x4xi8>
    // CHECK: stablehlo.reshape %{{.*}} : (tensor<4xf32>) -> tensor<1x4xf32>
    %0 = amsp.reduce_scatter sum %g group = <[1:2]> keep = 1 parameter = 0 : tensor<1x7xf32> -> tensor<1x4xf32>
    return %0 : tensor<1x4xf32>
  }
}

// -----

// Maxima, whole stacks, rows of the batch, sums for no parameter's sake, and
// what has fewer elements than pieces.
#flat = #amsp.placement<flat, 0, [1:2]>
#stack = #amsp.placement<flat, 1, [1:2]>
module attributes {amsp.levels = array<i64: 2>} {
  // CHECK-LABEL: func.func @as_they_are
  func.func @as_they_are(%w: tensor<4xf32> {amsp.placement = #flat, amsp.global_type = tensor<8xf32>},
                         %s: tensor<3x4xf32> {amsp.placement = #stack, amsp.global_type = tensor<3x8xf32>},
                         %t: tensor<1xf32> {amsp.placement = #flat, amsp.global_type = tensor<f32>},
                         %g: tensor<8xf32>, %h: tensor<3x8xf32>, %i: tensor<f32>)
      -> (tensor<4xf32>, tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<8xf32>) {
    // CHECK-NOT: xi8
    %0 = amsp.reduce_scatter max %g group = <[1:2]> parameter = 0 : tensor<8xf32> -> tensor<4xf32>
    %1 = amsp.reduce_scatter sum %h group = <[1:2]> keep = 1 parameter = 1 : tensor<3x8xf32> -> tensor<3x4xf32>
    %2 = amsp.reduce_scatter sum %g group = <[1:2]> dim = 0 parameter = 0 : tensor<8xf32> -> tensor<4xf32>
    %3 = amsp.reduce_scatter sum %g group = <[1:2]> : tensor<8xf32> -> tensor<4xf32>
    %4 = amsp.reduce_scatter sum %i group = <[1:2]> parameter = 2 : tensor<f32> -> tensor<1xf32>
    %5 = amsp.all_gather %w group = <[1:2]> parameter = 0 : tensor<4xf32> -> tensor<8xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<8xf32>
  }
}
