// RUN: amsp-plan %s --cluster %S/Inputs/two-levels.yaml --strategy zero1 --list-collectives --no-decompose-collectives > %t
// RUN: FileCheck %s --input-file %t
// RUN: FileCheck %s --input-file %t --check-prefix=TIME

// A position embedding that is longer than the sequence: its gradient is summed before it is padded. It is its unit's all the same, and counted
// with its reductions.

// TIME: other_collectives           0.000 ms
// CHECK: kind {{ *}}type {{ *}}group {{ *}}level {{ *}}count {{ *}}bytes {{ *}}unit
// CHECK-NEXT: all_gather      f32   1:2,2:2        node          1           8192  layers.0
// CHECK-NEXT: all_reduce      f32   1:4            node          1           1024  layers.0
// CHECK-NOT: all_

func.func public @main(
    %w: tensor<64x32xf32> {tf.aliasing_output = 0 : i32} loc("p['layers'][0]['w']"),
    %x: tensor<64x8xf32> loc("x"), %y: tensor<64x32xf32> loc("y")) -> tensor<64x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %rows = stablehlo.slice %w [0:8, 0:32] : (tensor<64x32xf32>) -> tensor<8x32xf32>
  %p = stablehlo.dot_general %x, %rows, contracting_dims = [1] x [0] : (tensor<64x8xf32>, tensor<8x32xf32>) -> tensor<64x32xf32>
  %d = stablehlo.subtract %p, %y : tensor<64x32xf32>
  %g = stablehlo.dot_general %x, %d, contracting_dims = [0] x [0] : (tensor<64x8xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %padded = stablehlo.pad %g, %zero, low = [0, 0], high = [56, 0], interior = [0, 0] : (tensor<8x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %new = stablehlo.subtract %w, %padded : tensor<64x32xf32>
  return %new : tensor<64x32xf32>
}
