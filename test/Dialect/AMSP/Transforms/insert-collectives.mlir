// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=4 strategy=zero3' --canonicalize | FileCheck %s --check-prefixes=CHECK,ZERO3
// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2,2 strategy=p=1,g=2x1,os=2x2' --canonicalize | FileCheck %s --check-prefixes=CHECK,MIXED
// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=4 strategy=ddp' --canonicalize | FileCheck %s --check-prefixes=CHECK,DDP
// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2,2 strategy=mics:2' --canonicalize | FileCheck %s --check-prefixes=CHECK,MICS
// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2,2 strategy=hpz:2' --canonicalize | FileCheck %s --check-prefixes=CHECK,HPZ

// Two layers, so that the first is used again in backward after the second. A
// weight of 3 x 3: 9 elements, 12 with the padding of four pieces.

// CHECK-LABEL: func.func public @main
// ZERO3-SAME: %[[W:[a-z0-9]+]]: tensor<3xf32> {{{[^}]*}}amsp.placement = #amsp.placement<flat, 0, [1:4]>
// ZERO3-SAME: %[[V:[a-z0-9]+]]: tensor<3xf32>
// ZERO3-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32> {{{[^}]*}}amsp.placement = #amsp.placement<split, 0, [1:4]>
// MIXED-SAME: %[[W:[a-z0-9]+]]: tensor<3xf32> {{{[^}]*}}amsp.placement = #amsp.placement<flat, 0, [1:2, 2:2]>
// MIXED-SAME: %[[V:[a-z0-9]+]]: tensor<3xf32>
// DDP-SAME: %[[W:[a-z0-9]+]]: tensor<3x3xf32> {{{[^}]*}}amsp.placement = #amsp.placement<replicated>
// MICS-SAME: %[[W:[a-z0-9]+]]: tensor<5xf32> {{{[^}]*}}amsp.placement = #amsp.placement<flat, 0, [1:2]>
// HPZ-SAME: %[[W:[a-z0-9]+]]: tensor<3xf32> {{{[^}]*}}amsp.placement = #amsp.placement<flat, 0, [1:2, 2:2]>
func.func public @main(
    %w: tensor<3x3xf32> {tf.aliasing_output = 0 : i32} loc("p[0]"),
    %v: tensor<3x3xf32> {tf.aliasing_output = 1 : i32} loc("p[1]"),
    %x: tensor<8x3xf32> loc("x"))
    -> (tensor<3x3xf32>, tensor<3x3xf32>) {
  // ZERO3: %[[GW:.*]] = amsp.all_gather %[[W]] group = <[1:4]> parameter = 0 unit = "0" window = 1 : tensor<3xf32> -> tensor<3x3xf32>
  // ZERO3: stablehlo.dot_general %[[X]], %[[GW]], contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  // ZERO3: %[[GV:.*]] = amsp.all_gather %[[V]] group = <[1:4]> parameter = 1 unit = "1" window = 2

  // What is kept is gathered once, before its first use.
  // MIXED: amsp.all_gather %[[W]] group = <[1:2, 2:2]> parameter = 0 unit = "0" : tensor<3xf32> -> tensor<3x3xf32>
  // MIXED: amsp.all_gather %[[V]] group = <[1:2, 2:2]> parameter = 1 unit = "1" : tensor<3xf32> -> tensor<3x3xf32>

  // DDP-NOT: amsp.all_gather {{.*}} group = <[1:4]>

  // MICS: amsp.all_gather %[[W]] group = <[1:2]> parameter = 0 unit = "0" window = 1 : tensor<5xf32> -> tensor<3x3xf32>

  // In the node's pieces first, then from these to the whole at each use.
  // HPZ: %[[KW:.*]] = amsp.all_gather %[[W]] group = <[2:2]> parameter = 0 unit = "0" : tensor<3xf32> -> tensor<6xf32>
  // HPZ: amsp.all_gather %[[KW]] group = <[1:2]> parameter = 0 unit = "0" window = 1 : tensor<6xf32> -> tensor<3x3xf32>
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x3xf32>) -> tensor<8x3xf32>
  %t = stablehlo.tanh %h : tensor<8x3xf32>
  %y = stablehlo.dot_general %t, %v, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x3xf32>) -> tensor<8x3xf32>

  // Backward: the second layer's gather serves both uses, with no use of
  // another unit between them.
  // ZERO3: stablehlo.dot_general %{{.*}}, %[[GV]], contracting_dims = [1] x [1]
  %dt = stablehlo.dot_general %y, %v, contracting_dims = [1] x [1] : (tensor<8x3xf32>, tensor<3x3xf32>) -> tensor<8x3xf32>

  // ZERO3: amsp.reduce_scatter sum %{{.*}} group = <[1:4]> parameter = 1 unit = "1" : tensor<3x3xf32> -> tensor<3xf32>
  // MIXED: amsp.reduce_scatter sum %{{.*}} group = <[1:2, 2:2]> parameter = 1 unit = "1" : tensor<3x3xf32> -> tensor<3xf32>
  // DDP: amsp.all_reduce sum %{{.*}} group = <[1:4]> parameter = 1 unit = "1" : tensor<3x3xf32>
  // Scattered over the pieces, then summed over their replicas.
  // MICS: %[[S:.*]] = amsp.reduce_scatter sum %{{.*}} group = <[1:2]> parameter = 1 unit = "1" : tensor<3x3xf32> -> tensor<5xf32>
  // MICS: amsp.all_reduce sum %[[S]] group = <[2:2]> parameter = 1 unit = "1" : tensor<5xf32>
  // HPZ: amsp.reduce_scatter sum %{{.*}} group = <[1:2, 2:2]> parameter = 1 unit = "1" : tensor<3x3xf32> -> tensor<3xf32>
  %gv = stablehlo.dot_general %t, %y, contracting_dims = [0] x [0] : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<3x3xf32>

  // The first layer was dropped meanwhile.
  // ZERO3: %[[GW2:.*]] = amsp.all_gather %[[W]] group = <[1:4]> parameter = 0 unit = "0" window = 3
  // ZERO3: stablehlo.dot_general %{{.*}}, %[[GW2]], contracting_dims = [1] x [1]
  // HPZ: amsp.all_gather %[[KW]] group = <[1:2]> parameter = 0 unit = "0" window = 3
  %dx = stablehlo.dot_general %dt, %w, contracting_dims = [1] x [1] : (tensor<8x3xf32>, tensor<3x3xf32>) -> tensor<8x3xf32>
  %gw = stablehlo.dot_general %dx, %dt, contracting_dims = [0] x [0] : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<3x3xf32>
  // The update is on pieces; the new value needs no collective.
  // ZERO3: stablehlo.subtract %[[W]], %{{.*}} : tensor<3xf32>
  // ZERO3-NOT: amsp.all_gather
  %w1 = stablehlo.subtract %w, %gw : tensor<3x3xf32>
  %v1 = stablehlo.subtract %v, %gv : tensor<3x3xf32>
  return %w1, %v1 : tensor<3x3xf32>, tensor<3x3xf32>
}
