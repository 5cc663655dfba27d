// RUN: amsp-opt %s --amsp-annotate-roles --amsp-insert-collectives='levels=2 strategy=zero3' --canonicalize | FileCheck %s

// A parameter without elements needs no collective.

// CHECK-LABEL: func.func public @main(%arg0: tensor<0xf32>
// CHECK-NOT: amsp.all_gather
// CHECK-NOT: amsp.reduce_scatter
// CHECK: return
func.func public @main(
    %w: tensor<0x4xf32> {tf.aliasing_output = 0 : i32},
    %x: tensor<2x4xf32>, %y: tensor<2x0xf32>) -> (tensor<0x4xf32>, tensor<2x0xf32>) {
  %z = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
      : (tensor<2x4xf32>, tensor<0x4xf32>) -> tensor<2x0xf32>
  %g = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0]
      : (tensor<2x0xf32>, tensor<2x4xf32>) -> tensor<0x4xf32>
  %new = stablehlo.subtract %w, %g : tensor<0x4xf32>
  return %new, %z : tensor<0x4xf32>, tensor<2x0xf32>
}
